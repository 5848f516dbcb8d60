"""Every rule of the analysis of ranges, changed by one: python tests/tools/mutate_rules.py [--part rules] [--file shaping.py]

Each mutation changes one place: a number by one, < to <=, floor to ceil, min to max, a bound that is left out. The quick tests
of ranges run against it, in a process of its own that ends with the first failure. What they do not notice is compared with
what the rules say of random models as they are, and judged on those of which it says something else. The table lists what
remains: what tells less than before (it is more cautious), more, or something else, and what makes no difference. Exit code 1
where a mutation tells more, or something else.
"""

from __future__ import annotations

import argparse
import ast
import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/, where the helpers are

import pytest
from rich.console import Console
from rich.table import Table

import ov_gather.ranges
from helpers.range_changes import Change, changed_seeds, is_violated, kind_of, known_of_models

TESTS = Path(__file__).parents[1]
QUICK = [
    *(f"unit/test_{name}.py" for name in ("range_algebra", "ranges", "prove_onnx", "proved_gathers", "computed_indices")),
    *(f"runtime/test_{name}.py" for name in ("openvino_ranges", "proofs")),
]
RANGES = Path(next(iter(ov_gather.ranges.__path__)))
SECONDS = 60
"""So much processor time the tests may take; what takes longer does not end, which is noticed."""

# ---- mutations of the text


class Mutation:
    """One change of one file."""

    def __init__(self, path: Path, line: int, what: str, tree: ast.Module) -> None:
        self.path, self.line, self.what = path, line, what
        self.code = compile(tree, str(path), "exec")

    def __str__(self) -> str:
        return f"{self.path.relative_to(RANGES)}:{self.line}: {self.what}"


SWAPPED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Add: ast.Sub, ast.Sub: ast.Add}
CALLED = {"floor": "ceil", "ceil": "floor", "min": "max", "max": "min", "all": "any", "any": "all", "trunc": "floor"}
CALLED |= {"least": "greatest", "greatest": "least", "is_at_most": "is_at_least", "is_at_least": "is_at_most"}
CALLED |= {"lows": "highs", "highs": "lows", "low": "high", "high": "low", "minimum": "maximum", "maximum": "minimum"}
CLAMPS = ("both", "clamped", "within", "limited")


def mutations(path: Path) -> Iterator[Mutation]:
    """All mutations of what functions of a file do."""
    text = path.read_text()
    for number, node in enumerate(ast.walk(ast.parse(text))):
        for position in range(len(list(_changes(node)))):
            tree = ast.parse(text)
            copy = next(other for other_number, other in enumerate(ast.walk(tree)) if other_number == number)
            what = list(_changes(copy))[position]()
            yield Mutation(path, copy.lineno, what, ast.fix_missing_locations(tree))


