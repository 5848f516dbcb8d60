"""1xx: the bodies of If, Loop and TensorIterator, and their connections with the layer around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from ov_gather.graph.ir import decompresses
from ov_gather.graph.protocol import LOOPS
from ov_gather.ir.bodies import BODIES, MAPPING, SLICING, Entry, Slicing, back_edges, entries, port_map
from ov_gather.ir.constants import constant
from ov_gather.ir.element_types import BOOLEAN, DYNAMIC, I32, I64, ElementType
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Element, Layer, Model, Port
from ov_gather.ir.shapes import PartialShape, listed
from ov_gather.ops.attribute import parse_integer
from ov_gather.rules.base import Violation, rule

_MOST = 2**31 - 1
"""The greatest stride and part_size of slices: OpenVINO keeps them in 32 bits."""
_INPUT = "Parameter"
_OUTPUT = "Result"
_LOOP = "Loop"
_PURPOSES: Mapping[str, tuple[str, tuple[ElementType, ...]]] = {
    "current_iteration": ("input", (I32, I64)),
    "execution_condition": ("output", (BOOLEAN,)),
}
"""In a Loop, the tag of the entry that has a purpose, and the element types of its value, which is one element."""


@rule("OVG121", Model)
def bodies(graph: Model) -> Iterator[Violation]:
    """An If, Loop or TensorIterator has no body or port map, or has one twice; or another layer has a body.

    OpenVINO executes the bodies of only these three types, and needs a port map for each body to pass values in and out. Write
    each body and its port map exactly once.
    """
    for layer in graph.layers:
        known = BODIES.get(layer.type)
        if known is None and not layer.bodies:
            continue
        maps = (section.tag for section in layer.sections if section.tag.endswith("port_map"))
        found = Counter((*(body.tag for body in layer.bodies), *maps))
        wanted = {tag for body in (known.tags if known else ()) for tag in (body, port_map(body))}
        for tag in sorted(wanted | found.keys()):
            if tag in wanted and found[tag] != 1:
                yield Violation.at(layer, f"<{tag}> stands {found[tag] or 'no'} times", "one is right")
            elif tag not in wanted:
                yield Violation.at(layer, f"{layer.type} has no <{tag}>", "OpenVINO ignores it: remove it")


@rule("OVG122", Model)
def port_map_entry(graph: Model) -> Iterator[Violation]:
    """An entry of a port map refers to a port or a layer that does not exist, or its attributes are malformed.

    OpenVINO stops with "unordered_map::at" or "node index is out of range", without saying where. Let each entry name a port of
    the layer and a Parameter or Result of the body.
    """
    for layer in _with_bodies(graph):
        for entry in _entries(layer):
            for message, hint in _wrong(layer, entry):
                yield Violation.at(layer, message, hint, line=entry.element.line)


@rule("OVG123", Model)
def unmapped(graph: Model) -> Iterator[Violation]:
    """A port of a layer with sub-graphs, or a Parameter of a body, has no entry in a port map, or several.

    A port map passes values into and out of a body. Without an entry, a Parameter or an output has no value; with several, the
    value is ambiguous. In the port map of each body, write one entry for each Parameter and each output. A Loop also needs
    exactly one entry with the purpose execution_condition, and has at most one with the purpose current_iteration. OpenVINO
    refuses an If two of whose outputs are mapped to one Result.
    """
    for layer in _with_bodies(graph):
        mapped = _entries(layer)
        for tag in BODIES[layer.type].tags:
            of_body = [entry for entry in mapped if entry.body.tag == tag]
            inner = Counter(entry.inner.id for entry in of_body if entry.inner and entry.is_input)
            for body in (body for body in layer.bodies if body.tag == tag):
                for parameter in body.parameters:
                    if inner[parameter.id] != 1:
                        text = f"{parameter} of <{tag}> stands in {inner[parameter.id] or 'no'} <input> entries of its port map"
                        hint = "every Parameter of a body gets its value from one"
                        yield Violation.at(layer, text, hint, line=parameter.line)
            outer = Counter(entry.port.id for entry in of_body if entry.port and not entry.is_input)
            for port in layer.outputs:
                if outer[port.id] != 1:
                    text = f"stands in {outer[port.id] or 'no'} <output> entries of the port map of <{tag}>"
                    yield Violation.at(layer, text, "every output gets its value from one", port=port)
            if layer.type not in LOOPS:
                results = Counter(str(entry.inner) for entry in of_body if entry.inner and not entry.is_input)
                for result in (result for result, count in results.items() if count > 1):
                    text = f"{result} of <{tag}> stands in several <output> entries of its port map"
                    yield Violation.at(layer, text, "give each output a Result of its own")
        purposes = Counter(entry.purpose for entry in mapped)
        if layer.type == _LOOP and purposes["execution_condition"] != 1:
            text = f"{purposes['execution_condition'] or 'no'} <output> entries have the purpose execution_condition"
            yield Violation.at(layer, text, "a Result of the body tells whether to go on")
        if layer.type == _LOOP and purposes["current_iteration"] > 1:
            text = f"{purposes['current_iteration']} <input> entries have the purpose current_iteration"
            yield Violation.at(layer, text, "at most one Parameter of the body gets the number of the iteration")
        used = {entry.port.id for entry in mapped if entry.port and entry.is_input}
        for port in layer.inputs[BODIES[layer.type].own_inputs :]:
            if port.id not in used:
                yield Violation.at(layer, "no entry of a port map uses this input", "map it, or remove it", port=port)


@rule("OVG124", Model)
def back_edge(graph: Model) -> Iterator[Violation]:
    """A back edge of a Loop or TensorIterator does not connect a Result of the body to a Parameter of the body.

    A back edge carries a value from one iteration to the next, from a Result to a Parameter. A Parameter takes at most one, and
    gets its first value from an input of the layer that is not sliced.
    """
    for layer in _with_bodies(graph):
        seen: set[str | None] = set()
        others = {entry.inner.id for entry in _entries(layer) if entry.inner and (entry.is_sliced or entry.purpose is not None)}
        for edge, result, parameter in back_edges(layer, layer.bodies[0]):
            if edge.tag != "edge":
                yield Violation.at(layer, f"<{edge.tag}> is no back edge", "write <edge>", line=edge.line)
                continue
            for name, end, wanted in (("from-layer", result, _OUTPUT), ("to-layer", parameter, _INPUT)):
                if end is None or end.type != wanted:
                    reason = f"{name}='{edge.attributes.get(name, '')[:40]}' of a back edge is no {wanted} of the body"
                    yield Violation.at(layer, reason, "a back edge leads from a Result to a Parameter", line=edge.line)
            if parameter is not None and parameter.type == _INPUT and parameter.id in others:
                reason = f"a back edge leads to {parameter}, which gets another value in each iteration"
                yield Violation.at(layer, reason, "lead it to a Parameter that gets a whole input first", line=edge.line)
            target = edge.attributes.get("to-layer")
            if target in seen:
                yield Violation.at(layer, f"two back edges lead to layer {target}", "leave one", line=edge.line)
            seen.add(target)


@rule("OVG125", Model)
def slices(graph: Model) -> Iterator[Violation]:
    """The slices of an input or output of a Loop or TensorIterator do not fit the tensors, or each other.

    From start to end, which count from the end if they are negative, strides of one sign lead to whole slices. A TensorIterator
    has as many of each input and output, a Loop no more of an output than of each input, and than its trip count. A slice has
    part_size elements along the axis, and the Parameter or Result inside has its shape. The slices of an output, and all of a
    Loop, make up the axis; those of an output follow one another without a gap. OpenVINO divides by a stride and a part_size,
    which it keeps in 32 bits, and may end the process.
    """
    for layer in _with_bodies(graph):
        sliced = [entry for entry in _entries(layer) if entry.is_sliced]
        trips = _trips(graph, layer) if sliced else None
        counts: dict[str, int] = {} if trips is None else {"input": trips}
        for entry in sliced:
            try:
                count = _slice_count(layer, entry)
                if count is not None:
                    _compare(layer, entry.element.tag, count, counts)
            except ValueError as error:
                hint = "correct axis, start, end, stride and part_size"
                yield Violation.at(layer, f"slices of {entry.element.tag}: {error}", hint, line=entry.element.line)


def _trips(graph: Model, layer: Layer) -> int | None:
    """Return the trip count of a Loop; None if it is computed, or there is no limit."""
    source = graph.producer(layer, layer.inputs[0]) if layer.type == _LOOP and layer.inputs else None
    if source is None or source[0].type != "Const" or source[0].declared_type not in (I32, I64):
        return None
    try:
        trips = constant(graph, source[0]).reshape(-1)
    except IRError:  # the rules 5xx report it
        return None
    return int(trips[0]) if trips.size == 1 and trips[0] >= 0 else None


def _compare(layer: Layer, tag: str, count: int, counts: dict[str, int]) -> None:
    """Add a number of slices to the numbers by tag. Raises ValueError if it does not fit them: a Loop may end early."""
    if not count and layer.type == "TensorIterator":  # OpenVINO refuses to execute it
        raise ValueError("there are none, and so no iteration")
    counts[tag] = min(count, counts.get(tag, count)) if tag == "input" else max(count, counts.get(tag, count))
    least, most = counts.get("input", count), counts.get("output", count)
    if most > least if layer.type == _LOOP else not least == most == count:
        raise ValueError(f"there are {count} slices, of other entries {most if count == least else least}")


def _slice_count(layer: Layer, entry: Entry) -> int | None:
    """Return how many slices an entry makes; None if that is open, or OVG122 reports the entry. Raises ValueError."""
    if layer.type not in LOOPS:
        raise ValueError(f"{layer.type} passes whole tensors")
    try:
        slicing = entry.slicing
    except ValueError:  # OVG122 reports it
        return None
    inside = _inside(entry)
    if entry.purpose is not None:
        raise ValueError(f"what has the purpose {entry.purpose} is no tensor that is sliced")
    if slicing is None or entry.port is None or inside is None:
        return None
    if not 0 < abs(slicing.stride) <= _MOST:
        raise ValueError(f"stride={slicing.stride} is out of range: 1 to {_MOST}, or -1 to {-_MOST}")
    if not 0 < slicing.part_size <= _MOST:
        raise ValueError(f"part_size={slicing.part_size} is out of range: 1 to {_MOST}")
    outer, axis = entry.port.dims, slicing.axis
    rank = len(outer or inside.dims)
    if rank and not 0 <= axis < rank:
        raise ValueError(f"axis={axis} is out of range: the tensor has rank {rank}")
    if outer and inside.dims:
        part = (*outer[:axis], slicing.part_size, *outer[axis + 1 :])
        if PartialShape.of(part).intersect(PartialShape.of(inside.dims)) is None:
            raise ValueError(f"{entry.inner} has dims {listed(inside.dims)}, a slice has {listed(part)}")
    if not entry.is_input and abs(slicing.stride) != slicing.part_size:
        raise ValueError(f"stride={slicing.stride} and part_size={slicing.part_size}: the slices leave gaps, or overlap")
    covers = layer.type == _LOOP or not entry.is_input
    if outer and outer[axis] >= 0:
        return _steps(slicing, outer[axis], covers=covers)
    if covers and (slicing.start, slicing.end) != ((0, -1) if slicing.stride > 0 else (-1, 0)):
        text = f"from start={slicing.start} to end={slicing.end} by stride={slicing.stride}"
        raise ValueError(f"{text}: the slices do not make up the axis")
    return None


def _steps(slicing: Slicing, size: int, *, covers: bool) -> int:
    """Return the number of strides from start to end. Raises ValueError if they do not lead there, or do not cover the axis."""
    first, last = (end + size + 1 if end < 0 else end for end in (slicing.start, slicing.end))
    reach = last - first
    what = f"from start={slicing.start} to end={slicing.end} by stride={slicing.stride}, of {size} elements"
    if not (0 <= first <= size and 0 <= last <= size):
        raise ValueError(f"{what}: an end lies outside the axis")
    if reach * slicing.stride < 0 or reach % slicing.stride:
        raise ValueError(f"{what}: the strides do not lead there")
    if covers and abs(reach) != size:
        raise ValueError(f"{what}: the slices do not make up the axis")
    return abs(reach // slicing.stride)


@rule("OVG307", Model)
def boundary_type(graph: Model) -> Iterator[Violation]:
    """The precision of a Parameter or Result of a body differs from that of the value that passes the border of the body.

    An entry of a port map or a back edge passes one tensor on, so one of its two ends is wrong. Declare the same precision at
    both ends. The number of an iteration is of I32 or I64, and the execution condition of a Loop is BOOL.
    """
    for layer in _with_bodies(graph):
        for entry in _entries(layer):
            inside = _inside(entry)
            if inside is None or inside.element_type in (None, DYNAMIC) or _is_decompressed(entry.body, entry.inner):
                continue
            if (purpose := _purpose(layer, entry)) is not None:
                allowed = _PURPOSES[purpose][1]
                if inside.element_type not in allowed:
                    text = f"{entry.purpose} is {entry.inner}, of {inside.precision}"
                    hint = f"it may be of {' or '.join(kind.precision for kind in allowed)}"
                    yield Violation.at(layer, text, hint, line=entry.element.line)
            elif entry.port and entry.port.element_type not in (None, inside.element_type):
                text = f"declares {entry.port.precision}, but {entry.inner} of <{entry.body.tag}> has {inside.precision}"
                yield Violation.at(layer, text, "declare the same precision inside and outside", port=entry.port)
        for edge, result, parameter, before, after in _carried(layer):
            if _is_decompressed(layer.bodies[0], result):
                continue
            if after.element_type not in (None, DYNAMIC, before.element_type) and before.element_type not in (None, DYNAMIC):
                text = f"a back edge leads from {result}, of {before.precision}, to {parameter}, of {after.precision}"
                yield Violation.at(layer, text, "let both have the same precision", line=edge.line)


@rule("OVG406", Model)
def boundary_shape(graph: Model) -> Iterator[Violation]:
    """The dims of a Parameter or Result of a body contradict those of the value that passes the border of the body.

    An entry of a port map or a back edge passes one tensor on, unless the entry slices it along an axis. Declare dims that
    agree at both ends. An output of If may have the dims of one body only: OpenVINO removes a body that its condition never
    chooses. The number of an iteration and the execution condition of a Loop have one element.
    """
    for layer in _with_bodies(graph):
        mapped = _entries(layer)
        found = [(entry, inside) for entry in mapped if (inside := _contradiction(entry)) is not None]
        for entry, inside in found:
            assert entry.port is not None  # _contradiction checks it
            wrong = sum(other.port is entry.port and not other.is_input for other, _ in found)
            if layer.type not in LOOPS and not entry.is_input and wrong < len(layer.bodies):
                continue
            outside = f"declares dims {listed(entry.port.dims)}"
            text = f"{outside}, but {entry.inner} of <{entry.body.tag}> has {listed(inside.dims)}"
            yield Violation.at(layer, text, "declare dims that agree inside and outside", port=entry.port)
        for entry in mapped:
            dims = inside.dims if _purpose(layer, entry) and (inside := _inside(entry)) else ()
            if dims not in ((), (1,), (-1,)):
                text = f"{entry.purpose} is {entry.inner}, of dims {listed(dims)}"
                yield Violation.at(layer, text, "it has one element, without a dim or with one of 1", line=entry.element.line)
        for edge, result, parameter, before, after in _carried(layer):
            if before.dims and after.dims and PartialShape.of(before.dims).intersect(PartialShape.of(after.dims)) is None:
                text = (
                    f"a back edge leads from {result}, of dims {listed(before.dims)}, to {parameter}, of {listed(after.dims)}"
                )
                yield Violation.at(layer, text, "declare dims that allow the value of each iteration", line=edge.line)


def _purpose(layer: Layer, entry: Entry) -> str | None:
    """Return a purpose that a Loop knows; OVG122 reports others."""
    return entry.purpose if layer.type == _LOOP and entry.purpose in _PURPOSES else None


def _carried(layer: Layer) -> Iterator[tuple[Element, Layer, Layer, Port, Port]]:
    """Yield the back edges from a Result to a Parameter, with these and their ports."""
    for edge, result, parameter in back_edges(layer, layer.bodies[0]):
        if result and parameter and result.inputs and parameter.outputs and (result.type, parameter.type) == (_OUTPUT, _INPUT):
            yield edge, result, parameter, result.inputs[0], parameter.outputs[0]


def _contradiction(entry: Entry) -> Port | None:
    """Return the port inside whose dims contradict those of the port outside; None if they agree."""
    inside = _inside(entry)
    if not entry.port or not inside or entry.is_sliced or not entry.port.dims or not inside.dims:
        return None
    return inside if PartialShape.of(entry.port.dims).intersect(PartialShape.of(inside.dims)) is None else None


def _inside(entry: Entry) -> Port | None:
    ports = () if entry.inner is None else entry.inner.outputs if entry.is_input else entry.inner.inputs
    return ports[0] if ports else None


def _is_decompressed(body: Model, result: Layer | None) -> bool:
    """Return True for a Result of a compressed Const: OpenVINO declares the precision of the Const there, which is another."""
    source = body.producer(result, result.inputs[0]) if result and result.inputs else None
    return source is not None and decompresses(source[0])


def _with_bodies(graph: Model) -> list[Layer]:
    """Return the layers that have each of their bodies once; OVG121 reports the others."""
    return [layer for layer in graph.of_type(*BODIES) if 0 < len(layer.bodies) == len({body.tag for body in layer.bodies})]


def _entries(layer: Layer) -> list[Entry]:
    return [entry for body in layer.bodies if body.tag in BODIES[layer.type].tags for entry in entries(layer, body)]


def _wrong(layer: Layer, entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with an entry of a port map, and what would be right."""
    attributes = entry.element.attributes
    if entry.element.tag not in ("input", "output"):
        yield f"<{entry.element.tag}> is no entry of a port map", "<input> and <output> are"
        return
    for child in entry.element.children:
        yield f"<{child.tag}> in an entry of a port map", "an entry has but attributes"
    allowed = sorted((*MAPPING, *SLICING))
    for name in attributes.keys() - allowed:
        yield f"unknown attribute {name} of a port map entry", f"it may have {', '.join(allowed)}"
    for name in SLICING:
        try:
            parse_integer(attributes.get(name, "0"))
        except ValueError as error:
            yield f"{name}: {error}", "write a decimal integer"
    kind, inner = ("input", _INPUT) if entry.is_input else ("output", _OUTPUT)
    outside, inside = attributes.get("external_port_id", ""), attributes.get("internal_layer_id", "")
    if entry.purpose is not None and layer.type != _LOOP:
        yield f"purpose='{entry.purpose[:40]}', but {layer.type} knows no purposes", "remove it"
    if layer.type == _LOOP and (entry.purpose is not None or outside == "-1"):
        purpose = entry.purpose or ""
        if purpose not in _PURPOSES:
            text = f"the purpose of an entry without a port is '{purpose[:40]}'"
            yield text, f"write {' or '.join(_PURPOSES)}, or a port"
        elif _PURPOSES[purpose][0] != kind:
            yield f"an <{kind}> has the purpose {purpose}", f"an <{_PURPOSES[purpose][0]}> has it"
        elif outside != "-1":
            text = f"external_port_id='{outside[:40]}' of an entry with a purpose"
            yield text, "write -1: such a value passes no port"
    elif entry.port is None:
        yield f"external_port_id='{outside[:40]}' is no {kind} port of the layer", f"write the id of an {kind} port"
    if entry.inner is None or entry.inner.type != inner:
        yield f"internal_layer_id='{inside[:40]}' is no {inner} of <{entry.body.tag}>", f"write the id of a {inner}"
