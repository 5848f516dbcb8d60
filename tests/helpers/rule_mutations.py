"""Mutations of the rules of the analysis of ranges: one place of a file is changed, in the process that applies them."""

from __future__ import annotations

import ast
import gc
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import ov_gather.ranges

RANGES = Path(next(iter(ov_gather.ranges.__path__)))

USERS_OF_TABLES = ("ov_gather.ranges.rules.openvino", "ov_gather.ranges.rules.onnx")
"""Modules whose tables are made of tables of others while they are imported."""
Place = tuple[str, int, str]
"""A function: the file, the first line, the name."""


class Mutation:
    """One change of one file."""

    def __init__(self, path: Path, line: int, what: str, tree: ast.Module) -> None:
        self.path, self.line, self.what = path, line, what
        self.code = compile(tree, str(path), "exec")
        self._pairs = list(_pairs(compile(ast.parse(path.read_text()), str(path), "exec"), self.code))

    @property
    def place(self) -> Place | None:
        """The innermost function that is changed; None where the change is outside of functions."""
        return place_of(self._pairs[-1][0]) if self._pairs else None

    def apply(self) -> None:
        """Change what the modules that are loaded do."""
        changed = dict(self._pairs)
        for function in [one for one in gc.get_objects() if isinstance(one, FunctionType) and one.__code__ in changed]:
            function.__code__ = changed[function.__code__]
        if not self._pairs:
            self._apply_to_module()

    def _apply_to_module(self) -> None:
        """Take constants, tables and defaults from the module as it would be with the mutation."""
        name = ".".join(["ov_gather.ranges", *self.path.relative_to(RANGES).with_suffix("").parts])
        old, new = sys.modules[name], ModuleType(name)
        exec(self.code, new.__dict__)
        self._take(old, new)
        for other in {*USERS_OF_TABLES} - {name}:
            user = sys.modules[other]
            again = ModuleType(other)
            exec(compile(Path(str(user.__file__)).read_text(), str(user.__file__), "exec"), again.__dict__)
            self._take(user, again)

    def _take(self, old: ModuleType, new: ModuleType) -> None:
        users = list(sys.modules.values())
        for key, value in vars(new).items():
            before = vars(old).get(key)
            if key.startswith("__"):
                continue
            if isinstance(value, dict):
                before.update(value)
            elif isinstance(value, FunctionType | type):
                _take_defaults(before, value)
            elif value != before and (is_dataclass(value) or isinstance(value, int | float | str)):
                same = {field.name: getattr(value, field.name) for field in fields(value)} if is_dataclass(value) else {}
                for module in users:
                    if vars(module).get(key) is before:
                        setattr(module, key, type(before)(**same) if is_dataclass(value) else value)

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
    nodes = list(ast.walk(ast.parse(text)))
    told_to_python = [
        node.value for node in nodes if isinstance(node, ast.keyword) and node.arg in ("frozen", "slots", "strict")
    ]
    for number, node in enumerate(nodes):
        if node in told_to_python:
            continue
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


def place_of(code: CodeType) -> Place:
    """Name a function."""
    return code.co_filename, code.co_firstlineno, code.co_name


def _pairs(one: CodeType, other: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Functions that are changed, each before those in it, with what they become."""
    inner = [[const for const in code.co_consts if isinstance(const, CodeType)] for code in (one, other)]
    for a, b in zip(*inner, strict=False):
        if a != b and (a.co_firstlineno, a.co_name, len(a.co_freevars)) == (b.co_firstlineno, b.co_name, len(b.co_freevars)):
            if a.co_flags & inspect.CO_OPTIMIZED:  # the body of a class is none
                yield a, b
            yield from _pairs(a, b)


def _take_defaults(old: Any, new: Any) -> None:
    """Give a function, or the methods of a class, the defaults that another one has."""
    if isinstance(new, FunctionType):
        old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
        return
    for name, method in vars(new).items():
        if isinstance(method, FunctionType):
            _take_defaults(vars(old)[name], method)
