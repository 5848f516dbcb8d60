"""Declarations of operations that are wrong: each is refused with its file, line, operation and field, and what is right."""

import inspect
import re
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import ov_gather
from helpers.declaring import declared
from helpers.paths import ROOT
from helpers.users_operations import write_model
from ov_gather import cli, ops
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir
from ov_gather.ops import spec
from ov_gather.ops.gather import GATHER_8

TEXT = """import numpy as np
from ov_gather.ops.spec import *

axis_range = lambda shapes: shapes[0].rank and (-shapes[0].rank, shapes[0].rank - 1)
infer_types = lambda types: [types[0]]
infer_shapes = lambda shapes, attributes: [shapes[0]]
reference = lambda inputs, attributes: [np.take_along_axis(inputs[0], inputs[1], attributes["axis"])]

PICK = Operation(
    type="Pick",
    opset="mine",
    inputs=[Input("data", types=("f32", "f16")), Input("places", types=("i64",))],
    attributes=[Attribute("axis", default=1, valid_range=axis_range), Attribute("alpha", default=0.5, kind="float")],
    infer_types=infer_types,
    infer_shapes=infer_shapes,
    reference=reference,
    index_rule=IndexRule(1, AxisSize("axis")),
)
"""


def write_pick(path, axis="1"):
    builder = ModelBuilder("pick")
    rows, places = builder.parameter("data", F32, PartialShape.of((4, 3))), builder.const("places", I64, np.zeros((4, 3), int))
    (y,) = builder.layer("Pick", "pick", "mine", {"axis": axis}, [rows, places], [(F32, PartialShape.of((4, 3)))])
    builder.result("y", y)
    write_ir(builder.build(), path)
    return path


def changed(old, new):
    assert old in TEXT
    return TEXT.replace(old, new)


def test_the_declaration_is_right(tmp_path):
    with declared(tmp_path / "ops.py", TEXT):
        assert ov_gather.validate(write_pick(tmp_path / "m.xml")) == []


