"""Probes of a library: what the code of an operation does wrong, beyond values, each with a plain name.

The library is called in a worker process, so that a crash or a hang is a result. A probe whose subject was wrong already in an
earlier one is left out, so that one fault has one name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from ov_gather.crosscheck.cases.designed import designed, large, operands
from ov_gather.crosscheck.library.faults import (
    ATTRIBUTES,
    CALL,
    DEFAULTS,
    MEMORY,
    OPEN_SHAPE,
    READ,
    RETURNED,
    SHAPE,
    STATE,
    THREADS,
    TYPE,
    VALUES,
    LibraryFault,
    agree,
    difference_between,
    expected_outputs,
    expected_types,
    fault_of_call,
    fault_of_crash,
    output_types,
)
from ov_gather.crosscheck.library.variants import (
    Variant,
    of_open_shapes,
    of_types,
    omitting,
    opened,
    with_other_values,
)
from ov_gather.crosscheck.references import compute, confirm
from ov_gather.extension import lacks_operation
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.fields import OperationError
from ov_gather.ops.functions import place_of
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.spec import Attribute
from ov_gather.runtimes.base import Evaluation, RefusedError
from ov_gather.runtimes.isolated import IsolatedRuntime
from ov_gather.system.worker import CrashedError, HungError

LIMIT = 15.0
"""Seconds that a call of an operation on a few elements may take."""
REQUESTS, STREAMS, ROUNDS = 8, 4, 25
"""Requests at the same time, streams that execute them, and repetitions."""
ALONE = 4
"""Times as many repetitions one after another: a state may count the calls of earlier probes, too."""
CALLS, BATCHES = 1500, 5
LEAK = 64
"""Bytes for each call by which memory must grow, in every batch but the first, to count as a leak."""

Arrays = Sequence[NDArray[Any]]


def faults_of(view: LayerView, runtime: IsolatedRuntime[Any], seed: int, cases: int) -> list[LibraryFault]:
    """Probe the code behind a layer with defaults. Raises ValueError without valid inputs, or if the declaration is wrong."""
    return list(_Probing(view, runtime, seed, cases).run())


def _state(detail: str) -> LibraryFault:
    return LibraryFault(STATE, "keeps state between calls", detail)


class _Probing:
    def __init__(self, view: LayerView, runtime: IsolatedRuntime[Any], seed: int, cases: int) -> None:
        self._view, self._runtime, self._seed, self._cases = view, runtime, seed, cases
        self._active: LayerView | None = None

    def run(self) -> Iterator[LibraryFault]:
        for stage in (self._inference, self._open_inference, self._calls):
            if found := list(stage()):
                yield from found[:1]
                return
        for stage in (self._attributes, self._state, self._threads, self._memory):
            for fault in stage():
                yield fault
                if fault.probe == STATE:  # which later stages would meet again
                    return

    # What the node infers

    def _inference(self) -> Iterator[LibraryFault]:
        for variant in of_types(self._view):
            yield from self._compared_inference(variant, SHAPE)

    def _open_inference(self) -> Iterator[LibraryFault]:
        for variant in of_open_shapes(self._view):
            yield from self._compared_inference(variant, OPEN_SHAPE)

    def _compared_inference(self, variant: Variant, probe: str) -> Iterator[LibraryFault]:
        view, where = variant.view, f"for {variant.what}, " if variant.what else ""
        try:
            self._activate(view)
            inferred = self._ask("inferred")
        except CrashedError as error:
            yield fault_of_crash(READ, error, f"{where}when it infers shapes")
            return
        except RefusedError as error:
            wrong = "does not have the operation" if lacks_operation(error) else "refuses a valid layer"
            yield LibraryFault(READ, wrong, f"{where}{error}")
            return
        wanted = zip(view.operation.outputs, output_types(view), view.output_shapes or (), inferred, strict=True)
        for name, kind, shape, (found_kind, found_shape) in wanted:
            is_same = agree(shape, PartialShape.parse(found_shape.strip("[]")))
            if kind.name != found_kind or not is_same:
                self._check_declaration(view)
            if kind.name != found_kind:
                yield LibraryFault(TYPE, "infers a wrong element type", f"{where}{name} is {found_kind}, expected {kind}")
            elif not is_same:
                wrong = "infers a wrong open shape" if probe == OPEN_SHAPE else "infers a wrong shape"
                yield LibraryFault(probe, wrong, f"{where}{name} is {found_shape}, expected {shape}")

    def _check_declaration(self, view: LayerView) -> None:
        """Raise OperationError if the expected inference is wrong: by the reference, or by what static inputs give."""
        if all(shape.is_static for shape in view.input_shapes):
            expected_outputs(view, self._inputs(view))
            return
        operation = view.operation
        for shape, known in zip(view.output_shapes or (), self._view.output_shapes or (), strict=True):
            if known.is_static and known.sizes not in shape:
                given = [" and ".join(map(str, each.input_shapes)) for each in (view, self._view)]
                raise OperationError(
                    f"{place_of(operation.infer_shapes)}: infer_shapes of {operation.name} returns {shape} for {given[0]}, "
                    f"which does not contain what it returns for {given[1]}: {known}"
                )

    # What evaluate does

    def _calls(self) -> Iterator[LibraryFault]:
        """Yield the fault of the first call that goes wrong, of all types and designed cases."""
        for variant in of_types(self._view):
            where = f"for {variant.what}, " if variant.what else ""
            views = (variant.view, opened(variant.view))
            cases = ((each, case) for each in views for case in designed(each, self._cases, self._seed))
            for view, case in cases:
                inputs = operands(view, case.inputs)
                if fault := None if case.out_of_bounds else self._called(view, inputs, f"{where}case '{case.name}', "):
                    yield fault
                    return

    def _called(self, view: LayerView, inputs: Arrays, where: str) -> LibraryFault | None:
        """Call the operation once, and again in a new process to tell wrong values from a state that it keeps."""
        right = expected_outputs(view, inputs)
        if right is None:
            return None
        found = self._evaluate(view, inputs, right)
        fault = fault_of_call(view, right, found, where)
        if fault is None or fault.probe not in (CALL, RETURNED, VALUES) or fault.hangs:
            return fault
        confirm(view, right, compute(view, inputs, anew=True))
        again = [fault_of_call(view, right, self._evaluate(view, inputs, right, anew=True), where) for _ in range(2)]
        if all(again):
            return fault
        if not any(again):
            return _state(f"{where}right in a new process, but after other calls: {fault}")
        return LibraryFault(THREADS, "is not thread-safe", f"{where}results vary from run to run: {fault}")

    def _attributes(self) -> Iterator[LibraryFault]:
        """Yield the faults of attributes; of a state instead if a fault is gone in a new process."""
        inputs = self._inputs(self._view)
        usual = expected_outputs(self._view, inputs)
        for attribute in self._view.operation.attributes:
            name = attribute.name
            if (view := omitting(self._view, attribute)) and (wrong := self._wrong(view, inputs)):
                detail = f"without {name}, expected {name}={attribute.default}: {wrong}"
                is_state = wrong.probe == STATE
                yield wrong if is_state else LibraryFault(DEFAULTS, f"has a wrong default of {name}", detail)
            if fault := self._of_values(attribute, inputs, usual):
                yield fault

    def _of_values(self, attribute: Attribute, inputs: Arrays, usual: Arrays | None) -> LibraryFault | None:
        """Return the fault of an attribute: it is ignored if the result is the one of the usual value."""
        tried = 0
        for value, view in with_other_values(self._view, attribute):
            right = expected_outputs(view, inputs)
            if right is None or usual is None or not difference_between(view, usual, right):
                continue
            tried += 1
            if wrong := self._wrong(view, inputs):
                if wrong.probe == STATE:
                    return wrong
                text = f"{attribute.name}={value}"
                now = self._view.read_attributes()[attribute.name]
                found = self._evaluate(view, inputs, usual)
                if isinstance(found, Evaluation) and not fault_of_call(view, usual, found, ""):
                    same = f"with {text} it computes what it does with {attribute.name}={now}"
                    return LibraryFault(ATTRIBUTES, f"ignores {attribute.name}", same)
                return LibraryFault(ATTRIBUTES, f"misreads {attribute.name}", f"with {text}: {wrong}")
            if tried == 4:
                break
        return None

    def _wrong(self, view: LayerView, inputs: Arrays) -> LibraryFault | None:
        """Return how the layer is wrong; None if it is not."""
        right = expected_outputs(view, inputs)
        if right is None:
            return None
        if inference := next(self._compared_inference(Variant("", view), SHAPE), None):
            return inference
        fault = fault_of_call(view, right, self._evaluate(view, inputs, right), "")
        if fault is None or fault.hangs or fault_of_call(view, right, self._evaluate(view, inputs, right, anew=True), ""):
            return fault
        return _state(f"right in a new process, but after other calls: {fault}")

    def _state(self) -> Iterator[LibraryFault]:
        """Call with inputs A, B, A, A, B, B, A: all results must be those of the first calls."""
        feeds = [self._inputs(self._view, number) for number in (1, 2)]
        for number, which in enumerate((0, 1, 0, 0, 1, 1, 0)):
            right = expected_outputs(self._view, feeds[which])
            fault = right and fault_of_call(self._view, right, self._evaluate(self._view, feeds[which], right), "")
            if right and fault:
                confirm(self._view, right, compute(self._view, feeds[which], anew=True))
                which_call = f"call {number + 1} of inputs A, B, A, A, B, B, A"
                yield _state(f"{which_call}: {fault}")
                return

    def _threads(self) -> Iterator[LibraryFault]:
        """Execute requests with different inputs at the same time; each must compute what it does alone.

        If one does not, execute them one after another in a new process, too: what also differs there keeps a state.
        """
        view = opened(self._view)
        feeds = [large(view, self._seed + number).inputs for number in range(REQUESTS)]
        where = f"{REQUESTS} requests at the same time"
        try:
            at_once = self._changed(view, feeds, ROUNDS, STREAMS)
            alone = at_once and self._changed(view, feeds, ALONE * ROUNDS, 1, anew=True)
        except (CrashedError, RefusedError) as error:
            yield LibraryFault(THREADS, "is not thread-safe", f"{where}: it {error}", hangs=isinstance(error, HungError))
            return
        if alone:
            number, request, difference = alone
            call = REQUESTS * (number + 1) + request + 1
            yield _state(f"call {call} of {REQUESTS} inputs, one after another again and again: {difference}")
        elif at_once:
            number, request, difference = at_once
            detail = f"request {request + 1} of {where}, round {number + 1}: {difference}"
            yield LibraryFault(THREADS, "is not thread-safe", detail)

    def _changed(
        self, view: LayerView, feeds: Sequence[Arrays], rounds: int, streams: int, *, anew: bool = False
    ) -> tuple[int, int, str] | None:
        """Repeat requests. Return round, request and difference of the first whose result is another than at first."""
        self._activate(view, anew=anew)
        different = self._ask("repeated", feeds, rounds, streams, limit=4 * LIMIT)
        found = ((number, request, difference_between(view, first, now)) for number, request, first, now in different)
        return next((each for each in found if each[2]), None)

    def _memory(self) -> Iterator[LibraryFault]:
        inputs = self._inputs(self._view)
        right = expected_outputs(self._view, inputs)
        if right is None:
            return
        try:
            self._activate(self._view, anew=True)  # in memory that earlier probes freed, no growth would show
            arguments = (inputs, list(self._view.input_types), expected_types(self._view, right), CALLS, BATCHES)
            grown = self._ask("growth", *arguments, limit=4 * LIMIT)
        except (CrashedError, RefusedError) as error:
            yield LibraryFault(
                MEMORY, "fails when it is called often", f"{CALLS * BATCHES} calls of the same inputs: it {error}"
            )
            return
        if min(grown[1:]) >= LEAK * CALLS:
            each = sum(grown[1:]) / (CALLS * (BATCHES - 1))
            yield LibraryFault(MEMORY, "leaks memory", f"each call takes {each:,.0f} bytes that are not given back; expected 0")

    # The worker

    def _inputs(self, view: LayerView, number: int = 0) -> list[NDArray[Any]]:
        """Return ordinary numbers for all inputs."""
        return operands(view, next(iter(designed(view, 1, self._seed + number))).inputs)

    def _activate(self, view: LayerView, *, anew: bool = False) -> None:
        if anew:
            self._runtime.stop()
        if self._active is not view or anew:
            self._active = None
            self._runtime.activate(view.graph)
            self._active = view

    def _ask(self, method: str, *arguments: object, limit: float = 0) -> Any:
        try:
            return self._runtime.ask(method, *arguments, limit=limit or LIMIT)
        except CrashedError:
            self._active = None
            raise

    def _evaluate(self, view: LayerView, inputs: Arrays, right: Arrays, *, anew: bool = False) -> Evaluation | Exception:
        try:
            self._activate(view, anew=anew)
            found: Evaluation = self._ask("evaluate", inputs, list(view.input_types), expected_types(view, right))
        except (CrashedError, RefusedError) as error:
            return error
        return found
