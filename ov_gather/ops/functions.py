"""The functions of a declaration, wrapped: what they raise and return is checked, and named as the fault of the declaration.

They are code of a user. An error of theirs must not be mistaken for a fault of a library, or of this package, and what they
print must not get into reports on standard output.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from functools import partial, wraps
from inspect import unwrap
from typing import Any

from ov_gather.ir.element_types import DYNAMIC, ElementType, by_dtype
from ov_gather.ir.shapes import MAX_DIMENSION, Dimension, PartialShape
from ov_gather.ops.attribute import Attribute
from ov_gather.ops.fields import OperationError, holds, is_integer, is_list, is_range, shown
from ov_gather.ops.index_rule import AttributeSize, AxisSize, CoordinateSizes, IndexRule
from ov_gather.ops.spec import Arrays, Attributes, Operation, ShapeError, TypeRuleError
from ov_gather.system import supervision
from ov_gather.system.interrupts import is_interruption
from ov_gather.system.tables import shortened


@dataclass(frozen=True, slots=True)
class _Function:
    """What a function of a declaration may raise, and must return.

    Attributes:
        returns: for people; "" if the result is not used.
        is_right: from the result and the operation.
        is_repeated: whether each call is done twice, and must have the same result.
        fits: from the result and the arguments.
    """

    returns: str = ""
    is_right: Callable[[Any, Operation], bool] = lambda found, operation: True
    may_raise: tuple[type[Exception], ...] = ()
    is_repeated: bool = False
    fits: Callable[[Any, Sequence[Any]], bool] = lambda found, arguments: True


def _is_dimension(value: Any) -> bool:
    if not isinstance(value, Dimension) or not is_integer(value.lower):
        return False
    if not 0 <= value.lower <= MAX_DIMENSION:
        return False
    return value.upper is None or (is_integer(value.upper) and value.lower <= value.upper <= MAX_DIMENSION)


def _is_shape(value: Any) -> bool:
    return isinstance(value, PartialShape) and (
        value.dims is None or (isinstance(value.dims, tuple) and all(map(_is_dimension, value.dims)))
    )


def _is_size(value: Any) -> bool:
    return is_integer(value) and value >= 0


FUNCTIONS: Mapping[str, _Function] = {
    "infer_types": _Function(
        "an ElementType, or None if it is unknown, for each output, in a list",
        lambda found, operation: is_list(
            found, lambda kind: kind is None or isinstance(kind, ElementType), len(operation.outputs)
        ),
        (TypeRuleError,),
        is_repeated=True,
    ),
    "infer_shapes": _Function(
        "a PartialShape for each output, in a list; PartialShape.of makes one of integers, else its dims are Dimensions, "
        "from 0 to 2^63-1",
        lambda found, operation: is_list(found, _is_shape, len(operation.outputs)),
        (ShapeError,),
        is_repeated=True,
    ),
    "restrict": _Function(may_raise=(ShapeError,)),
    "choose_sizes": _Function(
        "a tuple of sizes, integers from 0 on, for each input, in a list",
        lambda found, operation: is_list(found, lambda sizes: is_list(sizes, _is_size), len(operation.inputs)),
        (ShapeError, IndexError),
    ),
    "adds_up": _Function("True or False", lambda found, operation: isinstance(found, bool)),
    "reference": _Function(
        "an array for each output, in a list",
        lambda found, operation: is_list(found, lambda array: True, len(operation.outputs)),
    ),
    "custom_version": _Function(
        "None, or a type and attributes",
        lambda found, operation: found is None or (is_list(found, lambda part: True, 2) and isinstance(found[1], Mapping)),
    ),
    "valid_range": _Function(
        "None, or two numbers: the lowest, and the highest, in this order",
        lambda found, operation: found is None or is_range(found),
        is_repeated=True,
    ),
    "sizes": _Function(
        "None, or a tuple of sizes, integers from 0 on",
        lambda found, operation: found is None or (is_list(found, _is_size) and bool(found)),
        is_repeated=True,
    ),
    "lowest_specified": _Function(
        "0, or -size if negative indices count from the end; an array if the size is one",
        lambda found, operation: is_integer(found) or found.dtype.kind in "iu",
        fits=lambda found, sizes: (
            bool(((found == 0) | (found == -sizes[0])).all()) if hasattr(found, "all") else found in (0, -sizes[0])
        ),
    ),
    "zero_fill": _Function("True or False", lambda found, operation: isinstance(found, bool)),
}
"""For each field that is a function, what is required of it."""


def checked(operation: Operation, name: str) -> Operation:
    """Return an operation whose functions are checked: they raise OperationError for what is the fault of the declaration.

    `name` says where the declaration is, for a function without a line.
    """

    def of(field: str, own: Callable[..., Any], *, label: str = "") -> Callable[..., Any]:
        spec = FUNCTIONS["reference" if field == "evaluate" else field]
        subject = f"{label or field} of {operation.name}"
        may_raise = (IndexError,) if spec is FUNCTIONS["reference"] and operation.index_rule else spec.may_raise

        @wraps(own, updated=())
        def call(*arguments: Any) -> Any:
            place = place_of(own) or name
            with running(subject, place, may_raise, len(operation.inputs), is_limited=spec is not FUNCTIONS["reference"]):
                found = own(*arguments)
                if not (holds(partial(spec.is_right, found, operation)) and holds(partial(spec.fits, found, arguments))):
                    raise OperationError(f"{place}: {subject} returns {shown(found)}: it must return {spec.returns}")
                if spec.is_repeated and not holds(lambda: own(*arguments) == found):
                    raise OperationError(
                        f"{place}: {subject} returns {shown(found)}, and something else for the same arguments: "
                        "it must depend on them alone, and not change them"
                    )
                return tuple(found) if isinstance(found, list) else found

        return call

    def computing(field: str, own: Callable[..., Any]) -> Callable[[Arrays, Attributes], Arrays]:
        compute = of(field, own)

        @wraps(own, updated=())
        def call(inputs: Arrays, attributes: Attributes) -> Arrays:
            import numpy as np

            with np.errstate(all="ignore"):
                found = compute([array.copy() for array in inputs], attributes)  # it may change what it is given
            outputs, wrong = _as_inferred(wrapped, inputs, attributes, found)
            if wrong:
                raise OperationError(f"{place_of(own) or name}: {field} of {operation.name} returns {wrong}")
            return outputs

        return call

    rules = ("infer_types", "infer_shapes", "restrict", "choose_sizes", "adds_up", "custom_version")
    changes: dict[str, Any] = {field: of(field, getattr(operation, field)) for field in rules}
    changes["attributes"] = tuple(_with_range(attribute, of) for attribute in operation.attributes)
    changes["inputs"] = tuple(
        replace(given, attribute=given.attribute and _with_range(given.attribute, of)) for given in operation.inputs
    )
    changes["index_rule"] = operation.index_rule and _with_checks(operation.index_rule, of)
    wrapped = replace(operation, **changes)
    computed = {field: getattr(operation, field) for field in ("reference", "evaluate") if getattr(operation, field)}
    results: dict[str, Any] = {field: computing(field, own) for field, own in computed.items()}
    return replace(wrapped, **results)


def _with_range(attribute: Attribute, of: Callable[..., Any]) -> Attribute:
    own = attribute.valid_range
    return (
        replace(attribute, valid_range=of("valid_range", own, label=f"valid_range of {attribute.name}"))
        if callable(own)
        else attribute
    )


def _with_checks(rule: IndexRule, of: Callable[..., Any]) -> IndexRule:
    known = isinstance(rule.sizes, AxisSize | CoordinateSizes | AttributeSize)
    fields = ("lowest_specified", "zero_fill", *(() if known else ("sizes",)))
    return replace(rule, **{field: of(field, getattr(rule, field)) for field in fields})


def _as_inferred(operation: Operation, inputs: Arrays, attributes: Attributes, found: Sequence[Any]) -> tuple[Arrays, str]:
    """Return results as arrays; or what is wrong with one: its shape or type is not the inferred one."""
    import numpy as np

    shapes = operation.infer_shapes([PartialShape.of(array.shape) for array in inputs], attributes)
    types = operation.infer_types([by_dtype(array.dtype) for array in inputs])
    outputs = []
    for name, output, shape, kind in zip(operation.outputs, found, shapes, types, strict=True):
        if not isinstance(output, np.ndarray | np.generic):
            return (), f"{shown(output)} as {name}: it must be an array"
        array = np.asarray(output)  # a subclass may compute its shape
        if array.shape not in shape:
            return (), f"{name} of shape {list(array.shape)}: infer_shapes says {shape}"
        if kind not in (None, DYNAMIC) and by_dtype(array.dtype) != kind:
            return (), f"{name} of type {array.dtype}: infer_types says {kind}"
        outputs.append(array)
    return outputs, ""


@contextmanager
def running(
    subject: str,
    place: str,
    may_raise: tuple[type[Exception], ...] = (),
    inputs: int = 0,
    *,
    is_limited: bool = True,
) -> Iterator[None]:
    """Run code of a user: what it raises becomes an OperationError that names `subject`, and what it prints goes to stderr.

    Args:
        subject: what the code is, such as "reference of Snake-example"; "" for a whole file.
        place: its file, or its file and line.
        may_raise: errors that are results.
        inputs: the number of inputs; an error of a rule names one of them.
        is_limited: whether the code hangs if it takes longer than `supervision.LIMIT`.
    """
    process, directory = os.getpid(), _directory()
    try:
        with (
            supervision.running(f"{place}: {subject}" if subject else place, is_limited=is_limited),
            redirect_stdout(sys.stderr),
        ):
            yield
    except may_raise as error:
        if wrong := _wrong_error(error, inputs):
            raise OperationError(f"{_line(error, place)}: {subject} raises {wrong}") from error
        raise
    except OperationError as error:
        raise OperationError(str(error) if subject else f"{_line(error, place)}: {error}") from None
    except BaseException as error:  # code of a user raises anything
        if is_interruption(error):
            raise
        what = error.msg if isinstance(error, SyntaxError) and error.filename == place else shortened(_text(error))
        named = f"{type(error).__name__}: {what}" if what else type(error).__name__
        allowed = f"; it may raise {' or '.join(kind.__name__ for kind in may_raise)}" if may_raise else ""
        raise OperationError(f"{_line(error, place)}: {f'{subject} raises ' if subject else ''}{named}{allowed}") from error
    finally:
        if os.getpid() != process:  # the code has forked: only the process that called it goes on
            os._exit(0)
        if directory and _directory() != directory:  # relative paths mean what they meant before
            os.chdir(directory)


def _directory() -> str:
    """Return the current directory; "" if it was removed."""
    with suppress(OSError):
        return os.getcwd()  # noqa: PTH109 - pathlib takes twice as long, and each rule asks
    return ""


def _wrong_error(error: Exception, inputs: int) -> str:
    """Return what is wrong with the fields of an error that a rule raised; "" if they are right."""
    if not isinstance(error, ShapeError | TypeRuleError):
        return ""
    if isinstance(error.reason, str) and isinstance(error.hint, str) and error.port in range(inputs):
        return ""
    given = ", ".join(map(shown, (error.reason, error.hint, error.port)))
    return f"{type(error).__name__}({given}): give reason and hint as texts, and the position of the input"


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except (Exception, SystemExit):  # its __str__ is code of the user
        return ""


def _line(error: BaseException, place: str) -> str:
    """Return the last line of a file on the way of an error, such as "my_ops.py:7"; `place` if there is none."""
    file = place.rpartition(":")[0] if place.rpartition(":")[2].isdecimal() else place
    if isinstance(error, SyntaxError) and error.filename == file:
        return f"{file}:{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{file}:{lines[-1]}" if lines else place


def place_of(function: Any) -> str:
    """Return the file and line where a function is defined; "" if it has none, such as a built-in one."""
    try:
        while isinstance(function, partial):
            function = function.func
        function = unwrap(function)
        code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
        return f"{code.co_filename}:{code.co_firstlineno}" if code else ""
    except (Exception, SystemExit):  # it wraps itself, or its attributes are code of the user
        return ""
