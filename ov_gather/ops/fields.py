"""What the fields of a declaration may hold, in one table: of attributes, inputs, index rules and operations, ours and users'.

A class of declarations calls `check` on itself when it is made, so that the traceback of an error has the line of the
declaration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

from ov_gather.ir.element_types import DYNAMIC, ELEMENT_TYPES, INTEGERS
from ov_gather.ir.location import Location

_NAME = re.compile(r"\w[\w.:-]*")
"""What XML, file names and reports take as it is."""
_XML_NAME = re.compile(r"(?!xml)[^\W\d][\w.-]*")
_WORDS = re.compile(r"[a-z0-9_.-]+(\|[a-z0-9_.-]+)+")
KINDS: Mapping[str, tuple[type, ...]] = {"int": (int,), "bool": (bool,), "float": (float, int), "str": (str,)}
"""The Python types of the values of each kind of attribute that is no list and no choice of words."""


class OperationError(ValueError):
    """A declaration of an operation is wrong. The message says where, which field or function, and what would be right.

    Attributes:
        location: the layer of a document that shows it, if it is known.
    """

    location: Location | None = None


@dataclass(frozen=True, slots=True)
class _Field:
    is_right: Callable[[Any], bool]
    right: str


def shown(value: object) -> str:
    """Return a value of a user for a message, in at most 60 characters."""
    try:
        text = repr(value)
    except (Exception, SystemExit) as error:  # its __repr__ is code of the user
        return f"a {type(value).__name__} whose repr raises {type(error).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def holds(test: Callable[[], bool]) -> bool:
    """Return True if a test of a value of a user holds; it does not if it raises, as an odd object may when it is compared."""
    try:
        return bool(test())
    except (Exception, SystemExit):
        return False


def is_list(value: Any, is_element: Callable[[Any], bool], count: int | None = None) -> bool:
    """Return True if a value is a list or tuple of such elements, and as many as `count` says."""
    return isinstance(value, tuple | list) and count in (None, len(value)) and all(map(is_element, value))


def is_integer(value: Any) -> bool:
    """Return True for a Python integer that is no boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_range(value: Any) -> bool:
    """Return True for a pair of numbers, the first of them not greater than the second; no comparison with NaN holds."""
    is_end = is_list(value, lambda end: isinstance(end, float) or (is_integer(end) and -(2**63) <= end < 2**64), 2)
    return is_end and value[0] <= value[1]


def is_of_kind(value: Any, kind: str) -> bool:
    """Return True if a value is one of this kind of attribute; NaN is of none."""
    if kind in ("ints", "floats"):
        return isinstance(value, tuple) and all(is_of_kind(number, kind[:-1]) for number in value)
    if kind in KINDS:
        return isinstance(value, KINDS[kind]) and (kind == "bool") == isinstance(value, bool) and value == value
    return isinstance(value, str) and value in kind.split("|")


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _is_kind(value: Any) -> bool:
    return isinstance(value, str) and (value in (*KINDS, "ints", "floats") or _WORDS.fullmatch(value) is not None)


def _is_bound(value: Any) -> bool:
    return (is_integer(value) or isinstance(value, float)) and isfinite(value) and value >= 0