def _changes(node: ast.AST) -> Iterator[Callable[[], str]]:
    """Functions that change a node in place, and say what they did."""
    before = ast.unparse(node) if isinstance(node, ast.expr) else ""

    def set_to(target: ast.AST, name: str, value: object) -> Callable[[], str]:
        def change() -> str:
            setattr(target, name, value)
            return f"{before} becomes {ast.unparse(node)}"

        return change

    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield set_to(node, "value", node.value + 1)
        if node.value > 0:
            yield set_to(node, "value", node.value - 1)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield set_to(node, "value", not node.value)
    elif isinstance(node, ast.Compare):
        for position, one in enumerate(node.ops):
            if type(one) in SWAPPED:
                yield set_to(node, "ops", [SWAPPED[type(one)]() if i == position else op for i, op in enumerate(node.ops)])
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPPED:
        yield set_to(node, "op", SWAPPED[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        for position in range(len(node.values)):
            others = [one for i, one in enumerate(node.values) if i != position]
            yield set_to(node, "values", [*others, others[-1]])  # because one operand alone is none
    elif isinstance(node, ast.IfExp):
        yield set_to(node, "test", ast.Constant(True))
        yield set_to(node, "test", ast.Constant(False))
    elif isinstance(node, ast.If):
        for value in (True, False):
            yield _if_becomes(node, value)
    elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
        field = "id" if isinstance(node, ast.Name) else "attr"
        if getattr(node, field) in CALLED:
            yield set_to(node, field, CALLED[getattr(node, field)])
    elif isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in CLAMPS and len(node.args) == 2:
            for kept in node.args:
                yield _kept(node, kept)


def _kept(node: ast.Call, kept: ast.expr) -> Callable[[], str]:
    def change() -> str:
        before = ast.unparse(node)
        node.func, node.args, node.keywords = ast.Name("next", ast.Load()), [_iterator(kept)], []
        return f"{before} becomes {ast.unparse(kept)}"

    return change


def _iterator(value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("iter", ast.Load()), [ast.List([value], ast.Load())], [])


def _if_becomes(node: ast.If, value: bool) -> Callable[[], str]:
    def change() -> str:
        before = ast.unparse(node.test)
        node.test = ast.Constant(value)
        return f"if {before} becomes if {value}"

    return change


# ---- a mutation takes effect in this process


def apply(mutation: Mutation) -> bool:
    """Change the functions of a file that are loaded; false where none of them is another one."""
    original = compile(ast.parse(mutation.path.read_text()), str(mutation.path), "exec")
    changed = dict(_pairs(original, mutation.code))
    found = [one for one in gc.get_objects() if isinstance(one, FunctionType) and one.__code__ in changed]
    for function in found:
        function.__code__ = changed[function.__code__]
    return bool(found)


def _pairs(one: CodeType, other: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    inner = [[const for const in code.co_consts if isinstance(const, CodeType)] for code in (one, other)]
    for a, b in zip(*inner, strict=False):
        if a != b and len(a.co_freevars) == len(b.co_freevars):
            yield a, b
            yield from _pairs(a, b)


# ---- the run


class Plugin:
    """Runs the collected tests for each mutation in a forked process."""

    def __init__(self, mutants: Sequence[Mutation], shares: tuple[int, int], console: Console) -> None:
        self._mutants, self._console = mutants, console
        self._known = known_of_models(*shares)
        self.survivors: list[tuple[Mutation, Change]] = []
        self.counts: Counter[str] = Counter()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        order = list(session.items)
        if (failed := self._fails(order, None, session)) is not None:
            raise SystemExit(f"without any mutation fails {order[failed].nodeid if failed >= 0 else 'the process'}")
        for number, mutation in enumerate(self._mutants, 1):
            killer = self._fails(order, mutation, session)
            if killer is None:
                self._survived(mutation)
            elif killer >= 0:
                order.insert(0, order.pop(killer))
            self.counts["noticed by tests"] += killer is not None
            if number % 20 == 0:
                self._console.print(f"{number} of {len(self._mutants)}: {dict(self.counts)}", highlight=False)
        return True

    def _fails(self, order: Sequence[pytest.Item], mutation: Mutation | None, session: pytest.Session) -> int | None:
        """The position of the first test that fails; -1 where it does not end, None where none fails."""
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            if mutation is not None and not apply(mutation):
                os._exit(0)
            for position, item in enumerate(order):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if session.testsfailed:
                    os.write(theirs, str(position).encode())
                    os._exit(1)
            os._exit(0)
        os.close(theirs)
        _, status = os.waitpid(child, 0)
        said = os.read(ours, 20)
        os.close(ours)
        return int(said) if said else None if status == 0 else -1

    def _survived(self, mutation: Mutation) -> None:
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            apply(mutation)
            change = kind_of(changed_seeds(self._known))
            if change is not Change.NONE and is_violated(changed_seeds(self._known)):
                change = Change.VIOLATED
            os.write(theirs, change.name.encode())
            os._exit(0)
        os.close(theirs)
        os.waitpid(child, 0)
        change = Change[os.read(ours, 40).decode() or "VIOLATED"]
        os.close(ours)
        self.counts[change.value] += 1
        if change is not Change.VIOLATED:
            self.survivors.append((mutation, change))
            self._console.print(f"{mutation}: {change.value}", markup=False, highlight=False, soft_wrap=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["rules", "algebra"], action="append")
    parser.add_argument("--file", action="append", help="only files of this name")
    parser.add_argument("--every", type=int, default=1, help="try every n-th mutation only")
    parser.add_argument("--onnx", type=int, default=150, help="random ONNX models to compare")
    parser.add_argument("--openvino", type=int, default=80, help="random models of OpenVINO to compare")
    arguments = parser.parse_args()
    console = Console()
    paths = [path for part in arguments.part or ["rules", "algebra"] for path in sorted((RANGES / part).glob("*.py"))]
    paths = [path for path in paths if not arguments.file or path.name in arguments.file]
    mutants = [one for path in paths for one in mutations(path)][:: arguments.every]
    plugin = Plugin(mutants, (arguments.onnx, arguments.openvino), console)
    files = [str(TESTS / name) for name in QUICK]
    pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", "--capture=no", *files], plugins=[plugin])
    shown = Table("mutation", "random models")
    for mutation, change in plugin.survivors:
        shown.add_row(str(mutation), change.value)
    console.print(shown, f"{len(mutants)} mutations: {dict(plugin.counts)}")
    return int(any(change in (Change.MORE, Change.OTHER) for _, change in plugin.survivors))


if __name__ == "__main__":
    sys.exit(main())
