"""Random numbers of a test depend on no other test."""

import ast
import re

import pytest

from helpers.paths import ROOT

GENERATOR = re.compile(r"^(\w+) = np\.random\.default_rng\([^()]*\)$", re.MULTILINE)


def drawn_from(source):
    """Return the generators of a module that its functions use, so that the order of calls decides on the numbers."""
    shared = set(GENERATOR.findall(source))
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    return sorted({node.id for each in functions for node in ast.walk(each) if isinstance(node, ast.Name)} & shared)


@pytest.mark.parametrize("folder", ["acceptance", "helpers", "hostile", "runtime", "unit"])
def test_no_function_draws_from_a_generator_of_its_module(folder):
    found = {path.name: drawn_from(path.read_text()) for path in sorted((ROOT / "tests" / folder).rglob("*.py"))}
    assert {name: names for name, names in found.items() if names} == {}


def test_what_is_drawn_when_the_module_is_imported_may_be_shared():
    head = "RNG = np.random.default_rng(0)\nX = RNG.random(3)\n"
    assert drawn_from(head) == []
    assert drawn_from(head + "def test():\n    RNG.random(3)\n") == ["RNG"]
    assert drawn_from(head + "CASES = {'a': lambda: RNG.random(3)}\n") == ["RNG"]


def test_the_fixture_depends_on_the_test_alone(rng):
    assert rng.integers(2**32, size=2).tolist() == [3044324388, 1543345558]
