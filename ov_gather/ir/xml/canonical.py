"""Fast path for layers and edges in the layout that OpenVINO writes, parsed by regular expressions.

Every tag is on a line of its own, so lines need not be counted. Anything else (another layout or order of attributes, escapes,
comments, bodies, non-ASCII letters, errors) is left to the general parser, so nothing here reports a problem.
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
"""Levels from the list of layers to the innermost element of a canonical layer: layer, input, port, dim."""

_BREAK = r"\r?\n[ \t]*"
_TEXT = "[ !#-%'-;=-~]"  # printable ASCII without ", & and <
_NUMBER = r"\d{1,18}"  # always below 2^63
_ATTRIBUTES = rf'(?: [A-Za-z_]\w*="{_TEXT}*")*'
_RT_INFO = rf"(?:{_BREAK}<attribute{_ATTRIBUTES} ?/>)+{_BREAK}"
_PORT_BEGIN = rf'{_BREAK}<port id="({_NUMBER})"(?: precision="(\w+)")?'
_PORT_END = rf"(?: ?/>|>((?:{_BREAK}<dim>(?:-1|{_NUMBER})</dim>)+){_BREAK}</port>)"

_LAYER = re.compile(
    rf'{_BREAK}<layer id="({_NUMBER})" name="({_TEXT}*)" type="(\w*)" version="(\w*)"(?: output_names="({_TEXT}*)")?>'
    rf"(?:{_BREAK}<data({_ATTRIBUTES}) ?/>)?"
    rf"(?:{_BREAK}<rt_info>({_RT_INFO})</rt_info>)?",
    re.ASCII,
)
_PORT = re.compile(rf'{_PORT_BEGIN}(?: names="({_TEXT}*)")?{_PORT_END}', re.ASCII)
_PORTS = re.compile(
    rf"(?:{_BREAK}<input>(?P<inputs>(?:{_PORT_BEGIN}{_PORT_END})*){_BREAK}</input>)?"
    rf"(?:{_BREAK}<output>(?P<outputs>(?:{_PORT.pattern})*){_BREAK}</output>)?{_BREAK}",
    re.ASCII,
)
_LAYER_END = "</layer>"
_NAMES = re.compile(f' names="({_TEXT}*)"')
_EDGE = re.compile(
    rf'{_BREAK}<edge from-layer="({_NUMBER})" from-port="({_NUMBER})" to-layer="({_NUMBER})" to-port="({_NUMBER})" ?/>',
    re.ASCII,
)
_ATTRIBUTE = re.compile(rf'(\w+)="({_TEXT}*)"', re.ASCII)
_RT_INFO_PARTS = re.compile(f"<attribute({_ATTRIBUTES})", re.ASCII)
_DIM = re.compile("<dim>([-0-9]+)")

_NONE: Mapping[str, str] = {}

_T = TypeVar("_T")
_Ports = tuple[tuple[Port, ...], tuple[Port, ...], int]
"""Inputs and outputs of a layer, and the line on which their text ends, relative to the layer's line."""


def _remember(function: Callable[..., _T]) -> Callable[..., _T]:
    """Memoize a function for short texts only: long ones could fill the memory."""
    remembered = lru_cache(maxsize=4096)(function)
    return lambda text, *more: remembered(text, *more) if len(text) < 1000 else function(text, *more)


class Run(NamedTuple):
    """Consecutive elements: their values, the position behind them, and how many of them are rt_info, kept verbatim."""

    values: Sequence[Layer | Edge]
    end: int
    verbatim: int = 0


def read_edges(text: str, start: int, line: int) -> Run:
    """Parse the canonical edges that follow from `start`, which is on this line."""
    edges: list[Edge] = []
    end = start
    while match := _EDGE.match(text, end):
        from_layer, from_port, to_layer, to_port = match.groups()
        line += 1
        edges.append(Edge(int(from_layer), int(from_port), int(to_layer), int(to_port), line))
        end = match.end()
    return Run(edges, end)


def read_layers(text: str, start: int, line: int) -> Run:
    """Parse the canonical layers that follow from `start`, which is on this line."""
    layers: list[Layer] = []
    end, verbatim = start, 0
    while match := _LAYER.match(text, end):
        layer_id, name, type_, version, output_names, data, rt_info = match.groups()
        line += 1
        data_below = below = 0 if data is None else 1
        sections: tuple[Element, ...] = ()
        kept = 0
        try:
            attributes = _attributes(data) if data else _NONE
            if rt_info is not None:
                sections = (_rt_info(rt_info, line + below + 1),)
                kept = 1 + len(sections[0].children)
                below += 1 + kept
            ports_end = text.index(_LAYER_END, match.end())
            inputs, outputs, below = _ports(text[match.end() : ports_end], below)
        except ValueError:
            break
        extra = _NONE if output_names is None else {"output_names": output_names}
        data_line, type_, version = line + data_below, intern(type_), intern(version)
        layer = Layer(int(layer_id), name, type_, version, attributes, inputs, outputs, extra, sections, (), line, data_line)
        layers.append(layer)
        verbatim += kept
        line += below
        end = ports_end + len(_LAYER_END)
    return Run(layers, end, verbatim)


def _ports(text: str, below: int) -> _Ports:
    """Parse the ports of a layer from a text that begins `below` lines behind the layer's line.

    Raises ValueError if there is anything but canonical ports.
    """
    before, *others = _NAMES.split(text)
    if not others:
        return _ports_but_names(text, below)
    # Ports repeat often except for their names: parse them without names (memoized), then insert the names.
    inputs, outputs, below = _ports_but_names(' names=""'.join((before, *others[1::2])), below)
    names = iter(others[::2])
    named = [
        Port(port.id, port.dims, port.precision, {"names": next(names)}, (), port.below) if port.attributes else port
        for port in outputs
    ]
    return inputs, tuple(named), below


@_remember
def _ports_but_names(text: str, below: int) -> _Ports:
    both = _PORTS.fullmatch(text)
    if both is None:
        raise ValueError("there is more than canonical ports")
    inputs, outputs = (_side(text, *both.span(side), below) for side in ("inputs", "outputs"))
    return inputs, outputs, below + text.count("\n")


def _side(text: str, start: int, end: int, below: int) -> tuple[Port, ...]:
    ports: list[Port] = []
    below += text.count("\n", 0, start) + 1
    for match in _PORT.finditer(text, start, end):
        port_id, precision, names, dims_text = match.groups()
        dims = _dims(dims_text) if dims_text else ()
        attributes = _NONE if names is None else {"names": names}
        ports.append(Port(int(port_id), dims, precision and intern(precision), attributes, (), below))
        below += match[0].count("\n")
    return tuple(ports)


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
