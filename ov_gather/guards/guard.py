"""`ov_gather.guard`: a check of requests that keeps the indices of a model in bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from ov_gather.graph.symbols import InputDim, Symbol
from ov_gather.guards.checks import array_of, check_equal, check_names, check_size
from ov_gather.guards.limits import InputLimits, bounds_of, size_of
from ov_gather.ir.reader import Source, WeightsSource
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.symbols import Elements
from ov_gather.ranges.prove import Limits, graph_of, prove_in
from ov_gather.ranges.requests import RequestCondition, RequestTerms, Uncovered, request_terms
from ov_gather.system.tables import counted, one_line, printable


def guard(source: Source, *, weights: WeightsSource = None, assume: Mapping[str, Limits] | None = None) -> Guard:
    """Prove which requests keep every gather and scatter of a model in bounds, and return a check of requests.

    Args:
        source: an IR as `read_ir` takes it, or an `openvino.Model` that is not compiled.
        weights: path or bytes of the .bin, if it is not beside the .xml.
        assume: bounds of inputs and open dimensions, as in `prove`. The guard checks them, too.

    Returns:
        The guard: call it with a feed before the model runs.

    Raises:
        IRError: the IR cannot be read.
        TypeError, ValueError: `assume` is wrong, see `prove`.
        ValueError: two inputs have the same name.
    """
    graph = graph_of(source, weights)
    return Guard(request_terms(graph, prove_in(graph, assume=assume), assume))


class Guard:
    """A check of requests: a request that it lets pass breaks no gather or scatter except those in `uncovered`.

    Attributes:
            terms: the conditions, and the inputs with types and shapes.
    """

    def __init__(self, terms: RequestTerms) -> None:
        self.terms = terms
        self._names = [one.name for one in terms.inputs]
        self._kinds = {one.name: one.kind for one in terms.inputs}
        self._dims = {one.name: one.dims for one in terms.inputs}
        self._of_sizes = [one for one in terms.conditions if isinstance(one.subject, Polynomial)]
        of_elements: dict[Elements, list[RequestCondition]] = {}
        for condition in terms.conditions:
            if isinstance(condition.subject, Elements):
                of_elements.setdefault(condition.subject, []).append(condition)
        types = {one.name: one.element_type for one in terms.inputs}
        self._of_elements = [
            InputLimits(elements, conditions, element_type.dtype)
            for elements, conditions in of_elements.items()
            if (element_type := types[elements.input]) is not None
        ]

    @property
    def conditions(self) -> tuple[RequestCondition, ...]:
        """What requests must satisfy; `str` of each is text such as "ids in -1000..999"."""
        return self.terms.conditions

    @property
    def uncovered(self) -> tuple[Uncovered, ...]:
        """The gathers and scatters for which no condition is known, each with the reason.

        `harden(model, guarded=True)` makes them safe.
        """
        return self.terms.uncovered

    @property
    def fingerprint(self) -> str:
        """A digest of the inputs, of each proof, and of what was assumed: the same for models that need the same guard."""
        return self.terms.fingerprint

    def __call__(self, feed: Mapping[str, Any]) -> None:
        """Check a request.

        Args:
            feed: by name, an array or a tensor of PyTorch or OpenVINO for each input, with any strides, and with the declared
                type and shape.

        Raises:
            ValueError: an input is missing, unknown, or of another type or shape, or a condition is broken. The message names
                the input, the position, the value, the valid range, and the layer that needs it.
        """
        check_names(feed, self._names)
        arrays = {name: array_of(name, feed[name], self._kinds[name], self._dims[name]) for name in self._names}
        sizes = self._sizes(arrays)
        for condition in self._of_sizes:
            assert isinstance(condition.subject, Polynomial)
            size, bounds = size_of(condition.subject, sizes), bounds_of(condition, sizes)
            check_size(printable(str(condition.subject)), size, *bounds, printable(condition.reason))
        for limits in self._of_elements:
            limits.check(arrays[limits.name], sizes)

    def _sizes(self, arrays: Mapping[str, NDArray[Any]]) -> dict[Symbol, int]:
        """Return the size of each open dimension. Raises ValueError if two inputs that share one differ."""
        found: dict[Symbol, int] = {}
        for dim, ((name, axis), *others) in self.terms.places.items():
            found[dim] = size = arrays[name].shape[axis]
            for other, at in others:
                one, two = printable(str(InputDim(name, axis))), printable(str(InputDim(other, at)))
                check_equal(one, size, two, arrays[other].shape[at])
        return found

    def check_model(self, source: Source, *, weights: WeightsSource = None, assume: Mapping[str, Limits] | None = None) -> None:
        """Raise ValueError if a model needs another guard: its inputs, a proof, or `assume` differ."""
        other = guard(source, weights=weights, assume=assume)
        if other.fingerprint != self.fingerprint:
            raise ValueError(f"this guard was made for another model: fingerprint {self.fingerprint}, not {other.fingerprint}")

    def __repr__(self) -> str:
        parts = [counted(len(self._names), "input"), counted(len(self.conditions), "condition")]
        parts += [f"{counted(len(self.uncovered), 'site')} uncovered", self.fingerprint]
        return one_line(self, ", ".join(parts))
