"""Layers and edges that are laid out as OpenVINO writes them are read by regular expressions, which makes long documents fast.

Every tag has a line of its own, so lines need not be counted. Whatever is not canonical (another layout or order of
attributes, escapes, comments, bodies, letters beyond ASCII, anything wrong) goes the parser's general way, so nothing here
reports a problem.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from sys import intern
from typing import NamedTuple, TypeVar

from ov_gather.ir.model import Edge, Element, Layer, Port
from ov_gather.ir.shapes import MAX_DIMENSION, element_count

LAYER_DEPTH = 4
"""The innermost element of a canonical layer lies so much deeper than the list of layers: layer, input, port, dim."""

_BREAK = r"\r?\n[ \t]*"
_TEXT = "[ !#-%'-;=-~]"  # This is printable ASCII without ", & and <.
_NUMBER = r"\d{1,18}"  # So few digits always make a number below 2^63.
_ATTRIBUTES = rf'(?: [A-Za-z_]\w*="{_TEXT}*")*'
_DIMS = f"(?:{_BREAK}<dim>(?:-1|{_NUMBER})</dim>)+"
_RT_INFO = rf"(?:{_BREAK}<attribute{_ATTRIBUTES} ?/>)+{_BREAK}"

_LAYER = re.compile(
    rf'{_BREAK}<layer id="({_NUMBER})" name="({_TEXT}*)" type="(\w*)" version="(\w*)"(?: output_names="({_TEXT}*)")?>'
    rf"(?:{_BREAK}<data({_ATTRIBUTES}) ?/>)?"
    rf"(?:{_BREAK}<rt_info>({_RT_INFO})</rt_info>)?"
    rf"({_BREAK}<input>)?",
    re.ASCII,
)
_OUTPUT = re.compile(f"{_BREAK}<output>")
_LAYER_END = re.compile(f"{_BREAK}</layer>")
_EDGE = re.compile(
    rf'{_BREAK}<edge from-layer="({_NUMBER})" from-port="({_NUMBER})" to-layer="({_NUMBER})" to-port="({_NUMBER})" ?/>',
    re.ASCII,
)
_EDGES = re.compile(f"(?:{_EDGE.pattern})*", re.ASCII)
_PORT = re.compile(
    rf'{_BREAK}<port id="({_NUMBER})"(?: precision="(\w+)")?(?: names="({_TEXT}*)")?(?: ?/>|>({_DIMS}){_BREAK}</port>)',
    re.ASCII,
)
_LAST_BREAK = re.compile(_BREAK)
_ATTRIBUTE = re.compile(rf'(\w+)="({_TEXT}*)"', re.ASCII)
_RT_INFO_PARTS = re.compile(f"<attribute({_ATTRIBUTES})", re.ASCII)
_DIM = re.compile("<dim>([-0-9]+)")

_NONE: Mapping[str, str] = {}

_PortRow = tuple[int, tuple[int, ...], str | None, Mapping[str, str], int]


_T = TypeVar("_T")


def _remember(function: Callable[[str], _T]) -> Callable[[str], _T]:
    """Make a function remember its values for short texts. Long texts are not remembered: they could fill the memory."""
    remembered = lru_cache(maxsize=4096)(function)
    return lambda text: remembered(text) if len(text) < 1000 else function(text)


class Run(NamedTuple):
    """A Run holds elements that follow one another: their values, where they end, and how many of them are rt_info."""

    values: Sequence[Layer | Edge]
    end: int
    verbatim: int = 0


def read_edges(text: str, start: int, line: int) -> Run:
    """Read as many canonical edges as follow from `start`, which is on this line."""
    match = _EDGES.match(text, start)
    end = match.end() if match else start
    ends = enumerate(_EDGE.findall(text, start, end), line + 1)
    return Run([Edge(int(from_), int(output), int(to), int(input_), line) for line, (from_, output, to, input_) in ends], end)


def read_layers(text: str, start: int, line: int) -> Run:
    """Read as many canonical layers as follow from `start`, which is on this line."""
    layers: list[Layer] = []
    end, verbatim = start, 0
    while match := _LAYER.match(text, end):
        layer_id, name, type_, version, output_names, data, rt_info, input_tag = match.groups()
        position = match.end()
        line += 1
        layer_line = line
        if data is not None:
            line += 1
        data_line = line
        inputs: tuple[Port, ...] = ()
        outputs: tuple[Port, ...] = ()
        sections: tuple[Element, ...] = ()
        kept = 0
        try:
            attributes = _attributes(data) if data else _NONE
            if rt_info is not None:
                sections = (_rt_info(rt_info, line + 1),)
                kept = 1 + len(sections[0].children)
                line += 1 + kept
            if input_tag is not None:
                inputs, line, position = _ports(text, position, "</input>", line + 1)
            if output_tag := _OUTPUT.match(text, position):
                outputs, line, position = _ports(text, output_tag.end(), "</output>", line + 1)
        except ValueError:
            break
        end_tag = _LAYER_END.match(text, position)
        if end_tag is None:
            break
        extra = _NONE if output_names is None else {"output_names": output_names}
        type_, version = intern(type_), intern(version)
        layers.append(
            Layer(int(layer_id), name, type_, version, attributes, inputs, outputs, extra, sections, (), layer_line, data_line)
        )
        verbatim += kept
        line += 1
        end = end_tag.end()
    return Run(layers, end, verbatim)


def _ports(text: str, start: int, end_tag: str, line: int) -> tuple[tuple[Port, ...], int, int]:
    """Read the ports from `start` to an end tag. Returns them, and the line and the end of the tag. Raises ValueError."""
    end = text.index(end_tag, start)
    ports_text = text[start:end]
    # The same ports come again and again, unless they have names.
    rows, height = _port_rows(ports_text) if " names=" in ports_text else _known_port_rows(ports_text)
    ports = [Port(port_id, dims, precision, names, (), line + below) for port_id, dims, precision, names, below in rows]
    return tuple(ports), line + height, end + len(end_tag)


def _port_rows(text: str) -> tuple[list[_PortRow], int]:
    """Read the fields and the relative line of each port, and count the lines. Raises ValueError at anything else."""
    rows: list[_PortRow] = []
    below, end = 1, 0
    while match := _PORT.match(text, end):
        port_id, precision, names, dims_text = match.groups()
        dims = _dims(dims_text) if dims_text else ()
        precision = precision and intern(precision)
        rows.append((int(port_id), dims, precision, _NONE if names is None else {"names": names}, below))
        below += len(dims) + 2 if dims else 1
        end = match.end()
    if not _LAST_BREAK.fullmatch(text, end):
        raise ValueError("there is more than canonical ports")
    return rows, below


_known_port_rows = _remember(_port_rows)


@_remember
def _dims(text: str) -> tuple[int, ...]:
    dims = tuple(map(int, _DIM.findall(text)))
    if element_count(dims) > MAX_DIMENSION:
        raise ValueError("more than 2^63-1 elements")
    return dims


@_remember
def _attributes(text: str) -> Mapping[str, str]:
    pairs = _ATTRIBUTE.findall(text)
    attributes = dict(pairs)
    if len(attributes) < len(pairs):
        raise ValueError("an attribute stands twice")
    return attributes


def _rt_info(text: str, line: int) -> Element:
    attributes = _RT_INFO_PARTS.findall(text)
    children = [Element("attribute", _attributes(part), line=line + below) for below, part in enumerate(attributes, 1)]
    return Element("rt_info", _NONE, tuple(children), line=line)
