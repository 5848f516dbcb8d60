"""The tiers of tests: what the core has, that the parts of the rest and the core are everything, and what a change reaches."""

import re
from itertools import combinations, product
from pathlib import Path

import pytest

from helpers.import_graph import changed_files, reaching
from helpers.pairwise import covering
from helpers.paths import ROOT

pytest_plugins = ["pytester"]

SUITE = """
import pytest

@pytest.mark.parametrize("a", range(4))
@pytest.mark.parametrize("b", ["x", "y", "z"])
@pytest.mark.parametrize("c", [[1], [2]], ids=str)
def test_product(a, b, c): pass

@pytest.mark.parametrize("rule", [f"rule{i}" for i in range(30)])
def test_register(rule): pass

@pytest.mark.parametrize(("given", "expected"), [(i, -i) for i in range(20)])
def test_table(given, expected): pass

@pytest.mark.parametrize(("x", "y", "z"), [("x", 1, "p"), ("x", 2, "q"), ("y", 1, "q"), ("x", 1, "q")])
def test_rows(x, y, z): pass

@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(9))
def test_seeds(seed): pass

@pytest.mark.exhaustive
def test_long(): pass

class TestIn:
    @pytest.mark.parametrize("n", [0, pytest.param(1, marks=pytest.mark.exhaustive)])
    def test_method(self, n): pass
"""
ALL = 24 + 30 + 20 + 4 + 9 + 1 + 2


@pytest.fixture
def suite(pytester, monkeypatch):
    """A function that runs pytest with the plugin on a suite; returns the ids that ran, the output, and pytest's result."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests"))
    pytester.makepyfile(test_suite=SUITE)
    pytester.makeini("[pytest]\nmarkers = exhaustive\n    sampled(n)\n")

    def run(*arguments):
        done = pytester.runpytest_inprocess("-p", "helpers.tiers", "-p", "no:cacheprovider", "-v", *arguments)
        output = done.stdout.str()
        return set(re.findall(r"(test_suite\.py::\S+) PASSED", output)), output, done

    return run


def test_the_core_has_every_pair_every_entry_and_every_function(suite):
    ran, output, _ = suite()
    products = [re.search(r"\[(.*)\]", name)[1].split("-") for name in ran if "test_product" in name]
    values = (["[1]", "[2]"], ["x", "y", "z"], ["0", "1", "2", "3"])
    for (i, first), (j, second) in combinations(enumerate(values), 2):
        assert {(row[i], row[j]) for row in products} == {*product(first, second)}
    assert len(products) < 16
    assert sum("test_register" in name for name in ran) == 30
    assert sum("test_table" in name for name in ran) == 20
    assert sum("test_rows" in name for name in ran) == 4
    assert {name.partition("[")[2] for name in ran if "test_seeds" in name} == {"0]", "3]", "6]"}
    assert "test_suite.py::TestIn::test_method[0]" in ran
    assert not any("test_long" in name or "test_method[1]" in name for name in ran)
    assert f"core: {len(ran)} of {ALL} tests; `pytest --all` runs all" in output
    assert f"{ALL - len(ran)} deselected" in output


def test_the_core_and_the_parts_of_the_rest_are_all(suite):
    core, *_ = suite()
    parts = [suite("--part", f"{number}/3") for number in range(3)]
    everything, output, _ = suite("--all")
    assert len(everything) == ALL
    assert f"all: {ALL} of {ALL} tests" in output
    assert sum(len(ran) for ran, *_ in parts) == ALL - len(core)
    assert core.union(*(ran for ran, *_ in parts)) == everything
    assert "part 1/3 of what is not in the core: " in parts[1][1]


def test_named_tests_run_whatever_their_tier(suite):
    ran, output, _ = suite("test_suite.py::test_long", "test_suite.py::test_seeds[4]")
    assert len(ran) == 2
    assert "named: 2 of 2 tests" in output


def test_processes_choose_the_same_and_one_line_is_printed(suite):
    _, output, done = suite("-n", "2")
    core, *_ = suite()
    done.assert_outcomes(passed=len(core))
    assert output.count(f"core: {len(core)} of {ALL} tests; ") == 1


@pytest.mark.parametrize("processes", [(), ("-n", "2")])
@pytest.mark.parametrize("part", ["8/8", "-1/8", "3", "a/b"])
def test_a_part_that_is_none_is_said(suite, part, processes):
    _, output, done = suite(f"--part={part}", *processes)
    assert f"--part: {part!r} is no part such as 3/8; the first of 8 is 0/8" in done.stderr.str()
    assert "INTERNALERROR" not in output
    assert done.ret == 4


def test_a_revision_that_git_does_not_know_is_said(suite):
    _, _, done = suite("--changed=no-such-revision")
    assert re.search(r"--changed: .*no-such-revision", done.stderr.str())
    assert done.ret == 4


def test_pairs_are_covered_by_few_rows():
    rows = list(product(range(5), "abcd", (False, True), range(3)))
    chosen = [rows[position] for position in covering(rows)]
    for i, j in combinations(range(4), 2):
        assert {(row[i], row[j]) for row in chosen} == {(row[i], row[j]) for row in rows}
    assert len(chosen) <= 25


def reached(*files):
    found = reaching({ROOT / file for file in files})
    return found if found is None else {str(path.relative_to(ROOT / "tests")) for path in found}


def test_a_change_reaches_who_imports_it_at_any_distance():
    assert "unit/test_range_algebra.py" in reached("ov_gather/ranges/algebra/intervals.py")
    assert "unit/test_kernel.py" not in reached("ov_gather/ranges/algebra/intervals.py")
    assert {"unit/test_kernel.py", "runtime/test_extension.py"} <= reached("ov_gather/native/kernel/gather.cpp")
    assert reached("tests/helpers/command_server.py") is None  # fixtures of all tests use it
    assert "runtime/test_harden.py" not in reached("tests/helpers/pages.py")
    assert reached("tests/hostile/doors/printing.py") == {"hostile/test_doors.py"}
    assert "acceptance/test_site.py" in reached("tests/tools/docs_site/build.py")
    assert reached("tests/unit/test_kernel.py") == {"unit/test_kernel.py"}
    assert "unit/test_kernel.py" in reached("tests/unit/conftest.py")
    assert "runtime/test_harden.py" not in reached("tests/unit/conftest.py")


def test_a_change_reaches_tests_that_use_a_public_name_or_the_command_line():
    assert {"hostile/test_documents.py", "acceptance/test_validate_output.py"} <= reached("ov_gather/rules/validation.py")
    assert {"acceptance/test_docs.py", "acceptance/test_site.py"} <= reached("docs/howto/prove.md")
    assert "unit/test_kernel.py" not in reached("docs/howto/prove.md")
    assert "hostile/test_doors.py" in reached("ov_gather/kernels/gather.py")
    assert reached("ir_samples/valid/loop.xml") is None
    assert reached("ov_gather/ranges/that_was_deleted.py") is None
    assert reached() == set()


def test_what_is_changed_is_asked_of_git(tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("the tests run outside of a git repository")
    new = ROOT / "tests" / "unit" / f"new_{tmp_path.name}.py"
    new.touch()
    try:
        assert new in changed_files("HEAD")
    finally:
        new.unlink()
    with pytest.raises(ValueError, match="no-such-revision"):
        changed_files("no-such-revision")
    assert all(isinstance(path, Path) and path.is_absolute() for path in changed_files("HEAD~1"))
