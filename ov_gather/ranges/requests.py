"""What requests to a model must satisfy so that its conditional sites are in bounds: `Proof.requires` as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import inf

from ov_gather.ir.element_types import DYNAMIC, STRING, ElementType
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.analysis import LARGEST_DIM
from ov_gather.ranges.bounds import Bound
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.proof import Proof, Status
from ov_gather.ranges.proofs import text_of
from ov_gather.ranges.size_texts import SizeTextError, SizeTexts
from ov_gather.system.tables import counted

Size = Polynomial | Number
"""A bound: a number, or a polynomial of dimensions that has no constant value."""
_Key = tuple[str | Polynomial, tuple[Size, ...], tuple[Size, ...]]
"""The identity of a condition: what it is about, and both bounds."""
ASSUMED = "assume"
"""What needs a condition that the caller has assumed."""


@dataclass(frozen=True)
class RequestInput:
    """An input of a model.

    Attributes:
        dims: the least and the greatest size of each axis; None for an open rank. An open dimension has at most `LARGEST_DIM`,
            which proofs assume.
    """

    name: str
    element_type: ElementType | None
    dims: tuple[tuple[int, int], ...] | None

    @property
    def kind(self) -> str:
        """The name of the NumPy dtype of its arrays; "str" for strings, "" if elements take no whole bytes."""
        if self.element_type is None or self.element_type is DYNAMIC:
            return ""
        if self.element_type is STRING:
            return "str"
        return self.element_type.numpy_name if self.element_type.bits >= 8 else ""


@dataclass(frozen=True)
class RequestCondition:
    """A condition: all elements of an input, or a size, lie between bounds.

    Attributes:
        subject: the name of an input, or a polynomial of dimensions.
        lows, highs: bounds that all hold, none if there is no bound. A floating-point input must also have no NaN.
        needed_by: the layers that need it, as "Gather 'name'".
    """

    subject: str | Polynomial
    lows: tuple[Size, ...]
    highs: tuple[Size, ...]
    needed_by: tuple[str, ...]
    text: str

    @property
    def is_constant(self) -> bool:
        """Return True if no bound depends on sizes."""
        return not any(isinstance(bound, Polynomial) for bound in (*self.lows, *self.highs))

    @property
    def reason(self) -> str:
        """What needs the condition, for people."""
        first, *others = self.needed_by
        if first == ASSUMED:
            return f"it was assumed that {self.text}"
        more = f" and {counted(len(others), 'other')}" if others else ""
        return f"{first}{more} need{'' if others else 's'} {self.text}"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Uncovered:
    """A gather or scatter that no condition on requests keeps in bounds.

    Attributes:
        status: "refuted" or "unknown"; "conditional" if its condition cannot be evaluated on a request.
    """

    layer: str
    type: str
    status: Status
    reason: str

    def __str__(self) -> str:
        return f"{self.type} '{self.layer}': {self.status}, {self.reason}"


@dataclass(frozen=True)
class RequestTerms:
    """What a model needs of requests.

    Attributes:
        conditions: those on sizes first, then those on elements in the order of the inputs.
        places: the input and the axis of each open dimension; several must be equal if they share the dimension.
        fingerprint: a digest of the inputs, of the proof of each gather and scatter, and of what was assumed.
    """

    inputs: tuple[RequestInput, ...]
    conditions: tuple[RequestCondition, ...]
    uncovered: tuple[Uncovered, ...]
    places: Mapping[str, tuple[tuple[str, int], ...]]
    fingerprint: str


def request_terms(
    graph: AnalysedGraph, proofs: Sequence[Proof], assume: Mapping[str, tuple[Number | None, Number | None]] | None = None
) -> RequestTerms:
    """Return what the proofs of a graph need of requests; they hold under the bounds `assume`, which become conditions, too.

    Raises ValueError if two inputs have the same name, or a request cannot be checked for a bound of `assume`.
    """
    check_unique_inputs(graph)
    reader = _Reader(graph)
    found: dict[_Key, RequestCondition] = {}
    uncovered = []
    by_layer = [(_layer(proof), reader.conditions(proof.requires), proof) for proof in proofs if proof.status != "proved"]
    for layer, conditions, proof in by_layer:
        if proof.status != "conditional" or conditions is None:
            uncovered.append(Uncovered(proof.layer, proof.type, proof.status, proof.reason))
            continue
        _add(found, conditions, layer)
    assumed = reader.conditions(assume or {})
    if assumed is None:
        raise ValueError(f"assume: the elements or sizes of {', '.join(assume or {})} cannot be checked on a request")
    _add(found, assumed, ASSUMED)
    inputs = tuple(_input(graph, name) for name in graph.inputs)
    order = {name: number for number, name in enumerate(graph.inputs)}
    kept = tuple(sorted(_without_weaker([*found.values()]), key=lambda one: order.get(str(one.subject), -1)))
    return RequestTerms(inputs, kept, tuple(uncovered), reader.places, _fingerprint(inputs, proofs, assumed))


def check_unique_inputs(graph: AnalysedGraph) -> None:
    """Raise ValueError if two inputs have the same name: a request cannot hold both."""
    if len(graph.inputs) < graph.input_count:
        raise ValueError("two inputs of the model have the same name: rename one, so that a request can name both")


def covered(graph: AnalysedGraph, proofs: Sequence[Proof]) -> list[bool]:
    """Return for each proof whether the site is conditional, and conditions on requests keep it in bounds.

    Raises ValueError if two inputs have the same name.
    """
    check_unique_inputs(graph)
    reader = _Reader(graph)
    return [proof.status == "conditional" and reader.conditions(proof.requires) is not None for proof in proofs]


def _add(found: dict[_Key, RequestCondition], conditions: Iterable[RequestCondition], layer: str) -> None:
    for one in conditions:
        key = one.subject, one.lows, one.highs
        known = found.get(key, one)
        found[key] = replace(known, needed_by=tuple(dict.fromkeys((*known.needed_by, layer))))


def _layer(proof: Proof) -> str:
    return f"{proof.type} '{proof.layer}'"


class _Reader:
    """A reader of conditions, which are texts for people, with the names of a graph.

    Attributes:
        conditions: those on sizes first, then those on elements in the order of the inputs.
        places: the input and the axis of each open dimension, several if they share the dimension.
    """

    def __init__(self, graph: AnalysedGraph) -> None:
        self._graph, self.places = graph, _places(graph)
        self._texts: SizeTexts | None
        try:
            self._texts = SizeTexts(self.places)
        except SizeTextError:
            self._texts = None

    def conditions(self, requires: Mapping[str, tuple[Bound, Bound]]) -> list[RequestCondition] | None:
        """Return the conditions; None if one is ambiguous, or about something else than inputs and their sizes."""
        try:
            return [self._condition(name, low, high) for name, (low, high) in requires.items()]
        except SizeTextError:
            return None

    def _condition(self, name: str, low: Bound, high: Bound) -> RequestCondition:
        is_input = name in self._graph.inputs
        if is_input and (name in self.places or not _has_whole_bytes(self._graph, name)):
            raise SizeTextError(name)
        subject: str | Polynomial = name if is_input else self._size(name)
        lows, highs = self._bounds(low, "max"), self._bounds(high, "min")
        text = text_of({name: (low, high)}) if lows or highs else f"{name} has no NaN"
        return RequestCondition(subject, lows, highs, (), text)

    def _bounds(self, bound: Bound, function: str) -> tuple[Size, ...]:
        if not isinstance(bound, str):
            return () if bound is None or bound in (inf, -inf) else (bound,)
        if self._texts is None:
            raise SizeTextError(bound)
        return tuple(self._texts.bounds(bound, function))

    def _size(self, text: str) -> Polynomial:
        size = self._texts.parse(text) if self._texts is not None else None
        if not isinstance(size, Polynomial):
            raise SizeTextError(text)
        return size


def _has_whole_bytes(graph: AnalysedGraph, name: str) -> bool:
    """Return True if the elements of an input are numbers that each take whole bytes."""
    kind = graph.declared(graph.inputs[name]).element_type
    return kind is not None and kind.bits >= 8


def _places(graph: AnalysedGraph) -> dict[str, tuple[tuple[str, int], ...]]:
    found: dict[str, tuple[tuple[str, int], ...]] = {}
    for name, key in graph.inputs.items():
        for axis, dim in enumerate(graph.declared(key).shape or ()):
            for symbol in dim.names:
                found[symbol] = (*found.get(symbol, ()), (name, axis))
    return found


def _input(graph: AnalysedGraph, name: str) -> RequestInput:
    declared = graph.declared(graph.inputs[name])
    if declared.shape is None:
        return RequestInput(name, declared.element_type, None)
    dims = []
    for dim in declared.shape:
        low, high = (dim.value, dim.value) if dim.value is not None else graph.bounds[str(dim)]
        dims.append((int(low), int(max(low, min(high, LARGEST_DIM)))))
    return RequestInput(name, declared.element_type, tuple(dims))


def _without_weaker(conditions: Sequence[RequestCondition]) -> list[RequestCondition]:
    """Drop conditions on the same subject that another one implies."""
    by_subject: dict[object, list[RequestCondition]] = {}
    for one in conditions:
        by_subject.setdefault(one.subject, []).append(one)
    dropped: set[int] = set()
    for group in by_subject.values():
        for one in group:
            if any(other is not one and id(other) not in dropped and _implies(other, one) for other in group):
                dropped.add(id(one))
    return [one for one in conditions if id(one) not in dropped]


def _implies(one: RequestCondition, other: RequestCondition) -> bool:
    """Return True if one condition implies another on the same subject, bound by bound."""
    is_low = all(any(low == given or _are_ordered(low, given) for given in one.lows) for low in other.lows)
    return is_low and all(any(high == given or _are_ordered(given, high) for given in one.highs) for high in other.highs)


def _are_ordered(low: Size, high: Size) -> bool:
    return not isinstance(low, Polynomial) and not isinstance(high, Polynomial) and low <= high


def _fingerprint(inputs: Iterable[RequestInput], proofs: Iterable[Proof], assumed: Iterable[RequestCondition]) -> str:
    """Return the first 16 digits of a SHA-256. Names of layers, which may differ whenever a model is made, are left out."""
    parts = [repr((one.name, str(one.element_type), one.dims)) for one in inputs]
    parts += sorted(repr((one.type, one.status, one.axis, one.axis_size, sorted(one.requires.items()))) for one in proofs)
    parts += sorted(repr((ASSUMED, one.text)) for one in assumed)
    return sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
