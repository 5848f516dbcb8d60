"""Reports of faults of other software: what is written is what was measured, and reproducers need nothing of ours."""

import ast

import pytest

from helpers.paths import ROOT
from ov_gather.divergences import cpu
from ov_gather.divergences.register import DIVERGENCES
from tools import canary
from tools.releases.changes import changed
from tools.upstream import registry, running
from tools.upstream.measured import Measured
from tools.upstream.pages import FOLDER, pages
from tools.upstream.registry import FAULTS
from tools.upstream.running import Outcome

HEADER = "# title: a\n# component: OpenVINO, b\n# expected: c\n# actual: d\n"


def test_each_page_is_what_the_tool_makes():
    made = pages(Measured())
    assert sorted(made) == sorted(path.name for path in FOLDER.iterdir()), "run: python tests/tools/upstream_reports.py"
    assert {name: (FOLDER / name).read_text() for name in made} == made, "run: python tests/tools/upstream_reports.py"


@pytest.mark.sampled(58)
@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
def test_a_reproducer_is_short_and_needs_only_its_package(fault):
    assert len(fault.source.splitlines()) <= registry.LONGEST
    nodes = list(ast.walk(ast.parse(fault.source)))
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= {"numpy", "onnx", fault.package}
    assert str(ROOT) not in pages(Measured())[f"{fault.name}.md"]


def test_divergences_and_reports_refer_to_each_other():
    for known in DIVERGENCES:
        for name in known.reports:
            assert known.name in FAULTS[name].divergences
            assert set(known.upstream) <= set(FAULTS[name].issues)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("source", "kind", "output"),
    [
        ("print('all is well')", "right", "all is well"),
        ("raise AssertionError('3 is not 4')", "wrong", "AssertionError: 3 is not 4"),
        ("raise RuntimeError('in /usr/lib/x.py:\\n  no')", "raises RuntimeError", "RuntimeError: in x.py:\n  no"),
        ("import no_such_package", "cannot run", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("import os; os.kill(os.getpid(), 11)", "SIGSEGV", "The process ends with SIGSEGV."),
        ("bytes(1 << 40)", "raises MemoryError", "MemoryError"),
        ("while True: pass", "does not end", "no end within 1 s"),
    ],
)
def test_what_a_reproducer_does(source, kind, output, tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "FOLDER", tmp_path)
    monkeypatch.setattr(running, "LIMIT", 1 if kind == "does not end" else 60)
    (tmp_path / "one.py").write_text(HEADER + source)
    assert running.run(registry.read(tmp_path / "one.py")) == Outcome(kind, output)


def test_the_newest_release_is_compared_with(tmp_path, monkeypatch):
    fault = FAULTS["abs_of_clamp"]
    measured = Measured(tmp_path / "measured.json")
    measured.add(fault, "2026.2.0", Outcome("wrong", "old"))
    measured.add(fault, "2025.4.1", Outcome("SIGSEGV", "older"))
    measured.add(fault, "2026.10.0", Outcome("right", ""))
    measured.write()
    again = Measured(tmp_path / "measured.json")
    assert again.last_known("openvino", fault.name) == ("2026.10.0", "right")
    assert again.outputs == {fault.name: ("2026.2.0", "old")}
    assert list(again.shown_in(fault)) == ["2025.4.1", "2026.2.0"]

    for kind, expected in (
        ("right", []),
        ("cannot run", []),
        ("wrong", [(fault.name, "openvino 2026.10.0: right", "2027.0: wrong")]),
    ):
        monkeypatch.setattr(canary, "run_all", lambda faults, packages, kind=kind: {fault.name: Outcome(kind, "")})
        assert list(canary.changed_faults(again, None, {"openvino": "2027.0"})) == expected


def test_divergences_are_compared_with_those_of_this_cpu(tmp_path, capsys):
    measured = Measured(tmp_path / "measured.json")
    answer = {"counts": {"mended": [0, 4]}, "unnamed": {"Gather-8": {"i32: differs": 2}}}
    unnamed = ("Gather-8", "", "2027.0: without a divergence in 2 cases: i32: differs")
    assert list(canary.changed_divergences(measured, answer, "2027.0")) == [unnamed]
    assert "no divergences are recorded of this CPU" in capsys.readouterr().out
    measured.divergences["2026.4.1"] = {cpu.model_name(): {"mended": [3, 1]}}
    mended = ("mended", "openvino 2026.4.1: shown in 3 of 4 cases", "2027.0: shown in 0 of 4 cases")
    assert list(canary.changed_divergences(measured, answer, "2027.0")) == [mended, unnamed]


def test_divergences_that_one_release_shows():
    before = {"mended": [3, 1], "same": [2, 2], "new": [0, 5], "gone": [1, 0], "no case": [0, 0]}
    now = {"mended": [0, 4], "same": [1, 3], "new": [5, 0], "no case": [1, 0]}
    assert list(changed(before, now)) == [
        ("mended", "shown in 3 of 4 cases", "shown in 0 of 4 cases"),
        ("new", "shown in 0 of 5 cases", "shown in 5 of 5 cases"),
    ]
