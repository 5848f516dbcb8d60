"""Operations that users declare: what the files may say, which errors they get, and what the commands then know of layers."""

import os
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import ov_gather
from helpers.declared_operations import DECLARATIONS, write_three
from helpers.declaring import declared
from helpers.planted_faults import DECLARATION, write_shift
from ov_gather import cli, ops
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import family_layers
from ov_gather.ops.spec import Attribute, AxisSize, IndexRule, Input, Operation

ROWS = PartialShape.of((5, 3))


@pytest.fixture
def three(tmp_path):
    with declared(tmp_path / "three_ops.py", DECLARATIONS) as path:
        yield path


def model_of(type_, attributes, *inputs, output=ROWS, opset="mine"):
    """Return a model of one layer; inputs are (name, type, shape), or arrays for a Const."""
    builder = ModelBuilder("one")
    made = [
        builder.const(f"c{i}", I64, given) if isinstance(given, np.ndarray) else builder.parameter(*given)
        for i, given in enumerate(inputs)
    ]
    (y,) = builder.layer(type_, "layer", opset, attributes, made, [(F32, output)])
    builder.result("y", y)
    return builder.build()


def rules_of(model, tmp_path):
    path = tmp_path / "model.xml"
    write_ir(model, path)
    return [(finding.rule, finding.message) for finding in ov_gather.validate(path)]


X = ("x", F32, ROWS)
IDS = ("ids", I64, PartialShape.of((5,)))


@pytest.mark.parametrize(
    ("model", "rule", "said"),
    [
        (model_of("Roll", {"axis": "0", "shifts": "1, 2"}, X), None, ""),
        (model_of("Roll", {}, X), None, ""),
        (model_of("Roll", {"axis": "2", "shifts": "1"}, X), "OVG204", "axis=2 is out of range"),
        (model_of("Roll", {"axes": "0"}, X), "OVG202", "unknown attribute axes"),
        (model_of("Roll", {"shifts": "1;2"}, X), "OVG203", "shifts: '1;2' is not a list of integers"),
        (model_of("Roll", {}, IDS, output=IDS[2]), "OVG304", "declares FP32, but Roll-mine gives I64"),
        (model_of("Roll", {}, X, output=PartialShape.of((5, 4))), "OVG403", "declares dims [5, 4], but Roll-mine gives [5,3]"),
        (model_of("Roll", {}, X, IDS), "OVG104", "2 input ports; Roll-mine has 1: x"),
        (model_of("SegmentSum", {"segments": "5"}, X, IDS), None, ""),
        (model_of("SegmentSum", {"segments": "5"}, X, ("ids", F32, IDS[2])), "OVG303", "ids has element type f32"),
        (model_of("SegmentSum", {"segments": "5"}, X, np.array([0, 1, 2, 3, 5])), "OVG601", "ids[4] = 5 is out of bounds"),
        (model_of("SegmentSum", {"segments": "5"}, X, np.array([0, 1, -1, 3, 4])), "OVG601", "ids[2] = -1 is out of bounds"),
        (model_of("SegmentSum", {"segments": "5"}, X, np.arange(4)), "OVG402", "5 rows have 4 ids"),
    ],
)
def test_validate_checks_layers_of_declared_operations(three, tmp_path, model, rule, said):
    found = [(name, message) for name, message in rules_of(model, tmp_path) if name[:4] != "OVG7"]
    assert [name for name, _ in found] == ([rule] if rule else [])
    assert all(said in message for _, message in found)


def test_a_declaration_is_needed(tmp_path):
    assert [rule for rule, _ in rules_of(model_of("Roll", {"axis": "7"}, X), tmp_path)] == ["OVG107"]


def test_execute_takes_the_reference(three):
    model = model_of("Roll", {"shifts": "2,-1"}, X)
    x = np.arange(15, dtype=np.float32).reshape(5, 3)
    (output,) = ov_gather.execute(model.of_type("Roll")[0], [x])
    np.testing.assert_array_equal(output, x[[4, 0, 1, 2, 3]])


def test_indices_are_proved_by_the_index_rule(three, tmp_path):
    proofs = {proof.layer: proof for proof in ov_gather.prove(write_three(tmp_path / "three.xml"))}
    assert {name: proof.status for name, proof in proofs.items()} == {"sums": "proved", "lookup": "conditional"}
    assert proofs["lookup"].requires == {"ids": (0, 3)}
    assert proofs["sums"].axis_size == 4


