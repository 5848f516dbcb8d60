"""Guards as JSON Schemas for bodies of requests: one object with a nested array for each input."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import ceil, floor, inf
from typing import Any
from urllib.parse import quote

from ov_gather.graph.symbols import InputDim
from ov_gather.guards.written import WrittenModel, head
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.symbols import END, AxisSlice, Elements
from ov_gather.ranges.algebra.values import every_value
from ov_gather.ranges.requests import RequestCondition, RequestInput, RequestTerms
from ov_gather.system.tables import printable


def render(terms: RequestTerms, model: WrittenModel) -> str:
    """Return the text of the schema; `$comment` has what it cannot say.

    It refuses no request that the guard lets pass, if the types of the inputs hold its numbers exactly.
    """
    unsaid = [*_unsaid(terms)]
    conditions = _by_subject(terms)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Request to {printable(model.name)}",
        "description": "\n".join(head(terms, model)),
        "$comment": "\n".join(["This schema cannot say:", *(f"    {text}" for text in unsaid)] if unsaid else []),
        "type": "object",
        "properties": {one.name: _tensor(one, conditions) for one in terms.inputs},
        "required": [one.name for one in terms.inputs],
        "additionalProperties": False,
    }
    if not unsaid:
        del schema["$comment"]
    if any(one.dims is None for one in terms.inputs):
        schema["$defs"] = {
            one.name: {
                "anyOf": [_element(one, conditions.get(one.name, ())), {"type": "array", "items": {"$ref": _pointer(one)}}]
            }
            for one in terms.inputs
            if one.dims is None
        }
    return json.dumps(schema, indent=2) + "\n"


def _unsaid(terms: RequestTerms) -> Iterator[str]:
    """Yield what a guard checks and a schema does not."""
    for condition in terms.conditions:
        subject = condition.subject
        is_said = bool(_places_of(subject, terms)) if isinstance(subject, Polynomial) else all(map(_is_listed, subject.spans))
        if not is_said or not condition.is_constant:
            yield printable(str(condition))
    for dim, places in terms.places.items():
        if len(places) > 1:
            yield f"all sizes {printable(str(dim))} are equal: " + ", ".join(printable(str(InputDim(*one))) for one in places)
    if any(one.dims is None or len(one.dims) > 1 for one in terms.inputs):
        yield "arrays inside of an array have the same length"


_LISTED = 64
"""Positions along an axis that have a schema of their own, as where a condition is about a part of an input."""

_Conditions = Mapping[str | tuple[str, int], Sequence[RequestCondition]]
"""Conditions on elements by the name of the input; on single dimensions by an input and an axis."""


def _by_subject(terms: RequestTerms) -> _Conditions:
    found: defaultdict[str | tuple[str, int], list[RequestCondition]] = defaultdict(list)
    for condition in terms.conditions:
        subject = condition.subject
        for key in _places_of(subject, terms) if isinstance(subject, Polynomial) else (subject.input,):
            found[key].append(condition)
    return found


def _places_of(size: Polynomial, terms: RequestTerms) -> Sequence[tuple[str, int]]:
    """Return the inputs and axes that have this size; none if it is a sum or product."""
    places = [terms.places[symbol] for symbol in size.symbols if size == Polynomial.symbol(symbol)]
    return places[0] if places else ()


def _tensor(one: RequestInput, conditions: _Conditions) -> dict[str, Any]:
    """Return the schema of an input: arrays in arrays, one level for each axis."""
    if one.dims is None:
        return {"$ref": _pointer(one)}
    of_elements = [each for each in conditions.get(one.name, ()) if all(map(_is_listed, _spans_of(each)))]
    return _level(one, one.dims, 0, of_elements, conditions)


def _level(
    one: RequestInput,
    dims: Sequence[tuple[int, int]],
    axis: int,
    of_elements: Sequence[RequestCondition],
    conditions: _Conditions,
) -> dict[str, Any]:
    """Return the schema of a part of an input from an axis on, whose elements meet some conditions."""
    if axis == len(dims):
        return _element(one, of_elements)
    low, high = dims[axis]
    for least, greatest in map(_whole, conditions.get((one.name, axis), ())):
        low, high = int(max(low, least)), int(min(high, greatest))
    if low > high:
        return {"not": {}}

    def at(place: int) -> dict[str, Any]:
        here = [each for each in of_elements if all(span.axis != axis or place in range(*span[1:]) for span in _spans_of(each))]
        return _level(one, dims, axis + 1, here, conditions)

    spans = [span for each in of_elements for span in _spans_of(each) if span.axis == axis]
    listed = min(high, max((span.start if span.stop == END else span.stop for span in spans), default=0))
    schema: dict[str, Any] = {"type": "array", "minItems": low, "maxItems": high}
    if listed:
        schema["prefixItems"] = [at(place) for place in range(listed)]
    return schema | {"items": at(listed)}


def _spans_of(condition: RequestCondition) -> Sequence[AxisSlice]:
    return condition.subject.spans if isinstance(condition.subject, Elements) else ()


def _is_listed(span: AxisSlice) -> bool:
    """Return True if a schema can list the positions of a span: the first ones, and all others."""
    return 0 <= span.start <= _LISTED and (0 <= span.stop <= _LISTED or (span.stop == END and span.step == 1))


def _whole(condition: RequestCondition) -> tuple[Number, Number]:
    """Return the bounds of whole numbers that the numeric bounds of a condition leave."""
    lows = [bound for bound in condition.lows if not isinstance(bound, Polynomial)]
    highs = [bound for bound in condition.highs if not isinstance(bound, Polynomial)]
    return ceil(max(lows)) if lows else -inf, floor(min(highs)) if highs else inf


def _is_within(value: bool, condition: RequestCondition) -> bool:
    low, high = _whole(condition)
    return low <= value <= high


def _element(one: RequestInput, conditions: Sequence[RequestCondition]) -> dict[str, Any]:
    """Return the schema of one element, within the type and the numeric bounds of some conditions."""
    if one.kind == "str":
        return {"type": "string"}
    if not one.kind:
        return {}
    if one.kind == "bool":
        return {"enum": [value for value in (False, True) if all(_is_within(value, each) for each in conditions)]}
    if "float" not in one.kind:
        held = every_value(one.element_type)
        bounds = [(held.low, held.high), *map(_whole, conditions)]
        return {"type": "integer", "minimum": max(low for low, _ in bounds), "maximum": min(high for _, high in bounds)}
    lows = [bound for each in conditions for bound in each.lows if not isinstance(bound, Polynomial)]
    highs = [bound for each in conditions for bound in each.highs if not isinstance(bound, Polynomial)]
    return {"type": "number"} | ({"minimum": max(lows)} if lows else {}) | ({"maximum": min(highs)} if highs else {})


def _pointer(one: RequestInput) -> str:
    """Return the JSON pointer of the definition of an input, as a URI fragment."""
    return "#/$defs/" + quote(one.name.replace("~", "~0").replace("/", "~1"), safe="")
