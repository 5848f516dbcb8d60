"""Helpers of tests: rows of pairs, random numbers that depend on no other test, and checks for names that act."""

import ast
import re
from itertools import combinations, product

import pytest

from helpers.hostile_names import NAMES, check_lines
from helpers.pairwise import pairwise
from helpers.paths import ROOT
from helpers.seeds import GIVEN

GENERATOR = re.compile(r"^(\w+) = np\.random\.default_rng\([^()]*\)$", re.MULTILINE)


def drawn_from(source):
    """Return the generators of a module that its functions use, so that the order of calls decides on the numbers."""
    shared = set(GENERATOR.findall(source))
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    return sorted({node.id for each in functions for node in ast.walk(each) if isinstance(node, ast.Name)} & shared)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("folder", ["acceptance", "helpers", "hostile", "runtime", "unit"])
def test_no_function_draws_from_a_generator_of_its_module(folder):
    found = {path.name: drawn_from(path.read_text()) for path in sorted((ROOT / "tests" / folder).rglob("*.py"))}
    assert {name: names for name, names in found.items() if names} == {}


def test_what_is_drawn_when_the_module_is_imported_may_be_shared():
    head = "RNG = np.random.default_rng(0)\nX = RNG.random(3)\n"
    assert drawn_from(head) == []
    assert drawn_from(head + "def test():\n    RNG.random(3)\n") == ["RNG"]
    assert drawn_from(head + "CASES = {'a': lambda: RNG.random(3)}\n") == ["RNG"]


@pytest.mark.skipif(bool(GIVEN), reason="TEST_SEED gives other numbers")
def test_the_fixture_depends_on_the_test_alone(rng):
    assert rng.integers(2**32, size=2).tolist() == [3044324388, 1543345558]


@pytest.mark.parametrize("sizes", [(3, 2), (2, 2, 2), (5, 3, 2, 4), (7, 1, 3)], ids=str)
def test_every_pair_of_values_and_no_row_twice(sizes):
    values = [[f"{place}{value}" for value in range(size)] for place, size in enumerate(sizes)]
    rows = pairwise(*values)
    assert len(set(rows)) == len(rows)
    assert {value for row in rows for value in row} == {value for of in values for value in of}
    for first, second in combinations(range(len(sizes)), 2):
        assert {(row[first], row[second]) for row in rows} == set(product(values[first], values[second]))
    assert rows == pairwise(*values)


def test_values_need_no_hash_and_rows_are_few():
    assert pairwise([{}, []], [[1]]) == [({}, [1]), ([], [1])]
    assert len(pairwise(range(9), range(3), range(2), range(2), range(4))) == 36


def test_a_name_that_is_a_command_of_a_ci_service_is_noticed_where_it_is_printed_raw():
    commands = [name for name in NAMES if re.search(r"^\s*::|##\w*\[", name, re.M)]
    assert len(commands) == 5
    for name in commands:
        with pytest.raises(AssertionError, match="a command in"):
            check_lines(f"1 finding in\n{name}\n", "text")
    check_lines("::error file=model.xml,line=7,title=attribute axis::Gather 'x %3A%3A'\n", "github")