ALPHA = 'Attribute("alpha", default=0.5, kind="float")'
FLOAT = 'Attribute("alpha", default=0.5, kind="float", '
RULE = 'IndexRule(1, AxisSize("axis"))'
HAS = "the attributes of kind 'int' are axis"
RANGE = "two numbers in this order"
FIELDS = {
    # attributes
    (ALPHA, FLOAT + "valid_range=(2, 1))"): ("attribute alpha: valid_range is (2, 1)", RANGE),
    (ALPHA, FLOAT + "valid_range=(2,))"): ("attribute alpha: valid_range is (2,)", RANGE),
    (ALPHA, FLOAT + "valid_range=('a', 'b'))"): ("valid_range is ('a', 'b')", RANGE),
    (ALPHA, FLOAT + "valid_range=(0, float('nan')))"): ("valid_range is (0, nan)", RANGE),
    (ALPHA, 'Attribute("alpha", default="x", kind="str", valid_range=(0, 1))'): ("valid_range is (0, 1)", "the kind is 'str'"),
    (ALPHA, FLOAT + "valid_range=(1, 2))"): ("default is 0.5", "valid_range is 1 to 2"),
    (ALPHA, 'Attribute("alpha", default=1.5, kind="float", valid_range=(1, 2), examples=[3.0])'): ("has 3.0", "1 to 2"),
    (ALPHA, 'Attribute("alpha", default=float("nan"), kind="float")'): ("attribute alpha: default is nan", "kind 'float'"),
    (ALPHA, 'Attribute("alpha", default=[1, 2], kind="ints")'): ("default is [1, 2]", "a tuple such as (1, 2)"),
    (ALPHA, 'Attribute("alpha", kind="")'): ("attribute alpha: kind is ''", "int, bool, float, str, ints, floats, or"),
    (ALPHA, 'Attribute("alpha", kind="|")'): ("attribute alpha: kind is '|'", "give one of int"),
    (ALPHA, 'Attribute("alpha", kind="integer")'): ("attribute alpha: kind is 'integer'", "give one of int"),
    (ALPHA, 'Attribute("alpha", kind="Linear|Cubic")'): ("attribute alpha: kind is 'Linear|Cubic'", "in lower case"),
    (ALPHA, 'Attribute("alpha", kind=None)'): ("attribute alpha: kind is None", "give one of int"),
    (ALPHA, 'Attribute("a\\nb")'): ("Attribute: name is 'a\\nb'", "letters, digits and _"),
    (ALPHA, 'Attribute("1st")'): ("name is '1st'", "a name that XML takes"),
    (ALPHA, 'Attribute("a:b")'): ("name is 'a:b'", "a name that XML takes"),
    (ALPHA, 'Attribute("<b>")'): ("Attribute: name is '<b>'", "letters, digits and _"),
    (ALPHA, 'Attribute("axis")'): ("Pick-mine: inputs has 'axis' twice", "different names"),
    (ALPHA, '"alpha"'): ("Pick-mine: attributes is [Attribute(", "give a list of Attributes"),
    # inputs and outputs
    ('types=("f32", "f16")', "types=()"): ("there is no element type ()", "there are boolean, bf16"),
    ('types=("f32", "f16")', 'types=("f65",)'): ("there is no element type 'f65'", "there are boolean, bf16"),
    ('types=("f32", "f16")', "types=5"): ("there is no element type 5", "there are boolean, bf16"),
    ('Input("data"', 'Input("../data"'): ("Input: name is '../data'", "letters, digits and _"),
    ('opset="mine",', 'opset="mine", outputs="output",'): ("Pick-mine: outputs is 'output'", "a list of words"),
    ('opset="mine",', 'opset="mine", outputs=["a", "a"],'): ("Pick-mine: outputs has 'a' twice", "different names"),
    ('opset="mine",', 'opset="mine", outputs=[],'): ("Pick-mine: outputs is []", "give a list of words"),
    ('Input("data"', 'Input("data", attribute=Attribute("a", kind="str")'): ("input data: attribute is of kind 'str'", "'int'"),
    # the operation
    ('type="Pick"', "type=5"): ("Operation: type is 5", "letters, digits and _"),
    ('type="Pick"', 'type="Pi\\x1bck"'): ("Operation: type is 'Pi\\x1bck'", "letters, digits and _"),
    ('type="Pick"', 'type="<script>"'): ("Operation: type is '<script>'", "letters, digits and _"),
    ('opset="mine"', "opset=5"): ("Operation: opsets is (5,)", "give a list of words"),
    ('opset="mine"', 'opsets="mine"'): ("Operation: opsets is 'mine'", "give a list of words"),
    ("reference=reference", "reference=None"): ("Pick-mine: reference is None", "give a function of the input arrays"),
    ("infer_shapes=infer_shapes", "infer_shapes=5"): ("Pick-mine: infer_shapes is 5", "give a function of the input shapes"),
    ('opset="mine",', 'opset="mine", adds_up=True,'): ("Pick-mine: adds_up is True", "such as lambda attributes: True"),
    ('opset="mine",', 'opset="mine", rtol=float("nan"),'): ("Pick-mine: rtol is nan", "give a finite number from 0 on"),
    ('opset="mine",', 'opset="mine", atol=float("inf"),'): ("Pick-mine: atol is inf", "give a finite number from 0 on"),
    ('opset="mine",', 'opset="mine", atol=-1,'): ("Pick-mine: atol is -1", "give a finite number from 0 on"),
    ('opset="mine",', 'opset="mine", rtol={"f65": 1},'): ("Pick-mine: rtol is {'f65': 1}", "one for each element type"),
    # the index rule
    (RULE, "IndexRule(2)"): ("Pick-mine: index_rule has port 2", "the inputs are 0 to 1"),
    (RULE, "IndexRule(-1)"): ("IndexRule: port is -1", "give the position of an input"),
    (RULE, "IndexRule(0)"): ("index_rule is for input data of f32, f16", "indices are integers"),
    (RULE, "IndexRule(1, AxisSize(data=9))"): ("index_rule has data 9", "the inputs are 0 to 1"),
    (RULE, 'IndexRule(1, AxisSize("axes"))'): ("index_rule has axis 'axes'", HAS),
    (RULE, 'IndexRule(1, AttributeSize("nope"))'): ("index_rule has attribute 'nope'", HAS),
    (RULE, 'IndexRule(1, AttributeSize("alpha"))'): ("index_rule has attribute 'alpha'", HAS),
    (RULE, 'IndexRule(1, CoordinateSizes(0))'): ("has sizes.port 0 and port 1", "the input that holds the tuples"),
    (RULE, "IndexRule(1, 5)"): ("IndexRule: sizes is 5", "give a function of the input shapes"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new"), FIELDS)
def test_a_wrong_field_is_refused_with_its_line(tmp_path, old, new):
    wrong, right = FIELDS[old, new]
    path = tmp_path / "my_ops.py"
    with pytest.raises(ValueError) as error, declared(path, changed(old, new)):
        pass
    place, _, message = str(error.value).partition(": ")
    assert re.fullmatch(rf"{re.escape(str(path))}:(\d+)", place)
    assert 9 <= int(place.rpartition(":")[2]) <= 18
    assert wrong in message
    assert right in message
    assert ops.versions_of("Pick") == ()


FUNCTIONS = {
    # function: (its text, what is said of it)
    "infer_types": {
        "lambda types: []": "infer_types of Pick-mine returns []: it must return an ElementType, or None if it is unknown",
        "lambda types: ['f32']": "infer_types of Pick-mine returns ['f32']: it must return an ElementType",
        "lambda types: F32": "infer_types of Pick-mine returns ElementType(name='f32'",
        "lambda types: 1 / 0": "infer_types of Pick-mine raises ZeroDivisionError: division by zero; it may",
    },
    "infer_shapes": {
        "lambda shapes, attributes: shapes[0]": "infer_shapes of Pick-mine returns PartialShape(dims=(",
        "lambda shapes, attributes: [PartialShape((4, 3))]": "PartialShape.of makes one of integers",
        "lambda shapes, attributes: [PartialShape((Dimension(-2, 3), Dimension(3, 3)))]": "it must return a",
        "lambda shapes, attributes: exec('raise RankError(5, None, 9)')": "raises RankError(5, None, 9): give",
        "lambda shapes, attributes: exec('raise SystemExit')": "raises SystemExit; it may raise ShapeError",
    },
    "axis_range": {
        "lambda shapes: (1,)": "valid_range of axis of Pick-mine returns (1,): it must return None, or two numbers",
        "lambda shapes: ('a', 'b')": "valid_range of axis of Pick-mine returns ('a', 'b'): it must return None, or two numbers",
        "lambda shapes: (2, 1)": "valid_range of axis of Pick-mine returns (2, 1): it must return None, or two numbers",
        "lambda shapes: nothing": "valid_range of axis of Pick-mine raises NameError: name 'nothing' is not defined",
    },
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), [(name, text) for name in FUNCTIONS for text in FUNCTIONS[name]])
def test_a_wrong_function_is_named_with_its_line(tmp_path, name, text):
    """`validate` says so of each file with a layer of the operation, and checks the others."""
    lines = TEXT.splitlines()
    number = next(i for i, line in enumerate(lines) if line.startswith(f"{name} = "))
    lines[number] = f"{name} = {text}"
    path, model = tmp_path / "my_ops.py", write_pick(tmp_path / "m.xml")
    with declared(path, "\n".join(lines)):
        with pytest.raises(ValueError) as error:
            ov_gather.validate(model)
        done = CliRunner().invoke(cli.group, ["validate", str(model), "--format", "json"])
    assert str(error.value).startswith(f"{path}:{number + 1}: ")
    assert FUNCTIONS[name][text] in str(error.value)
    assert f"{path.name}:{number + 1}: " in done.stdout
    assert "fault of ov-gather" not in done.stdout


RESULTS = {
    "lambda inputs, attributes: None": "returns None: it must return an array for each output, in a list",
    "lambda inputs, attributes: []": "returns []: it must return an array for each output",
    "lambda inputs, attributes: [1.5]": "returns 1.5 as output: it must be an array",
    "lambda inputs, attributes: [inputs[0].astype('f8')]": "returns output of type float64: infer_types says f32",
    "lambda inputs, attributes: [inputs[0][:2]]": "returns output of shape [2, 3]: infer_shapes says [4,3]",
    "lambda inputs, attributes: [np.zeros((1 << 60,), 'f4')]": "raises ",
    "lambda inputs, attributes: [inputs[0], inputs[0]]": "returns [array([[",
    "lambda inputs, attributes: attributes['axes']": "raises KeyError: 'axes'",
    "lambda inputs, attributes: exit()": "raises SystemExit",
    "lambda inputs, attributes: exec('raise BaseException')": "raises BaseException; it may raise IndexError",
}


@pytest.mark.parametrize("text", RESULTS)
def test_a_wrong_reference_is_named_with_its_line(tmp_path, text):
    path = tmp_path / "my_ops.py"
    with declared(path, re.sub("reference = .*", f"reference = {text}", TEXT)):
        layer = ov_gather.read_ir(write_pick(tmp_path / "m.xml")).of_type("Pick")[0]
        with pytest.raises(ValueError) as error:
            ov_gather.execute(layer, [np.ones((4, 3), np.float32), np.zeros((4, 3), np.int64)])
    assert str(error.value).startswith(f"{path}:7: reference of Pick-mine {RESULTS[text]}")


def test_a_type_may_be_dynamic(tmp_path):
    text = changed("infer_types = lambda types: [types[0]]", "infer_types = lambda types: [DYNAMIC]")
    with declared(tmp_path / "my_ops.py", text):
        layer = ov_gather.read_ir(write_pick(tmp_path / "m.xml")).of_type("Pick")[0]
        (output,) = ov_gather.execute(layer, [np.ones((4, 3), np.float32), np.zeros((4, 3), np.int64)])
    assert output.dtype == np.float32


def test_a_reference_may_change_its_inputs_and_print(tmp_path, capsys):
    text = re.sub(
        "reference = .*", "reference = lambda inputs, attributes: (print('hello'), inputs[0].sort(), [inputs[0]])[2]", TEXT
    )
    x = np.array([[3, 1, 2]] * 4, np.float32)
    with declared(tmp_path / "my_ops.py", text):
        layer = ov_gather.read_ir(write_pick(tmp_path / "m.xml")).of_type("Pick")[0]
        (output,) = ov_gather.execute(layer, [x, np.zeros((4, 3), np.int64)])
    np.testing.assert_array_equal(output[0], [1, 2, 3])
    np.testing.assert_array_equal(x[0], [3, 1, 2])
    assert capsys.readouterr() == ("", "hello\n")


FILES = {
    "raise BaseException('mine')": ":1: BaseException: mine",
    "import ov_gather.ops as ops\nops.restore({})": " changes the operations that are known: only put",
    "import ov_gather.ops as ops\nops._by_type.clear()": " changes the operations that are known",
    "import ov_gather.ops as ops\nops._by_type = {}": " changes the operations that are known",
    "import ov_gather.ops as ops\nops.OPERATIONS = ()": " changes the operations that are known",
    TEXT + "from ov_gather.ops import add\nadd([PICK])\n": " changes the operations that are known",
    changed('"mine"', '"opset1"').replace("Pick", "ReLU"): ": ReLU-opset1: opset 'opset1' is taken: give one of yours",
    changed('"Pick"', '"Const"'): ": Const-mine: type 'Const' is taken: give one of yours",
    changed('"mine"', '"ov_gather"'): ": Pick-ov_gather: opset 'ov_gather' is taken: give one of yours",
}


@pytest.mark.parametrize("given", [None, 5, b"x.py", ["x.py"]])
def test_what_is_no_path_is_refused(given):
    with pytest.raises(TypeError, match=f"declare: give paths of Python files .*, not {type(given).__name__}"):
        ov_gather.declare(given)


@pytest.mark.parametrize("place", ["helping.py", "helping/__init__.py"])
def test_a_module_beside_the_file_is_found_by_the_path_of_python(tmp_path, place):
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("")
    hint = f": helping is beside the file, where Python does not look: set PYTHONPATH={tmp_path}"
    with pytest.raises(ValueError, match="No module named 'helping'") as error, declared(tmp_path / "ops.py", "import helping"):
        pass
    assert str(error.value).endswith(hint)
    with pytest.raises(ValueError, match=r"'nowhere'$"), declared(tmp_path / "ops.py", "import nowhere"):
        pass


def test_very_many_dimensions_are_not_shown(tmp_path):
    text = changed("[shapes[0]]", "[PartialShape.of([1] * 200_000)]")
    with declared(tmp_path / "ops.py", text):
        (finding,) = ov_gather.validate(write_pick(tmp_path / "m.xml"))
    assert finding.rule == "OVG403"
    assert "1,... (200,000 dimensions)]" in finding.message
    assert len(finding.message + finding.hint) < 500


@pytest.mark.parametrize("text", FILES)
def test_a_wrong_file_changes_nothing(tmp_path, text):
    path, known = tmp_path / "my_ops.py", ops.known_types()
    with pytest.raises(ValueError) as error, declared(path, text):
        pass
    assert str(error.value).startswith(f"{path}{FILES[text]}")
    assert ops.known_types() == known
    assert ops.OPERATIONS[4] is GATHER_8 is ops.versions_of("Gather")[2]


@pytest.mark.parametrize(
    ("number", "old", "new"),
    [(0, "default=1.0", "default=0.0"), (1, '["alpha"] *', '["alfa"] *'), (2, "np.sin", "np.float64(1) * np.sin")],
)
def test_the_messages_of_the_page_are_those_of_its_declaration(tmp_path, number, old, new):
    pages = [(ROOT / "docs" / "howto" / f"{name}.md").read_text() for name in ("declare_an_operation", "check_a_library")]
    code = re.search(r"```python\n(.*?)```", pages[0], re.DOTALL)[1]
    messages = re.search(r"```text\n(.*?)```", pages[1], re.DOTALL)[1].splitlines()
    assert old in code
    layer = ov_gather.read_ir(write_model(tmp_path / "model.xml")).of_type("Snake")[0]
    with pytest.raises(ValueError) as error, declared(tmp_path / "my_ops.py", code.replace(old, new)):
        ov_gather.execute(layer, [np.ones((6, 4), np.float32)])
    assert str(error.value) == f"{tmp_path}/{messages[number]}"
    assert len(messages) == 3


def test_objects_that_cannot_be_looked_at_are_no_declarations(tmp_path):
    text = """
class Odd:
    __class__ = property(lambda self: 1 / 0)
    __eq__ = __hash__ = __repr__ = lambda self, *more: 1 / 0

odd = Odd()
"""
    with declared(tmp_path / "my_ops.py", TEXT + text):
        assert ov_gather.validate(write_pick(tmp_path / "m.xml")) == []


def test_files_of_the_same_name_are_modules_of_their_own(tmp_path):
    kept = "from dataclasses import dataclass\nimport sys\nHERE = sys.modules[__name__]\n"
    paths = [tmp_path / folder / "ops.py" for folder in "ab"]
    for path in paths:
        path.parent.mkdir()
    other = changed('"Pick"', '"Other"')
    with declared(paths[0], kept + TEXT), declared(paths[1], kept + other):
        names = set(map(str, paths))
        modules = [module for module in sys.modules.values() if getattr(module, "__file__", "") in names]
        assert [module.__file__ for module in modules] == list(map(str, paths))
        assert all(vars(module)["HERE"] is module for module in modules)


def test_tolerances_by_element_type(tmp_path):
    with declared(tmp_path / "my_ops.py", changed('opset="mine",', 'opset="mine", rtol={"f16": 1e-2}, atol=1e-6,')):
        (operation,) = ops.versions_of("Pick")
    assert operation.permitted(F32) == (1e-6, 0.0)
    assert operation.permitted(operation.inputs[0].element_types[1]) == (1e-6, 1e-2)


def test_a_sweep_of_declared_operations_needs_what_executes_them(tmp_path):
    with declared(tmp_path / "my_ops.py", TEXT) as path:
        done = CliRunner().invoke(cli.group, ["sweep", "--ops", str(path), "--runtimes", "openvino"])
    assert done.exit_code == 2
    assert "give both --ops, which declares operations, and --extension, which executes them" in done.output


RESULTS_OF_RULES = {
    "restrict=lambda shapes, attributes: 1 / 0": ("raises ZeroDivisionError", lambda pick: pick.restrict([ROWS, ROWS], {})),
    "choose_sizes=lambda shapes, attributes, size: [[6]]": ("[[6]]", lambda pick: pick.choose_sizes([ROWS, ROWS], {}, 6)),
    "choose_sizes=lambda shapes, attributes, size: [[-1], [1]]": ("-1", lambda pick: pick.choose_sizes([ROWS, ROWS], {}, 6)),
    "adds_up=lambda attributes: 'yes'": ("returns 'yes'", lambda pick: pick.adds_up({})),
    "custom_version=lambda attributes: 'Gather'": ("returns 'Gather'", lambda pick: pick.custom_version({})),
    "evaluate=lambda inputs, attributes: 5": ("returns 5", lambda pick: pick.evaluate([np.ones(3, "f4"), np.ones(3, int)], {})),
    "index_rule=IndexRule(1, lambda shapes, attributes: 3.5)": ("returns 3.5", lambda pick: pick.index_rule.sizes([ROWS], {})),
    "index_rule=IndexRule(1, AxisSize(0), zero_fill=lambda attributes: 1)": (
        "returns 1",
        lambda pick: pick.index_rule.zero_fill({}),
    ),
    "index_rule=IndexRule(1, AxisSize(0), lowest_specified=lambda size: size / 2)": (
        "returns 1.5",
        lambda pick: pick.index_rule.lowest_specified(3),
    ),
    "index_rule=IndexRule(1, AxisSize(0), lowest_specified=lambda size: -10 * size)": (
        "returns -30: it must return 0, or -size if negative indices count from the end",
        lambda pick: pick.index_rule.lowest_specified(3),
    ),
    "index_rule=IndexRule(1, CoordinateSizes(1), lowest_specified=lambda size: 1 + 0 * size)": (
        "it must return 0, or -size",
        lambda pick: pick.index_rule.lowest_specified(np.array([3, 4])),
    ),
}  # fmt: skip
ROWS = PartialShape.of((4, 3))


@pytest.mark.parametrize("text", RESULTS_OF_RULES)
def test_every_function_is_checked(tmp_path, text):
    said, call = RESULTS_OF_RULES[text]
    whole = TEXT.replace('    index_rule=IndexRule(1, AxisSize("axis")),\n', "") if "index_rule" in text else TEXT
    name = re.findall(r"(\w+)=lambda", text)[0] if "=lambda" in text else "sizes"
    with declared(tmp_path / "my_ops.py", whole.replace("    reference=reference,", f"    reference=reference,\n    {text},")):
        (pick,) = ops.versions_of("Pick")
        with pytest.raises(ValueError) as error:
            call(pick)
    assert str(error.value).startswith(f"{tmp_path}/my_ops.py:17: {name} of Pick-mine ")
    assert said in str(error.value)


class Odd:
    """An object that cannot be shown or compared."""

    __eq__ = __hash__ = __repr__ = __str__ = __len__ = __iter__ = __bool__ = lambda self, *more: 1 / 0  # type: ignore[assignment]


GARBAGE = [None, 5, -1, 2**70, 1.5, float("nan"), True, "", "x", "<b>", b"x", (), [], {}, (None,), [[]], {"f32": "x"}, {5: 5}]
GARBAGE += [object(), int, np.ones(3), np.float32(1), F32, PartialShape(None), Odd(), [Odd()], (Odd(), Odd()), {"f32": Odd()}]


@pytest.mark.parametrize(
    "kind", ["Attribute", "Input", "AxisSize", "CoordinateSizes", "AttributeSize", "IndexRule", "Operation"]
)
def test_nothing_but_a_plain_error_comes_of_garbage(kind):
    made = getattr(spec, kind)
    rule, function = spec.IndexRule(0, spec.AxisSize(0)), lambda *given: None
    right = {
        "Attribute": {"name": "a"},
        "Input": {"name": "x", "types": "i64"},
        "AttributeSize": {"attribute": "a"},
        "IndexRule": {"port": 0},
        "Operation": {"type": "Pick", "opset": "mine", "inputs": [spec.Input("x", "i64")], "index_rule": rule}
        | {"infer_shapes": function, "reference": function},
    }.get(kind, {})
    made(**right)
    refused = 0
    for field in [*inspect.signature(made).parameters]:
        for value in GARBAGE:
            try:
                made(**right | {field: value})
            except spec.OperationError as error:
                assert len(str(error)) < 500
                refused += 1
    assert refused > len(GARBAGE) // 2
