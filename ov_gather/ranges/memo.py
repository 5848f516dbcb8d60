"""Results of steps, shared by the analyses of a graph: a step is evaluated again only if something it depends on differs.

The results of a step depend on its operands, what is declared of its outputs, and the answers to what it asks on the way:
bounds of sizes, and for Select other tensors. Which question comes next follows from the answers so far: the questions are a
decision tree, whose leaves are results. What a step sets on the way, such as bounds of a size that it names, is set again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ov_gather.graph.protocol import Key
from ov_gather.graph.symbols import Symbol
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.sizes import Sizes
from ov_gather.ranges.algebra.values import Value
from ov_gather.ranges.fitting import Overflow

MOST = 1 << 16
"""Number of operands beyond which those that were not met for as long are forgotten."""

Result = tuple[Value, tuple[Overflow, ...]]
"""The abstract value of an output, and its bounds that exceed the type."""
Asked = tuple[Callable[..., Any] | None, tuple[Any, ...]]
"""A question: a method of `Sizes` with its arguments, or None with the tensor whose value is asked for."""


@dataclass(slots=True, eq=False)
class _Branch:
    """A node of a decision tree: a question with what follows from each answer, or results."""

    asked: Asked | None = None
    following: dict[Hashable, _Branch] = field(default_factory=dict)
    results: Sequence[Result] | None = None


class Memo:
    """The decision tree of each step, by its operands. Those of the latest `MOST` operands are kept, and of as many before.

    Attributes:
        constants: the tensors of which all is known that is declared, whatever is assumed.
    """

    def __init__(self) -> None:
        self.constants: set[Key] = set()
        self._latest: dict[Hashable, _Branch] = {}
        self._before: dict[Hashable, _Branch] = {}

    def recall(self, operands: Hashable, sizes: Sizes, value: Callable[[Key], Value]) -> Sequence[Result] | None:
        """Return the results for these operands if all answers are as before; None if they are not, or are not known."""
        branch = self._latest.get(operands)
        if branch is None and (branch := self._before.get(operands)) is not None:
            self._add(operands, branch)
        while branch is not None and branch.asked is not None:
            ask, given = branch.asked
            branch = branch.following.get(value(*given) if ask is None else ask(sizes, *given))
        return None if branch is None else branch.results

    def keep(self, operands: Hashable, log: Sequence[tuple[Asked, Hashable]], results: Sequence[Result]) -> None:
        """Keep the results for these operands, and the questions that lead to them, with their answers."""
        branch = self._latest.get(operands)
        if branch is None:
            branch = self._add(operands, _Branch())
        for branch.asked, answer in log:
            branch = branch.following.setdefault(answer, _Branch())
        branch.results = results

    def _add(self, operands: Hashable, branch: _Branch) -> _Branch:
        if len(self._latest) == MOST:
            self._latest, self._before = {}, self._latest
        self._latest[operands] = branch
        return branch


@dataclass(frozen=True)
class RecordedSizes(Sizes):
    """Bounds of sizes with a log of what is asked of them.

    Attributes:
        known: the bounds.
        log: the questions, and their answers.
    """

    known: Sizes = field(kw_only=True)
    log: list[tuple[Asked, Hashable]] = field(default_factory=list, kw_only=True)

    @classmethod
    def of_sizes(cls, known: Sizes) -> RecordedSizes:
        """Build a log of what is asked of these bounds."""
        return cls(known.bounds, known.default, known.limits, known.largest, known.declared, known=known)

    def start(self) -> None:
        """Start an empty log."""
        self.log.clear()
        self._forget()

    def _forget(self) -> None:
        self._least.clear()
        self._of.clear()

    def least(self, polynomial: Polynomial) -> Number:
        """Return a lower bound of the polynomial."""
        value = polynomial.value
        if value is not None:
            return value
        found = self._least.get(polynomial)
        if found is None:
            found = self._least[polynomial] = self.known.least(polynomial)
            self.log.append(((Sizes.least, (polynomial,)), found))
        return found

    def of(self, symbol: Symbol) -> tuple[int, Number]:
        """Return the lower and upper bound of a symbol."""
        found = self._of.get(symbol)
        if found is None:
            found = self._of[symbol] = self.known.of(symbol)
            self.log.append(((Sizes.of, (symbol,)), found))
        return found

    def is_limited(self, polynomial: Polynomial) -> bool:
        """Return True if all terms are linear, or `limits` bound the polynomial from above."""
        found = self.known.is_limited(polynomial)
        self.log.append(((Sizes.is_limited, (polynomial,)), found))
        return found

    def set_bounds(self, symbol: Symbol, bounds: tuple[int, Number]) -> None:
        """Set the bounds of a symbol, replacing earlier ones."""
        self.known.set_bounds(symbol, bounds)
        self.log.append(((Sizes.set_bounds, (symbol, bounds)), None))
        self._forget()

    def narrow(self, dim: Polynomial, most: Number, least: int = 0) -> None:
        """Narrow the declared bounds of a dimension."""
        self.known.narrow(dim, most, least)
        self.log.append(((Sizes.narrow, (dim, most, least)), None))
        self._forget()
