"""Mutations of Python files: each changes one operator, constant or call."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutation:
    """One change of one file."""

    path: Path
    function: str
    """The innermost function around the change; empty outside of functions."""
    line: int
    near: range
    """The lines of the statement; the body's for the head of a function; the whole file outside of functions."""
    site: int
    position: int
    """Which change, among those of the expression."""

    def changed(self) -> tuple[str, str]:
        """Return what changes, and the text of the changed file."""
        tree = ast.parse(self.path.read_text())
        node, _ = list(_sites(tree))[self.site]
        before = ast.unparse(node)
        replaced = list(_changes(node))[self.position]()
        if replaced is not node:
            tree = _Replace(node, replaced).visit(tree)
        return f"{before} -> {ast.unparse(replaced)}", ast.unparse(ast.fix_missing_locations(tree))


OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}
CALLS = {"floor": "ceil", "ceil": "floor", "min": "max", "max": "min", "all": "any", "any": "all", "trunc": "floor"}
CALLS |= {"least": "greatest", "greatest": "least", "is_at_most": "is_at_least", "is_at_least": "is_at_most"}
CALLS |= {"low": "high", "high": "low", "lows": "highs", "highs": "lows", "minimum": "maximum", "maximum": "minimum"}
SWITCHES = ("frozen", "slots", "strict", "kw_only")
"""Keywords of which a change says nothing about behaviour."""


def mutations(path: Path) -> Iterator[Mutation]:
    """Yield all mutations of a file."""
    for site, (node, around) in enumerate(_sites(ast.parse(path.read_text()))):
        for position in range(len(list(_changes(node)))):
            yield Mutation(path, around.function, node.lineno, around.lines, site, position)


@dataclass(frozen=True)
class _Around:
    """The function and the lines around an expression."""

    function: str
    lines: range


def _sites(tree: ast.Module) -> Iterator[tuple[ast.expr, _Around]]:
    """Yield each expression that is executed, with what is around it."""
    stack: list[tuple[ast.AST, _Around]] = [(one, _Around("", _lines(tree.body[0], tree.body[-1]))) for one in tree.body]
    while stack:
        node, around = stack.pop()
        if isinstance(node, ast.expr):
            yield node, around
        inner = around
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = _Around(node.name, _lines(node.body[0], node))
        not_executed = {getattr(node, "annotation", None), getattr(node, "returns", None)}
        for child in ast.iter_child_nodes(node):
            is_switch = isinstance(child, ast.keyword) and child.arg in SWITCHES
            if child in not_executed or is_switch:
                continue
            if isinstance(child, ast.stmt) and inner.function:
                stack.append((child, _Around(inner.function, _lines(child, child))))
            else:
                stack.append((child, inner))


def _lines(first: ast.stmt, last: ast.stmt) -> range:
    return range(first.lineno, (last.end_lineno or last.lineno) + 1)


def _changes(node: ast.expr) -> Iterator[Callable[[], ast.expr]]:
    """Yield functions that change a node, in place or by another one."""

    def changed(name: str, value: object) -> Callable[[], ast.expr]:
        def change() -> ast.expr:
            setattr(node, name, value)
            return node

        return change

    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield changed("value", node.value + 1)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield changed("value", not node.value)
    elif isinstance(node, ast.Compare):
        for position, one in enumerate(node.ops):
            if type(one) in OPERATORS:
                yield changed("ops", [*node.ops[:position], OPERATORS[type(one)](), *node.ops[position + 1 :]])
    elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OPERATORS:
        yield changed("op", OPERATORS[type(node.op)]())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield lambda: node.operand
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in CALLS:
        yield changed("id", CALLS[node.id])
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in CALLS:
        yield changed("attr", CALLS[node.attr])


class _Replace(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else super().generic_visit(node)