def test_a_computed_index_out_of_bounds_is_found(three, tmp_path):
    builder = ModelBuilder("computed")
    x, ids = builder.parameter(*X), builder.parameter(*IDS)
    attributes = {"auto_broadcast": "numpy"}
    two = [builder.const(name, I64, np.array(value)) for name, value in (("four", 4), ("seven", 7))]
    (small,) = builder.layer("FloorMod", "small", "opset1", attributes, [ids, two[0]], [(I64, IDS[2])])
    (large,) = builder.layer("Add", "large", "opset1", attributes, [small, two[1]], [(I64, IDS[2])])
    (y,) = builder.layer("SegmentSum", "sums", "mine", {"segments": "5"}, [x, large], [(F32, ROWS)])
    builder.result("y", y)
    found = rules_of(builder.build(), tmp_path)
    assert [rule for rule, _ in found] == ["OVG603"]
    assert "indices are 7..10, out of bounds of axis 0 of size 5" in found[0][1]


def test_an_operation_of_ours_can_be_declared_as_a_users(tmp_path):
    text = """
from dataclasses import replace
from ov_gather.ops.gather import GATHER_7
MINE = replace(GATHER_7, name="", type="Take", opsets=("mine",), evaluate=None)
"""
    axis = np.array(0)
    with declared(tmp_path / "take.py", text):
        taken = model_of("Take", {}, X, np.array([4, 5]), axis, output=PartialShape.of((2, 3)))
        assert [rule for rule, _ in rules_of(taken, tmp_path)] == ["OVG601"]
        (proof,) = ov_gather.prove(tmp_path / "model.xml")
        assert (proof.status, proof.axis_size) == ("refuted", 5)
        x = np.arange(15, dtype=np.float32).reshape(5, 3)
        (output,) = ov_gather.execute(taken.of_type("Take")[0], [x, np.array([4, 0]), axis])
        np.testing.assert_array_equal(output, x[[4, 0]])


OURS = {
    "gather_elements_custom.GATHER_ELEMENTS_CUSTOM": ({"axis": "0"}, [np.array([[4, 0, -6]])]),
    "gather.GATHER_CUSTOM": ({}, [np.array([4, -6]), np.array(0)]),
    "gather_nd.GATHER_ND_CUSTOM": ({}, [np.array([[4, 3]])]),
    "scatter_elements_update.SCATTER_ELEMENTS_CUSTOM": ({"reduction": "add"}, [np.array([[4, -6]]), np.ones((1, 2), "f4")]),
    "scatter_nd_update.SCATTER_ND_CUSTOM": ({"reduction": "max"}, [np.array([[4, 3]]), np.ones(1, "f4")]),
}  # fmt: skip


@pytest.mark.parametrize("name", OURS)
def test_ours_declared_by_a_user_are_known_as_well(tmp_path, name):
    """Their declarations say all that validation, execution and proofs need: those in the registry have no more."""
    attributes, (indices, *others) = OURS[name]
    module, _, constant = name.partition(".")
    text = f"""
from dataclasses import replace
from ov_gather.ops.{module} import {constant}
MINE = replace({constant}, name="", type="Mine", opsets=("mine",))
"""
    operands = [np.arange(15, dtype=np.float32).reshape(5, 3), np.clip(indices, -5, 2), *others]

    def told(layer_type, opset):
        builder = ModelBuilder("one")
        made = [builder.parameter(*X), builder.const("indices", I64, indices)]
        for i, value in enumerate(others):
            made.append(builder.const(f"c{i}", F32 if value.dtype == np.float32 else I64, value))
        (y,) = builder.layer(layer_type, "layer", opset, attributes, made, [(F32, PartialShape(None))])
        builder.result("y", y)
        model = isolate(next(family_layers(builder.build())))
        found = [(rule, message.replace(f"{layer_type}-{opset}", "it")) for rule, message in rules_of(model, tmp_path)]
        proofs = [(proof.status, proof.axis_size) for proof in ov_gather.prove(tmp_path / "model.xml")]
        return found, proofs, ov_gather.execute(model.of_type(layer_type)[0], operands)

    layer_type = vars(sys.modules[f"ov_gather.ops.{module}"])[constant].type
    ours, our_proofs, our_outputs = told(layer_type, "ov_gather")
    with declared(tmp_path / "mine.py", text):
        mine, my_proofs, my_outputs = told("Mine", "mine")
    assert [rule for rule, _ in mine] == ["OVG601"]
    assert mine == [found for found in ours if found[0] != "OVG107"]
    assert my_proofs == our_proofs
    assert my_proofs[0][0] == "refuted"
    np.testing.assert_array_equal(my_outputs, our_outputs)


