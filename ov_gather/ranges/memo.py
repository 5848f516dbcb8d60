"""Results of steps, shared by the analyses of a graph: a step is evaluated again only if something it depends on differs.

The results of a step depend on its operands, what is declared of its outputs, and the answers to what it asks on the way:
bounds of sizes, and for Select other tensors. Which question comes next follows from the answers so far: the questions are a
decision tree, whose leaves are results. What a step sets on the way, such as bounds of a size that it names, is set again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ov_gather.graph.protocol import Key, Node
from ov_gather.graph.symbols import Symbol
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.sizes import Sizes
from ov_gather.ranges.algebra.values import Value
from ov_gather.ranges.fitting import Overflow

MISSES = 8
"""Number of evaluations in a row, each unlike those before, after which the results of a step are no longer kept.

A chain of 240 Selects, each with a bound of its own, needs 0.9 GB with 32, 0.15 with 8, in about the same time.
"""

Result = tuple[Value, tuple[Overflow, ...]]
"""The abstract value of an output, and its bounds that exceed the type."""
Results = Sequence[Result]
Asked = tuple[Callable[..., Any] | None, tuple[Any, ...]]
"""A question: a method of `Sizes` with its arguments, or None with the tensor whose value is asked for."""


@dataclass(slots=True, eq=False)
class _Question:
    """An inner node of a decision tree: a question, and what follows from each answer."""

    asked: Asked
    following: dict[Hashable, _Question | Results] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class StepMemo:
    """The results of a step, by its operands and by answers.

    Attributes:
        misses: the number of evaluations since results were last found.
    """

    misses: int = 0
    _trees: dict[Hashable, _Question | Results] = field(default_factory=dict)

    def recall(self, operands: Hashable, sizes: Sizes, value: Callable[[Key], Value]) -> Results | None:
        """Return the results for these operands if all answers are as before; None if they are not, or are not known."""
        found = self._trees.get(operands)
        while isinstance(found, _Question):
            ask, given = found.asked
            found = found.following.get(value(*given) if ask is None else ask(sizes, *given))
        self.misses = self.misses + 1 if found is None else 0
        return found

    def keep(self, operands: Hashable, log: Sequence[tuple[Asked, Hashable]], results: Results) -> None:
        """Keep the results for these operands, and the questions that lead to them, with their answers."""
        tree, answer = self._trees, operands
        for asked, following in log:
            question = tree.get(answer)
            if not isinstance(question, _Question):
                question = tree[answer] = _Question(asked)
            tree, answer = question.following, following
        tree[answer] = results


class Memo:
    """The results of steps.

    Attributes:
        constants: the tensors of which all is known that is declared, whatever is assumed.
    """

    def __init__(self) -> None:
        self.constants: set[Key] = set()
        self._steps: dict[Node, StepMemo] = {}

    def of(self, step: Node) -> StepMemo | None:
        """Return the results of a step; None if they are not worth keeping."""
        found = self._steps.get(step)
        if found is None:
            found = self._steps[step] = StepMemo()
        return found if found.misses < MISSES else None


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