def _is_tolerance(value: Any) -> bool:
    if isinstance(value, Mapping):
        return {*value} <= {kind.name for kind in ELEMENT_TYPES} and all(map(_is_bound, value.values()))
    return _is_bound(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and (not value or value.isprintable())


_NAMED = _Field(_is_name, "give a word of letters, digits and _, such as 'axis'")
_OR_NOTHING = _Field(lambda value: value == "" or _is_name(value), 'give the name of an attribute, or ""')
_OF_XML = _Field(
    lambda value: isinstance(value, str) and _XML_NAME.fullmatch(value) is not None,
    "give a name that XML takes: a letter, then letters, digits and _, such as 'axis'",
)
_TEXT = _Field(_is_text, "give one line of text")
_PORT = _Field(lambda value: is_integer(value) and value >= 0, "give the position of an input, from 0 on")
_TOLERANCE = _Field(
    _is_tolerance, 'give a finite number from 0 on, or one for each element type, such as {"f16": 1e-3, "f32": 1e-6}'
)


def _a(name: str) -> Callable[[Any], bool]:
    """Return a test for a class of declarations: by its name, as those classes import this module."""
    return lambda value: any(base.__name__ == name for base in type(value).__mro__)


def _list(name: str, what: str, *, empty: bool = False) -> _Field:
    return _Field(lambda value: is_list(value, _a(name)) and (empty or bool(value)), f"give a list of {what}")


def _names(example: str) -> _Field:
    return _Field(lambda value: bool(value) and is_list(value, _is_name), f"give a list of words, such as {example}")


def _function(what: str) -> _Field:
    return _Field(callable, f"give a function of {what}")


def _or_none(field: _Field) -> _Field:
    return _Field(lambda value: value is None or field.is_right(value), f"{field.right}, or None")


FIELDS: Mapping[str, Mapping[str, _Field]] = {
    "Attribute": {
        "name": _OF_XML,
        "kind": _Field(
            _is_kind, f'give one of {", ".join(KINDS)}, ints, floats, or words in lower case such as "linear|nearest"'
        ),
        "required": _Field(lambda value: isinstance(value, bool), "give True or False"),
        "valid_range": _Field(
            lambda value: value is None or callable(value) or is_range(value),
            "give (lowest, highest), two numbers in this order, or a function of the input shapes that returns them",
        ),
        "examples": _Field(lambda value: isinstance(value, tuple | list), "give a list of values"),
    },
    "Input": {
        "name": _NAMED,
        "element_types": _or_none(_list("ElementType", "one or more element types")),
        "assumed": _Field(_a("ElementType"), "give an element type"),
        "attribute": _or_none(_Field(_a("Attribute"), "give an Attribute")),
    },
    "AxisSize": {
        "axis": _Field(
            lambda value: is_integer(value) or _is_name(value), "give the number of the axis, or the attribute that holds it"
        ),
        "data": _PORT,
    },
    "CoordinateSizes": {"port": _PORT, "batch_dims": _OR_NOTHING, "data": _PORT},
    "AttributeSize": {"attribute": _NAMED},
    "IndexRule": {
        "port": _PORT,
        "sizes": _function("the input shapes and the attributes"),
        "specified": _TEXT,
        "lowest_specified": _function("the size"),
        "negative": _TEXT,
        "zero_fill": _function("the attributes"),
    },
    "Operation": {
        "type": _NAMED,
        "opsets": _names('("example",)'),
        "name": _NAMED,
        "attributes": _list("Attribute", "Attributes", empty=True),
        "inputs": _list("Input", "one or more Inputs"),
        "outputs": _names('["output"]'),
        "infer_types": _function("the input types"),
        "infer_shapes": _function("the input shapes and the attributes"),
        "reference": _function("the input arrays and the attributes"),
        "atol": _TOLERANCE,
        "rtol": _TOLERANCE,
        "restrict": _function("the input shapes and the attributes"),
        "index_rule": _or_none(_Field(_a("IndexRule"), "give an IndexRule")),
        "choose_sizes": _function("the input shapes, the attributes and a size"),
        "adds_up": _function("the attributes, such as lambda attributes: True"),
        "evaluate": _or_none(_function("the input arrays and the attributes")),
        "custom_version": _function("the attributes"),
    },
}
"""For each class of declarations, the fields with what they may hold."""


def _kind(value: object) -> str:
    """Return the name of the class of declarations that a value is of; "" if it is of none."""
    return next((base.__name__ for base in type(value).__mro__ if base.__name__ in FIELDS), "")


def check(declaration: Any) -> None:
    """Raise OperationError for the first field of a declaration that is wrong, alone or beside others."""
    kind = _kind(declaration)
    name = getattr(declaration, "name", "")
    subject = kind if not _is_name(name) else name if kind == "Operation" else f"{kind.lower()} {name}"
    for field, may in FIELDS[kind].items():
        value = getattr(declaration, field)
        if not holds(partial(may.is_right, value)):
            raise OperationError(f"{subject}: {field} is {shown(value)}: {may.right}")
    for field, problem, right in _TOGETHER.get(kind, lambda _: ())(declaration):
        raise OperationError(f"{subject}: {field} {problem}: {right}")


Problems = Iterator[tuple[str, str, str]]
"""The field, what is wrong with it, and what would be right."""


def _of_attribute(attribute: Any) -> Problems:
    limits = None if callable(attribute.valid_range) else attribute.valid_range
    if limits and attribute.kind not in ("int", "float", "ints", "floats"):
        yield "valid_range", f"is {limits}", f"numbers have a range, and the kind is {attribute.kind!r}"
    given = [("default", attribute.default)] if attribute.default is not None else []
    for field, value in (*given, *(("examples", example) for example in attribute.examples)):
        verb = "is" if field == "default" else "has"
        if not is_of_kind(value, attribute.kind):
            tuples = ", a tuple such as (1, 2)" if attribute.kind in ("ints", "floats") else ""
            yield field, f"{verb} {shown(value)}", f"give values of kind {attribute.kind!r}{tuples}"
        elif limits and attribute.exceeds(value, ()):
            yield field, f"{verb} {shown(value)}", f"valid_range is {limits[0]} to {limits[1]}"


def _of_input(given: Any) -> Problems:
    if given.attribute and given.attribute.kind != "int":
        yield "attribute", f"is of kind {given.attribute.kind!r}", "an input acts as an attribute of kind 'int' only"


def _of_operation(operation: Any) -> Problems:
    inputs, attributes = operation.inputs, {attribute.name: attribute.kind for attribute in operation.attributes}
    names = [*(given.name for given in inputs), *(attribute.name for attribute in operation.attributes)]
    for field, named in (("inputs", names), ("outputs", list(operation.outputs)), ("opsets", list(operation.opsets))):
        if twice := [name for name in named if named.count(name) > 1]:
            what = "inputs or attributes" if field == "inputs" else field
            yield field, f"has {twice[0]!r} twice", f"give {what} different names"
    rule = operation.index_rule
    if rule is None:
        return
    sizes = rule.sizes
    for field, port in (("port", rule.port), ("data", getattr(sizes, "data", 0)), ("sizes.port", getattr(sizes, "port", 0))):
        if is_integer(port) and port >= len(inputs):
            yield "index_rule", f"has {field} {port}", f"the inputs are 0 to {len(inputs) - 1}"
    if _kind(sizes) == "CoordinateSizes" and sizes.port != rule.port:
        yield "index_rule", f"has sizes.port {sizes.port} and port {rule.port}", "both are the input that holds the tuples"
    holder = inputs[rule.port]
    if holder.element_types is None or not set(holder.element_types) <= {*INTEGERS, DYNAMIC}:
        kinds = ", ".join(map(str, holder.element_types)) if holder.element_types else "any type"
        yield (
            "index_rule",
            f"is for input {holder.name} of {kinds}",
            'indices are integers: give it types such as ("i32", "i64")',
        )
    of_inputs = [given.attribute.name for given in inputs if given.attribute]
    wanted = {"AxisSize": "axis", "CoordinateSizes": "batch_dims", "AttributeSize": "attribute"}.get(_kind(sizes), "")
    called = getattr(sizes, wanted) if wanted else ""
    may = [name for name, kind in attributes.items() if kind == "int"] + (of_inputs if wanted == "axis" else [])
    if isinstance(called, str) and called and called not in may:
        yield "index_rule", f"has {wanted} {called!r}", f"the attributes of kind 'int' are {', '.join(may) or 'none'}"


_TOGETHER: Mapping[str, Callable[[Any], Problems]] = {
    "Attribute": _of_attribute,
    "Input": _of_input,
    "Operation": _of_operation,
}
"""What must hold between the fields of one declaration."""