WRONG = {
    "x = (": ":1: SyntaxError: '(' was never closed",
    "\nimport math\nmath.nothing": ":3: AttributeError: module 'math' has no attribute 'nothing'",
    "import sys\nsys.exit(0)": ":2: SystemExit: 0",
    "": " declares no operation: put an Operation of ov_gather.ops.spec into a variable of the module",
    DECLARATION.replace('default=1, valid_range=axis_range', 'default=1.5'): ":42: attribute axis: default is 1.5: give",
    DECLARATION.replace('valid_range=axis_range', 'valid_range=(0, 10**400)'): ":42: attribute axis: valid_range is (0, 1000",
    DECLARATION.replace('"f64", ', '"f65", '): ":41: there is no element type 'f65'; there are boolean, bf16",
    DECLARATION.replace('Input("y"', 'Input("x"'): ":38: Shift-example: inputs has 'x' twice: give inputs",
    DECLARATION.replace('"Shift"', '"Gather"').replace('"example"', '"opset8"'): ": Gather-opset8: opset 'opset8' is taken",
    DECLARATION + "AGAIN = SHIFT.__class__(type='Shift', opset='example', inputs=SHIFT.inputs, infer_shapes=infer_shapes, "
    "reference=reference)": ": Shift of opset 'example' is declared already: give it another type or opset",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_file_is_refused_with_its_line(tmp_path, text):
    path = tmp_path / "wrong_ops.py"
    path.write_text(text)
    known = ops.known_types()
    result = CliRunner().invoke(cli.group, ["validate", str(write_shift(tmp_path / "m.xml")), "--ops", str(path)])
    assert isinstance(result.exception, ValueError)
    assert str(result.exception).startswith(str(path))
    assert WRONG[text] in str(result.exception)
    assert ops.known_types() == known


def test_two_files_with_one_operation_are_refused(three, tmp_path):
    other = tmp_path / "again.py"
    other.write_text(DECLARATIONS)
    with pytest.raises(ValueError, match=rf"{other} declares Roll of opset 'mine', as {three} does: give only one"):
        ov_gather.declare(other)


def test_a_file_that_was_changed_replaces_its_declarations(three):
    assert ops.versions_of("Roll")[0].inputs[0].name == "x"
    three.write_text(DECLARATIONS.replace('Input("x"', 'Input("values"'))
    ov_gather.declare(three)
    assert [operation.inputs[0].name for operation in ops.versions_of("Roll")] == ["values"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('attributes["axis"] % len', 'attributes["axes"] % len', "14: infer_shapes of Shift-example raises KeyError: 'axes'"),
        ("[PartialShape(tuple(dims))]", "[dims]", "7: infer_shapes of Shift-example returns [[Dimension("),
        ("[PartialShape(tuple(dims))]", "[]", "7: infer_shapes of Shift-example returns []: it must return a PartialShape for"),
        ("[np.concatenate(", "(np.concatenate(", "27: reference of Shift-example returns array([[["),
        ("x, y = inputs\n", "x, y = inputs\n    y = y.astype('f8')\n", "27: reference of Shift-example returns output of"),
    ],
)  # fmt: skip
def test_a_function_of_a_declaration_that_is_wrong_is_named(tmp_path, old, new, said):
    text = DECLARATION.replace(old, new)
    if new.startswith("("):
        text = text.replace('attributes["axis"])]', 'attributes["axis"]))')
    with declared(tmp_path / "shift_ops.py", text) as path:
        layer = ov_gather.read_ir(write_shift(tmp_path / "m.xml")).of_type("Shift")[0]
        x = np.ones((2, 3, 4), np.float32)
        with pytest.raises(ValueError) as error:
            ov_gather.execute(layer, [x, x])
    assert str(error.value).startswith(f"{path}:{said}")


def test_worker_processes_know_them(tmp_path):
    path = tmp_path / "shift_ops.py"
    path.write_text(DECLARATION)
    files = [str(write_shift(tmp_path / f"{axis}.xml", axis=axis)) for axis in (0, 1)]
    with declared(path, DECLARATION):
        result = CliRunner().invoke(cli.group, ["validate", *files, "--jobs", "2", "--ops", str(path)])
    assert result.exit_code == 0, result.output
    assert "notes: 0" in result.output  # no OVG107


def test_a_repository_cannot_name_them(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text('[tool.ov_gather]\nops = ["evil.py"]\n')
    model = write_shift(tmp_path / "m.xml")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli.group, ["validate", str(model)])
    assert result.exit_code == 2
    assert "ops is unknown" in result.output


FORGETS = f"{DECLARATION}\nfrom ov_gather import ops\nops.restore({{}})\n"
"""A package that empties the registry."""


