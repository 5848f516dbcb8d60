"""References of users that are wrong: `check` names their line, not the library, and checks the other layers."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import openvino as ov
import pytest

import ov_gather
from helpers.declared_operations import CLASSES, DECLARATIONS, write_three
from helpers.declaring import declared
from helpers.paths import VALID
from helpers.users_operations import PYTHON, write_model
from ov_gather.crosscheck import references

pytestmark = pytest.mark.skipif(not hasattr(ov, "DiscreteTypeInfo"), reason="this OpenVINO takes no operations in Python")

DECLARATION = """import numpy as np
from ov_gather.ops.spec import *

calls, kept = [], []


def reference(inputs, attributes):
    (x,), alpha = inputs, attributes["alpha"]
    HOSTILE
    return [x + np.sin(alpha * x) ** 2 / alpha]


SNAKE = Operation(
    type="Snake",
    opset="example",
    inputs=[Input("x", types=("f32",))],
    attributes=[Attribute("alpha", kind="float", default=1.0, valid_range=(0.1, 100))],
    infer_shapes=lambda shapes, attributes: [shapes[0]],
    reference=reference,
    rtol=1e-4,
    atol=1e-5,
)
"""
HOSTILE = {
    "raise KeyError('<b>\\x1b[31m\\x00]]>&')": r"9: reference of Snake-example raises KeyError: ",
    "return [x.astype(np.float64)]": r"7: reference of Snake-example returns output of type float64: infer_types says f32",
    "return [x[..., :-1]]": r"7: reference of Snake-example returns output of shape \[4, 4\]: infer_shapes says \[4,5\]",
    "return None": r"7: reference of Snake-example returns None: it must return an array for each output, in a list",
    "return x.tolist()": r"7: reference of Snake-example returns \[\[.*: it must return an array for each output",
    "import sys; sys.exit(3)": r"9: reference of Snake-example raises SystemExit: 3",
    "import os; os._exit(3)": r"7: reference of Snake-example crashes: exit code 3",
    "import ctypes; ctypes.string_at(0)": r"7: reference of Snake-example crashes: SIGSEGV",
    "while True: pass": r"7: reference of Snake-example hangs: no answer within 3 s",
    "while True: kept.append(np.empty(1 << 27))": r"9: reference of Snake-example raises (numpy\.)?\w*MemoryError: ",
    "calls.append(1); x = x + (len(calls) > 3)": r"7: reference of Snake-example computes other values for the same",
    "x = x + np.random.random()": r"7: reference of Snake-example computes other values for the same inputs in a new",
}


@pytest.fixture
def checked(tmp_path, monkeypatch):
    """A function that checks a model of a Snake and a gather, with this line in the reference."""
    name = f"ops_of_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(PYTHON)
    monkeypatch.syspath_prepend(tmp_path)
    model = write_model(tmp_path / "model.xml")

    def check(line, declaration=DECLARATION):
        if line == "while True: pass":
            monkeypatch.setattr(references, "LIMIT", 3.0)
        with declared(tmp_path / "snake_ops.py", declaration.replace("HOSTILE", line)):
            return ov_gather.cross_check(model, extensions=[f"{name}:Snake"], runtimes=["openvino"], cases=2)

    return check


@pytest.mark.sampled(1)
@pytest.mark.parametrize("line", HOSTILE)
def test_a_hostile_reference_is_named_with_its_line(line, checked, tmp_path):
    snake, gather = checked(line).layers
    assert snake.problem.startswith("not executed: ")
    assert re.match(
        f"{re.escape(str(tmp_path / 'snake_ops.py'))}:{HOSTILE[line]}", snake.problem.removeprefix("not executed: ")
    )
    assert snake.cases == ()
    assert gather.passed


ABSURD = {
    "[PartialShape.of(np.random.randint(1, 99, 2).tolist())]": "and something else for the same arguments: it must depend on",
    "[calls.append(1), PartialShape.of([len(calls)])][1:]": "and something else for the same arguments: it must depend on",
    "[PartialShape((Dimension(-5, -5), *shapes[0].dims[1:]))]": "it must return a PartialShape for each output",
    "[PartialShape((Dimension(2**80, 2**80), *shapes[0].dims[1:]))]": "it must return a PartialShape for each output",
    "[PartialShape((Dimension(2**62, 2**62), *shapes[0].dims[1:]))]": r"infer_shapes says \[4611686018427387904,",
    "[PartialShape((*shapes[0].dims, Dimension(1, 1)))]": r"reference of Snake-example returns output of shape",
    "[shapes[0] if shapes[0].is_static else PartialShape.of([9, 9])]": r"returns \[9,9\] for \[\?,\?\], which does not contain",
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("shapes", ABSURD)
def test_absurd_shapes_are_not_blamed_on_the_library(shapes, checked, tmp_path):
    snake, _ = checked("pass", DECLARATION.replace("[shapes[0]]", shapes)).layers
    assert snake.problem.startswith(f"not executed: {tmp_path / 'snake_ops.py'}:")
    assert re.search(ABSURD[shapes], snake.problem)
    assert snake.cases == ()


def test_a_harmless_one_passes(checked):
    assert checked("print('loud'); x = x.copy(); inputs[0][...] = 7").passed


ODD = """
        Attribute("mode", kind="str", default=""), Attribute("text", kind="str", default="<&\\">", examples=["a b"]),
        Attribute("sizes", kind="ints", default=()), Attribute("big", default=2**63),
        Attribute("flag", kind="bool", default=True),
        Attribute("limit", kind="float", default=0.0, valid_range=(float("-inf"), float("inf"))),
        Attribute("least", kind="float", default=1e-300, valid_range=(0, float("inf"))),
        Attribute("count", default=1, valid_range=(0.5, 2.5)), Attribute("words", kind="a|b-c", default="b-c", examples=["a"]),
"""


def test_odd_attributes_pass(checked):
    """The library does not have them, and the reference does not read them."""
    result = checked("pass", DECLARATION.replace("    attributes=[", f"    attributes=[{ODD}"))
    assert result.passed, [layer.problem or layer.comparisons for layer in result.layers]


def test_what_it_raises_is_escaped_in_every_report(tmp_path, cli):
    """The text has markup, control characters, and the end of a CDATA section."""
    write_model(tmp_path / "model.xml")
    (tmp_path / "snake_class.py").write_text(PYTHON)
    (tmp_path / "snake_ops.py").write_text(DECLARATION.replace("HOSTILE", next(iter(HOSTILE)).replace("<b>", "<script>")))
    base = ("check", "model.xml", "--runtimes", "openvino", "--ops", "snake_ops.py", "--extension", "snake_class:Snake")
    made = {kind: cli(*base, "--format", kind, "--report", f"{kind}.html", cwd=tmp_path).stdout for kind in ("json", "junit")}
    said = json.loads(made["json"])["layers"][0]["problem"]
    assert "KeyError: '<script>" in said
    failures = ElementTree.fromstring(made["junit"]).iter("failure")
    assert any("KeyError: '<script>" in failure.get("message") for failure in failures)
    page = (tmp_path / "json.html").read_text()
    assert "KeyError" in page
    assert "<script>\\x1b" not in page
    assert not set(map(chr, range(32))) - set("\n\t") & set(page)


def test_validate_escapes_what_a_rule_raises(tmp_path, cli):
    write_model(tmp_path / "model.xml")
    rule = "infer_shapes=lambda shapes, attributes: exec(\"raise KeyError('<script>\\\\x1b]]>&')\")"
    text = DECLARATION.replace("infer_shapes=lambda shapes, attributes: [shapes[0]]", rule)
    (tmp_path / "snake_ops.py").write_text(text)
    for kind in ("json", "sarif", "junit"):
        done = cli("validate", "model.xml", "--ops", "snake_ops.py", "--format", kind, cwd=tmp_path, code=1)
        root = json.loads(done.stdout) if kind != "junit" else ElementTree.fromstring(done.stdout)
        assert "KeyError" in (json.dumps(root) if kind != "junit" else ElementTree.tostring(root, "unicode"))
        assert "\x1b" not in done.stdout


def test_run_names_the_line(tmp_path, refusal):
    (tmp_path / "snake_ops.py").write_text(DECLARATION.replace("HOSTILE", "raise KeyError('alfa')"))
    write_model(tmp_path / "model.xml")
    model = ov_gather.read_ir(tmp_path / "model.xml")
    assert model.of_type("Snake")
    text = (
        '<layer id="0" name="s" type="Snake" version="example"><data alpha="1"/><input><port id="0"><dim>2</dim></port></input>'
    )
    (tmp_path / "layer.xml").write_text(f'{text}<output><port id="1"><dim>2</dim></port></output></layer>')
    np.save(tmp_path / "x.npy", np.ones(2, np.float32))
    said = refusal("run", "layer.xml", "--input", "x=x.npy", "--ops", "snake_ops.py", cwd=tmp_path)
    assert said == f"error: {tmp_path / 'snake_ops.py'}:9: reference of Snake-example raises KeyError: 'alfa'\n"
    assert not (tmp_path / "layer.npy").exists()


@pytest.mark.parametrize("error", ["BaseException('x')", "KeyboardInterrupt", "GeneratorExit", "SystemExit(0)"])
def test_a_file_that_raises_anything_is_one_line(error, tmp_path, refusal):
    (tmp_path / "snake_ops.py").write_text(f"import sys\nprint('loud')\nraise {error}\n")
    write_model(tmp_path / "model.xml")
    said = refusal("validate", "model.xml", "--ops", "snake_ops.py", cwd=tmp_path)
    assert re.fullmatch(f"loud\nerror: {re.escape(str(tmp_path))}/snake_ops.py:3: {error.partition('(')[0]}[^\n]*\n", said)


def test_check_goes_on_with_other_files_if_a_rule_fails(tmp_path, cli):
    (tmp_path / "snake_ops.py").write_text(DECLARATION.replace("rtol=1e-4", "infer_types=lambda types: []"))
    write_model(tmp_path / "model.xml")
    done = cli(
        "check", "model.xml", VALID / "spec_layer.xml", "--runtimes", "kernel", "--ops", "snake_ops.py", cwd=tmp_path, code=2
    )
    assert "snake_ops.py:20: infer_types of Snake-example returns []: it must return an ElementType" in done.stderr
    assert "layers: 1" in done.stdout


@pytest.fixture
def hostile(tmp_path):
    """A function that writes three declarations with a change, and returns the arguments of `harden`."""

    def write(old, new):
        assert old in DECLARATIONS
        (tmp_path / "three.py").write_text(DECLARATIONS.replace(old, new, 1))
        (tmp_path / "classes.py").write_text(CLASSES.format(declarations="right"))
        (tmp_path / "right.py").write_text(DECLARATIONS)
        write_three(tmp_path / "three.xml")
        extensions = [word for kind in ("Roll", "SegmentSum", "Lookup") for word in ("--extension", f"classes:{kind}")]
        return ["--policy", "clamp", *extensions, "-o", "new.xml"]

    return write


SIZE = "lowest_specified=lambda size: 0 * size"
FAILING = {
    (
        SIZE,
        "lowest_specified=lambda size: None",
    ): "lowest_specified of SegmentSum-mine returns None: it must return 0, or -size",
    ("    data, ids = shapes\n", "    data = None\n"): "infer_shapes of SegmentSum-mine raises AttributeError: ",
}


@pytest.mark.parametrize("change", FAILING)
def test_a_rule_that_fails_ends_no_proofs_of_other_models(change, hostile, tmp_path, cli):
    hostile(*change)
    other = VALID / "spec_layer.xml"
    done = cli("prove", "three.xml", other, "--format", "json", "--ops", "three.py", cwd=tmp_path, code=2)
    three, fine = json.loads(done.stdout)["files"]
    (finding,) = three["findings"]
    assert (three["proofs"], finding["rule"]) == ([], "OVG099")
    if "infer_shapes" in FAILING[change]:  # a rule of validation found it
        assert finding["layer"]["name"] == "sums"
    assert re.match(f"{re.escape(str(tmp_path))}/three.py:[0-9]+: {FAILING[change]}", finding["message"])
    assert len(fine["proofs"]) == 1


@pytest.mark.sampled(1)
@pytest.mark.parametrize("change", FAILING)
def test_a_rule_that_fails_stops_harden(change, hostile, tmp_path, refusal):
    arguments = hostile(*change)
    assert FAILING[change] in refusal("harden", "three.xml", *arguments, "--ops", "three.py", cwd=tmp_path)
    assert not (tmp_path / "new.xml").exists()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("lie", ["Dimension(7, 7)", "__import__('os')._exit(0)"])
def test_prove_and_harden_refuse_the_same(lie, hostile, tmp_path, cli, refusal):
    """OpenVINO infers shapes by the library, not by the declaration."""
    arguments = hostile('Dimension(attributes["segments"], attributes["segments"])', lie)
    proved = cli("prove", "three.xml", "--ops", "three.py", cwd=tmp_path)
    assert proved.returncode > 0
    said = refusal("harden", "three.xml", *arguments, "--ops", "three.py", cwd=tmp_path)
    reason = "declares dims [4, 3], but SegmentSum-mine gives [7,3]" if "7" in lie else "ends the process, with exit code 0"
    assert reason in proved.stdout + proved.stderr
    assert reason in said
    assert not (tmp_path / "new.xml").exists()


def test_what_a_file_prints_is_in_no_report(tmp_path, cli):
    text = DECLARATION.replace("[shapes[0]],", "[print('louder'), shapes[0]][1:],")
    (tmp_path / "snake_ops.py").write_text(f"print('loud')\n{text}")
    write_model(tmp_path / "model.xml")
    done = cli("validate", "model.xml", "--ops", "snake_ops.py", "--format", "json", cwd=tmp_path, code=0)
    assert json.loads(done.stdout)
    assert {"loud", "louder"} <= set(done.stderr.split())
