"""What requests to a model must satisfy so that its conditional sites are in bounds: `Proof.requires` as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from ov_gather.graph.symbols import OfInputs, Symbol
from ov_gather.ir.element_types import DYNAMIC, STRING, ElementType
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.symbols import Elements
from ov_gather.ranges.analysis import LARGEST_DIM
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.proof import Proof, Status
from ov_gather.ranges.prove import assumption
from ov_gather.ranges.terms import Condition, Size, Subject, conditions_of
from ov_gather.system.tables import counted

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
    """A condition on requests.

    Attributes:
        condition: what must hold.
        needed_by: the layers that need it, as "Gather 'name'".
    """

    condition: Condition
    needed_by: tuple[str, ...]

    @property
    def subject(self) -> Subject:
        """Elements of an input, or a polynomial of sizes."""
        return self.condition.subject

    @property
    def lows(self) -> tuple[Size, ...]:
        """Lower bounds that all hold."""
        return self.condition.lows

    @property
    def highs(self) -> tuple[Size, ...]:
        """Upper bounds that all hold."""
        return self.condition.highs

    @property
    def is_constant(self) -> bool:
        """Return True if no bound depends on sizes."""
        return not any(isinstance(bound, Polynomial) for bound in (*self.lows, *self.highs))

    @property
    def reason(self) -> str:
        """What needs the condition, for people."""
        first, *others = self.needed_by
        if first == ASSUMED:
            return f"it was assumed that {self}"
        more = f" and {counted(len(others), 'other')}" if others else ""
        return f"{first}{more} need{'' if others else 's'} {self}"

    def __str__(self) -> str:
        return str(self.condition)


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
    places: Mapping[Symbol, tuple[tuple[str, int], ...]]
    fingerprint: str


def request_terms(
    graph: AnalysedGraph, proofs: Sequence[Proof], assume: Mapping[str, tuple[Number | None, Number | None]] | None = None
) -> RequestTerms:
    """Return what the proofs of a graph need of requests; they hold under the bounds `assume`, which become conditions, too.

    Raises ValueError if two inputs have the same name, or a request cannot be checked for a bound of `assume`.
    """
    check_unique_inputs(graph)
    found: dict[Condition, list[str]] = {}
    uncovered = []
    for proof in proofs:
        if proof.status == "conditional" and _is_checkable(graph, proof.conditions):
            _add(found, proof.conditions, _layer(proof))
        elif proof.status != "proved":
            uncovered.append(Uncovered(proof.layer, proof.type, proof.status, proof.reason))
    assumed = conditions_of(assumption(graph, assume or {}))
    if not _is_checkable(graph, assumed):
        raise ValueError(f"assume: the elements or sizes of {', '.join(assume or {})} cannot be checked on a request")
    _add(found, assumed, ASSUMED)
    inputs = tuple(_input(graph, name) for name in graph.inputs)
    order = {name: number for number, name in enumerate(graph.inputs)}
    kept = [RequestCondition(one, tuple(dict.fromkeys(found[one]))) for one in _without_weaker([*found])]
    kept.sort(key=lambda one: (order[one.subject.input], one.subject.spans) if isinstance(one.subject, Elements) else (-1, ()))
    return RequestTerms(inputs, tuple(kept), tuple(uncovered), _places(graph), _fingerprint(inputs, proofs, assumed))


def check_unique_inputs(graph: AnalysedGraph) -> None:
    """Raise ValueError if two inputs have the same name: a request cannot hold both."""
    if len(graph.inputs) < graph.input_count:
        raise ValueError("two inputs of the model have the same name: rename one, so that a request can name both")


def covered(graph: AnalysedGraph, proofs: Sequence[Proof]) -> list[bool]:
    """Return for each proof whether the site is conditional, and conditions on requests keep it in bounds.

    Raises ValueError if two inputs have the same name.
    """
    check_unique_inputs(graph)
    return [proof.status == "conditional" and _is_checkable(graph, proof.conditions) for proof in proofs]


def _add(found: dict[Condition, list[str]], conditions: Iterable[Condition], layer: str) -> None:
    for one in conditions:
        found.setdefault(one, []).append(layer)


def _layer(proof: Proof) -> str:
    return f"{proof.type} '{proof.layer}'"


def _is_checkable(graph: AnalysedGraph, conditions: Iterable[Condition]) -> bool:
    """Return True if all conditions are about elements that a guard can read, and about sizes of inputs."""
    return all(
        _has_whole_bytes(graph, one.subject.input)
        if isinstance(one.subject, Elements)
        else all(isinstance(symbol, OfInputs) for symbol in one.subject.symbols)
        for one in conditions
    )


def _has_whole_bytes(graph: AnalysedGraph, name: str) -> bool:
    """Return True if the elements of an input are numbers that each take whole bytes."""
    kind = graph.declared(graph.inputs[name]).element_type
    return kind is not None and kind.bits >= 8


def _places(graph: AnalysedGraph) -> dict[Symbol, tuple[tuple[str, int], ...]]:
    found: dict[Symbol, tuple[tuple[str, int], ...]] = {}
    for name, key in graph.inputs.items():
        for axis, dim in enumerate(graph.declared(key).shape or ()):
            for symbol in dim.symbols:
                found[symbol] = (*found.get(symbol, ()), (name, axis))
    return found


def _input(graph: AnalysedGraph, name: str) -> RequestInput:
    declared = graph.declared(graph.inputs[name])
    if declared.shape is None:
        return RequestInput(name, declared.element_type, None)
    dims = []
    for dim in declared.shape:
        low, high = (dim.value, dim.value) if dim.value is not None else next(graph.bounds[one] for one in dim.symbols)
        dims.append((int(low), int(max(low, min(high, LARGEST_DIM)))))
    return RequestInput(name, declared.element_type, tuple(dims))


def _without_weaker(conditions: Sequence[Condition]) -> list[Condition]:
    """Drop conditions on the same subject that another one implies."""
    by_subject: dict[Subject, list[Condition]] = {}
    for one in conditions:
        by_subject.setdefault(one.subject, []).append(one)
    dropped: set[int] = set()
    for group in by_subject.values():
        for one in group:
            if any(other is not one and id(other) not in dropped and _implies(other, one) for other in group):
                dropped.add(id(one))
    return [one for one in conditions if id(one) not in dropped]


def _implies(one: Condition, other: Condition) -> bool:
    """Return True if one condition implies another on the same subject, bound by bound."""
    is_low = all(any(low == given or _are_ordered(low, given) for given in one.lows) for low in other.lows)
    return is_low and all(any(high == given or _are_ordered(given, high) for given in one.highs) for high in other.highs)


def _are_ordered(low: Size, high: Size) -> bool:
    return not isinstance(low, Polynomial) and not isinstance(high, Polynomial) and low <= high


def _fingerprint(inputs: Iterable[RequestInput], proofs: Iterable[Proof], assumed: Iterable[Condition]) -> str:
    """Return the first 16 digits of a SHA-256. Names of layers, which may differ whenever a model is made, are left out."""
    parts = [repr((one.name, str(one.element_type), one.dims)) for one in inputs]
    parts += sorted(repr((one.type, one.status, one.axis, one.axis_size, sorted(one.requires.items()))) for one in proofs)
    parts += sorted(repr((ASSUMED, str(one))) for one in assumed)
    return sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
