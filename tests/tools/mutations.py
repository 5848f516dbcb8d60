"""Single faults in small valid IRs, as made by hand, by a generator or by a merge tool. `validate` must find each.

`python tests/tools/mutations.py` prints "N of N found", and the faults that were not found.

Excluded, as they need inference of every operation: dims and precision of unread outputs; and values that are legal in
themselves, such as another stride, or a Loop without its back edge.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory

from lxml import etree

from ov_gather import validate

VALID = Path(__file__).parents[2] / "ir_samples" / "valid"
BASES = ("openvino_page_3", "dynamic_shapes", "detector_with_state", "loop", "if_bodies", "tensor_iterator")

Mutate = Callable[[etree._Element, etree._Element], None]
"""Change an element, with its parent as second argument."""


def mutations() -> Iterator[tuple[str, bytes, bytes]]:
    """Yield the name, the .xml and the .bin of each mutation."""
    for base in BASES:
        text, binary = (VALID / f"{base}.xml").read_bytes(), _binary(base)
        root = etree.fromstring(text)
        unread = _unread_outputs(root)
        elements = list(root.iter())
        for position, element in enumerate(elements):
            if element in unread or (element.tag == "dim" and elements[position - 1].tag == "dim"):
                continue  # the first dim of a port represents the others
            for what, mutate in _faults(element):
                copy = deepcopy(root)
                copied = list(copy.iter())
                parent = copied[position].getparent()
                mutate(copied[position], copy if parent is None else parent)
                label = f"{element.tag} {element.get('name') or element.get('id') or ''}".strip()
                yield f"{base}: {label} (element {position}): {what}", etree.tostring(copy), binary
        yield from ((f"{base}: {what}", xml, data) for what, xml, data in _of_files(text, binary))


def _binary(base: str) -> bytes:
    path = VALID / f"{base}.bin"
    return path.read_bytes() if path.exists() else b""


def _unread_outputs(root: etree._Element) -> set[etree._Element]:
    """Return the output ports without an edge, with their dims: only inference can check them."""
    found: set[etree._Element] = set()
    for graph in (element for element in root.iter() if element.find("layers") is not None):
        read = {(edge.get("from-layer"), edge.get("from-port")) for edge in graph.iterfind("edges/edge")}
        for layer in graph.iterfind("layers/layer"):
            for port in layer.iterfind("output/port"):
                if (layer.get("id"), port.get("id")) not in read:
                    found.update(port.iter())
    return found


# ---- faults of elements


def _faults(element: etree._Element) -> Iterator[tuple[str, Mutate]]:
    is_back_edge = element.tag == "edge" and "from-port" not in element.attrib
    if element.tag not in ("rt_info", "net", "back_edges") and not is_back_edge:
        yield "removed", lambda element, parent: parent.remove(element)
    if element.tag not in ("rt_info", "net"):
        yield "misspelt", lambda element, parent: _rename(element)
    if element.tag not in ("rt_info", "edge", "dim"):
        yield "an element in it", lambda element, parent: element.insert(0, etree.Element("stray"))
    if element.tag in ("layer", "edge", "port", "data", "input", "output", "layers", "edges", "body", "then_body", "port_map"):
        yield "twice", lambda element, parent: parent.insert(list(parent).index(element), deepcopy(element))
    if element.tag in _FAULTS:
        yield from _FAULTS[element.tag](element)


def _rename(element: etree._Element) -> None:
    element.tag = _swapped(element.tag)


def _swapped(text: str) -> str:
    """Return the name with two letters swapped."""
    return text[0] + text[2] + text[1] + text[3:] if len(text) > 2 and text[1] != text[2] else text + "s"


def _set(name: str, value: str) -> tuple[str, Mutate]:
    return f"{name}='{value}'", lambda element, parent: element.set(name, value)


def _each(name: str, values: Iterable[str]) -> Iterator[tuple[str, Mutate]]:
    return (_set(name, value) for value in values)


def _drop(name: str) -> tuple[str, Mutate]:
    return f"without {name}", lambda element, parent: element.attrib.pop(name) and None


def _misspell(name: str) -> tuple[str, Mutate]:
    return f"{_swapped(name)} for {name}", lambda element, parent: element.set(_swapped(name), element.attrib.pop(name))


def _of_layer(layer: etree._Element) -> Iterator[tuple[str, Mutate]]:
    for name in ("id", "name", "type", "version"):
        yield _drop(name)
        yield _misspell(name)
    yield from _each("id", ("0" if layer.get("id") != "0" else "1", "77", "-1", "1x", ""))
    yield from _each("version", ("opset0", "opset99", "opset", "OPSET1", "11"))
    layer_type = layer.get("type", "")
    yield from _each("type", (_swapped(layer_type), layer_type.lower(), layer_type + "s", "", "GatherElement"))
    yield _set("axis", "1")
    inputs, outputs = layer.find("input"), layer.find("output")
    if inputs is not None and len(inputs) > 1:
        yield "inputs swapped", lambda element, parent: _reverse(element.find("input"))
    if outputs is not None and inputs is not None:
        yield (
            "one input more",
            lambda element, parent: etree.SubElement(element.find("input"), "port", id="9", precision="I64"),
        )


def _reverse(element: etree._Element | None) -> None:
    assert element is not None
    element[:] = list(element)[::-1]


def _of_data(data: etree._Element) -> Iterator[tuple[str, Mutate]]:
    yield _set("batch_dim", "1")
    for name, text in data.attrib.items():
        yield _drop(name)
        yield _misspell(name)
        if name in ("variable_id",):
            yield _set(name, text + "s")
            continue
        yield from _each(name, (text + "x", text + " ; 1", "abc"))
        if text.lstrip("-").isdigit():
            yield from _each(name, (text + ".7", "0x" + text, "99999999999999999999"))
        if name == "shape":
            wrong = ("-5", "3,", "1..0", "(2,3)", "9223372036854775808", text + ",1" if text else "1")
            yield from _each(name, wrong)
        if name.endswith("type"):
            yield from _each(name, ("FP32", "u16", "float", ""))
        if name in ("offset", "size"):
            wrong = (str(int(text) + 1), str(int(text) - 1), str(int(text) + 10**6), str(2**63), "")
            yield from _each(name, wrong)
        if list(data.attrib) == ["axis"]:
            yield _set(name, "7")


def _of_port(port: etree._Element) -> Iterator[tuple[str, Mutate]]:
    yield _drop("id")
    yield from _each("id", ("55", "-1", "0.5"))
    yield from _each("precision", ("FP99", "float", "U16", "fp32", ""))
    yield _misspell("precision")
    yield "one dim more", lambda element, parent: setattr(etree.SubElement(element, "dim"), "text", "6")
    if "names" in port.attrib:
        yield _misspell("names")


def _of_dim(dim: etree._Element) -> Iterator[tuple[str, Mutate]]:
    for text in ("", "abc", "3abc", "3.5", "-2", "0x3", str(2**63), "123456"):
        yield f"text '{text}'", lambda element, parent, text=text: setattr(element, "text", text)


def _of_edge(edge: etree._Element) -> Iterator[tuple[str, Mutate]]:
    for name, text in edge.attrib.items():
        yield _drop(name)
        yield _misspell(name)
        yield from _each(name, ("999", "-1", "x", text + "x", ""))
    if "from-port" in edge.attrib:
        yield "itself", lambda element, parent: element.set("from-layer", element.get("to-layer", ""))


def _of_entry(entry: etree._Element) -> Iterator[tuple[str, Mutate]]:
    for name, text in entry.attrib.items():
        yield _misspell(name)
        yield _set(name, text + "x")
        if name.endswith("id"):
            yield from _each(name, ("99", "", "-7"))
        if name in ("external_port_id", "internal_layer_id", "purpose"):
            yield _drop(name)


_FAULTS: dict[str, Callable[[etree._Element], Iterator[tuple[str, Mutate]]]] = {
    "layer": _of_layer,
    "data": _of_data,
    "port": _of_port,
    "dim": _of_dim,
    "edge": _of_edge,
    "input": _of_entry,
    "output": _of_entry,
}


def _of_files(text: bytes, binary: bytes) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield faults of whole files; tests/hostile/test_documents.py has more."""
    yield "without its end", text.rstrip()[:-1], binary
    yield "text after it", text + b"x", binary
    yield "an attribute twice", text.replace(b'<layer id="0"', b'<layer id="0" id="0"', 1), binary
    yield "no version", text.replace(b' version="11"', b"", 1), binary
    for version in (b"", b"9"):
        yield f"version {version!r}", text.replace(b' version="11"', b' version="' + version + b'"', 1), binary
    if binary:
        yield "a byte more in the .bin", text, binary + b"\0"


# ---- the run


def not_found() -> tuple[int, list[str]]:
    """Return the number of mutations, and those that validate misses or is too slow for."""
    total, missed = 0, []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mutated.xml"
        for name, xml, binary in mutations():
            for file, content in ((path, xml), (path.with_suffix(".bin"), binary)):
                file.unlink(missing_ok=True)  # to write over a file takes longer
                file.write_bytes(content)
            start = time.perf_counter()
            found = validate(path)
            seconds = time.perf_counter() - start
            total += 1
            if not found or seconds > 10:
                missed.append(name if not found else f"{name}: {seconds:.0f} s")
    return total, missed


if __name__ == "__main__":
    total, missed = not_found()
    print(*missed, sep="\n")
    print(f"{total - len(missed)} of {total} found")
    sys.exit(bool(missed))
