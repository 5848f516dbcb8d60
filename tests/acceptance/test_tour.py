"""The notebook in docs/ runs from its first cell to its last, and shows what its text says."""

import ast
import json
import warnings

import numpy as np
import pytest

from helpers.paths import ROOT

NOTEBOOK = ROOT / "docs" / "first_tour.ipynb"


def run(code, names):
    """Execute a cell as a notebook does: the value of its last expression is what it shows."""
    *rest, last = ast.parse(code).body
    if not isinstance(last, ast.Expr):
        exec(compile(code, NOTEBOOK.name, "exec"), names)
        return None
    exec(compile(ast.Module(rest, []), NOTEBOOK.name, "exec"), names)
    return eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)


@pytest.mark.openvino
def test_the_tour(monkeypatch, capsys):
    monkeypatch.chdir(NOTEBOOK.parent)
    names, shown = {}, []
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # conversions warn of integers of 64 bits
                shown.append(run("".join(cell["source"]), names))
    tables = [value._repr_html_() for value in shown if hasattr(value, "_repr_html_")]
    for word, table in zip(("FP32", "OVG204", "attribute axis", "openvino", "clamp"), tables, strict=True):
        assert word in table
    assert "= 3 is out of bounds for axis 1 of size 3 (valid -3..2)" in capsys.readouterr().out
    arrays = [value.tolist() for value in shown if isinstance(value, np.ndarray)]
    assert arrays == [[[0.7], [0.5]], [[5, 6], [1, 2]], [[3, 4], [3, 4]]]
    (passed, _), proved = (value for value in shown if isinstance(value, tuple))
    assert passed
    assert proved == ("conditional", {"rows": ("-dim(table, 0)", "dim(table, 0) - 1")})


def test_the_notebook_holds_no_outputs():
    """What a notebook shows depends on releases; the file has nothing that could be out of date."""
    document = json.loads(NOTEBOOK.read_text())
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    cells = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    assert len({cell["id"] for cell in document["cells"]}) == len(document["cells"])