def install(folder, name, text):
    """Write a package with an entry point, as an installer does."""
    (folder / f"{name}_package.py").write_text(text)
    info = folder / f"{name}_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[ov_gather.operations]\n{name} = {name}_package\n")


def validated(*arguments, **environment):
    command = [sys.executable, "-m", "ov_gather", "validate", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})


def test_an_installed_package_declares_by_an_entry_point(tmp_path):
    install(tmp_path, "shift", DECLARATION)
    model = write_shift(tmp_path / "m.xml")
    assert "OVG107" in validated(model).stdout
    assert "OVG107" not in validated(model, PYTHONPATH=str(tmp_path)).stdout


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "text", ["raise BaseException('no luck')", "import missing", "x = 5", DECLARATION + "SHIFT.type = 5", FORGETS]
)
def test_an_installed_package_that_is_broken_is_left_out(tmp_path, text):
    """Nobody asked for it, and other models do not need it: it is named once, and its operations are unknown."""
    install(tmp_path, "shift", DECLARATION)
    install(tmp_path, "broken", text)
    models = [write_shift(tmp_path / f"{name}.xml") for name in "ab"]
    done = validated(*models, "--jobs", 2, PYTHONPATH=str(tmp_path))
    assert "OVG107" not in done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        "warning: package broken-package declares operations that are left out (entry point broken = broken_package of "
    )


def test_an_entry_point_that_names_no_module(tmp_path):
    install(tmp_path, "shift", DECLARATION)
    install(tmp_path, "broken", "")
    (tmp_path / "broken_package-1.0.dist-info" / "entry_points.txt").write_text("[ov_gather.operations]\nx = a b\n")
    (line,) = validated(write_shift(tmp_path / "m.xml"), PYTHONPATH=str(tmp_path)).stderr.splitlines()
    said = "'a b' is no module: write x = package.module, or package.module:variable"
    assert line.endswith(f"(entry point x = a b of ov_gather.operations): {said}")


def test_an_installed_package_that_ends_the_process_is_named(tmp_path):
    install(tmp_path, "broken", "import os; os._exit(0)")
    command = [sys.executable, "-m", "ov_gather", "validate", write_shift(tmp_path / "m.xml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: broken_package of package broken-package ends the process, with exit code 0: it must return\n"


def test_damaged_metadata_are_named_once(tmp_path):
    install(tmp_path, "shift", DECLARATION)
    (tmp_path / "shift_package-1.0.dist-info" / "entry_points.txt").write_text(
        "[ov_gather.operations]\nnot a line of an ini file"
    )
    (line,) = validated(write_shift(tmp_path / "m.xml"), PYTHONPATH=str(tmp_path)).stderr.splitlines()
    assert line.startswith("warning: operations of installed packages are left out: an entry_points.txt is damaged")


def test_what_is_no_file_is_not_read(tmp_path):
    """Reading a pipe that nobody writes to would never end."""
    os.mkfifo(tmp_path / "ops.py")
    for path in (tmp_path / "ops.py", tmp_path):
        with pytest.raises(ValueError, match=f"{path} is no file: give a Python file that declares operations"):
            ov_gather.declare(path)


def test_kinds_of_attributes():
    def value(kind, text, **more):
        return Attribute("a", kind=kind, **more).read({"a": text}, [])

    assert value("float", "2.5e-1") == 0.25
    assert value("ints", "1, -2,3") == (1, -2, 3)
    assert value("ints", "") == ()
    assert value("floats", "0.5,1") == (0.5, 1.0)
    assert value("str", "Linear") == "Linear"
    assert value("float", "0.5", valid_range=(0, 1)) == 0.5
    for kind, text in (("float", "1_0"), ("float", "x"), ("ints", "1.5"), ("ints", "1,,2"), ("floats", "a")):
        with pytest.raises(ValueError, match="is not"):
            value(kind, text)
    with pytest.raises(ValueError, match=r"a=\(1, 9\) is out of range \(0 to 5\)"):
        value("ints", "1,9", valid_range=(0, 5))


def test_a_plain_operation_needs_few_lines():
    operation = Operation(
        type="Twice",
        opset="mine",
        inputs=[Input("x", types="i64")],
        infer_shapes=lambda shapes, attributes: shapes,
        reference=lambda inputs, attributes: [2 * inputs[0]],
        index_rule=IndexRule(0, AxisSize(0)),
    )
    assert (operation.name, operation.opsets, operation.inputs[0].element_types) == ("Twice-mine", ("mine",), (I64,))
    assert operation.choose_sizes([PartialShape.parse("?,3..4")], {}, 6) == ((6, 4),)
