"""Guards as C++17 headers that need the standard library alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce
from importlib.resources import files
from math import ceil, floor, inf

from ov_gather.graph.symbols import InputDim, shown_name
from ov_gather.guards.written import Language, WrittenModel, head, identifiers
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.requests import RequestCondition, RequestInput, RequestTerms
from ov_gather.ranges.terms import Size
from ov_gather.system.tables import printable

_TYPES = {
    **{f"{sign}int{bits}": f"std::{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{
        "bool": "std::uint8_t",
        "float16": "std::uint16_t",
        "bfloat16": "std::uint16_t",
        "float32": "float",
        "float64": "double",
    },
}
_READERS = {"float16": "f16", "bfloat16": "bf16"}
_MOST = 2**63 - 2
"""Largest bound of an integer; beyond are the marks for no bound."""


def render(terms: RequestTerms, model: WrittenModel, namespace: str) -> str:
    """Return the text of the header, with all its names in a namespace. Fields end in "_", as no keyword or macro does."""
    names = {name: f"{plain}_" for name, plain in identifiers([one.name for one in terms.inputs]).items()}
    comments = "\n".join(f"// {_ascii(line)}".rstrip() for line in head(terms, model))
    fields = "\n".join(f"    Input<{_type(one)}> {names[one.name]};  // {_literal(one.name)}" for one in terms.inputs)
    helpers = files("ov_gather.guards").joinpath("cpp_helpers.hpp").read_text(encoding="utf-8")
    return f"""{comments}
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace {namespace} {{

constexpr const char* fingerprint = "{terms.fingerprint}";

{helpers}
struct Request {{
{fields}
}};

// Throw std::invalid_argument unless a request keeps the indices of the model in bounds.
inline void check(const Request& request) {{
    (void)request;
{chr(10).join(f"    {line}" for line in _check(terms, names))}
}}

}}  // namespace {namespace}
"""


def _type(one: RequestInput) -> str:
    return _TYPES.get(one.kind, "void")


def _check(terms: RequestTerms, names: dict[str, str]) -> Iterator[str]:
    """Yield the statements of the function `check`."""
    integers = Language(
        dim=lambda name, axis: f"request.{names[name]}.shape[{axis}]",
        number=_integer,
        times=lambda factors: reduce(lambda one, other: f"times({one}, {other})", factors),
        join=lambda function, texts: f"std::{function}<std::int64_t>({{{', '.join(texts)}}})",
    )
    floats = Language(
        dim=lambda name, axis: f"static_cast<double>(request.{names[name]}.shape[{axis}])",
        number=_float,
        times=" * ".join,
        join=lambda function, texts: f"std::{function}<double>({{{', '.join(texts)}}})",
    )
    kinds = {one.name: one.kind for one in terms.inputs}
    for one in terms.inputs:
        field, sizes = f"request.{names[one.name]}", "nullptr"
        if one.dims is not None:
            sizes = f"&sizes_of_{names[one.name]}"
            pairs = ", ".join(f"{{{low}, {high}}}" for low, high in one.dims)
            yield f"const std::vector<Sizes> sizes_of_{names[one.name]} = {{{pairs}}};"
        yield f"check_shape({_literal(one.name)}, {field}.data, {field}.shape, {sizes});"
    for (name, axis), *others in terms.places.values():
        for other, at in others:
            one_text, other_text = _literal(str(InputDim(name, axis))), _literal(str(InputDim(other, at)))
            yield f"check_equal({one_text}, {integers.dim(name, axis)}, {other_text}, {integers.dim(other, at)});"
    for condition in terms.conditions:
        subject, why = condition.subject, _literal(condition.reason)
        if isinstance(subject, Polynomial):
            low, high = integers.bounds(*_whole(condition), terms)
            yield f"check_size({_literal(str(subject))}, {integers.size(subject, terms)}, {low}, {high}, {why});"
        elif kinds[subject.input] not in _TYPES:
            yield f"// This header cannot check: {_literal(str(condition))}"
        else:
            kind = kinds[subject.input]
            is_float = "float" in kind
            low, high = (
                floats.bounds(condition.lows, condition.highs, terms)
                if is_float
                else integers.bounds(*_whole(condition), terms)
            )
            read = _READERS.get(kind, f"same<{_TYPES[kind]}>")
            bound = "double" if is_float else "std::int64_t"
            spans = ", ".join(f"{{{span.axis}, {span.start}, {_integer(span.stop)}, {span.step}}}" for span in subject.spans)
            given = f"{_literal(shown_name(subject.input))}, request.{names[subject.input]}"
            yield f"check_elements<{bound}>({given}, {read}, {low}, {high}, {why}, {{{spans}}});"


def _whole(condition: RequestCondition) -> tuple[list[Size], list[Size]]:
    """Round the bounds of integers to integers."""
    lows: list[Size] = [low if isinstance(low, Polynomial) else ceil(low) for low in condition.lows]
    return lows, [high if isinstance(high, Polynomial) else floor(high) for high in condition.highs]


def _integer(number: Number) -> str:
    if number in (inf, -inf):
        return "none_above" if number > 0 else "none_below"
    return str(max(-_MOST, min(int(number), _MOST)))


def _float(number: Number) -> str:
    return f"{'-' if number < 0 else ''}infinity" if number in (inf, -inf) else repr(float(number))


def _literal(text: str) -> str:
    """Return a string literal of C++ in ASCII; other bytes of UTF-8 are octal escapes."""
    plain = printable(text).encode("utf-8", "backslashreplace")
    return '"' + "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}" for byte in plain) + '"'


def _ascii(line: str) -> str:
    """Return a line of a comment, which no trigraph and no backslash at its end continues."""
    plain = line.encode("ascii", "backslashreplace").decode()
    return re.sub(r"\?\?(?=/)", "? ?", plain) + ("." if plain.endswith("\\") else "")
