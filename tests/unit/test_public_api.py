"""What `import ov_gather` gives and costs, and what the package tells loggers; it prints nothing unless it is asked to."""

import logging
import subprocess
import sys
from importlib import import_module

import onnx
import onnx.parser
import openvino
import pytest
from onnx import TensorProto, helper

import ov_gather
from helpers.paths import SAMPLES
from ov_gather.acceleration.accelerate import PASSES
from ov_gather.acceleration.harden import POLICIES
from ov_gather.cli import COMMANDS
from ov_gather.converters import convert_model

RUNTIMES = {"openvino", "onnx", "onnxruntime", "onnx_ir"}


def test_every_public_name_is_there():
    for name in ov_gather.__all__:
        assert getattr(ov_gather, name) is not None
    assert dir(ov_gather) == sorted([*ov_gather.__all__, "__version__"])


def test_names_stay_functions_after_their_modules_are_imported():
    ov_gather.cross_check  # noqa: B018 - the first access imports
    assert callable(ov_gather.cross_check)
    assert callable(ov_gather.validate)
    assert callable(ov_gather.execute)


def test_a_name_that_was_used_is_found_at_once():
    """A look-up through the package's `__getattr__` takes longer than a small gather."""
    used = ov_gather.gather_elements
    assert vars(ov_gather)["gather_elements"] is used


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'gather_everything'"):
        ov_gather.gather_everything  # noqa: B018


def _modules_after(code: str) -> set[str]:
    script = f"{code}\nimport sys; print('\\n'.join(sys.modules))"
    return set(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split())


def test_import_loads_nothing_heavy():
    assert not _modules_after("import ov_gather") & {*RUNTIMES, "numpy"}


def test_help_loads_no_command():
    code = "from ov_gather.cli import group; group(['--help'], standalone_mode=False)"
    assert not _modules_after(code) & {"openvino", "onnx", "onnx_ir", "numpy", "ov_gather.cli.check"}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_loads_no_runtime(name):
    """A command imports what it works with when it works."""
    run = f"CliRunner().invoke(group, [{name!r}, '--help'])"
    modules = _modules_after(f"from click.testing import CliRunner; from ov_gather.cli import group; {run}")
    assert f"ov_gather.cli.{name}" in modules
    assert not modules & {*RUNTIMES, "numpy", "rich", "lxml", "multiprocessing"}


@pytest.mark.openvino
def test_help_lists_the_passes_and_policies_that_there_are():
    """Their names are repeated in the commands, so that --help does not import OpenVINO."""
    accelerate, harden = (import_module(f"ov_gather.cli.{name}").command for name in ("accelerate", "harden"))
    passes, portable, policy = (
        next(option for option in command.params if option.name == name)
        for command, name in ((accelerate, "passes"), (accelerate, "portable"), (harden, "policy"))
    )
    assert sorted(passes.type.choices) == sorted(PASSES)
    assert portable.help.endswith(f": {', '.join(name for name, each in PASSES.items() if each.portable)}.")
    assert tuple(policy.type.choices) == POLICIES


def test_validate_starts_lightly(samples):
    path = str(samples / "valid" / "spec_layer.xml")
    run = f"CliRunner().invoke(group, ['validate', {path!r}])"
    modules = _modules_after(f"from click.testing import CliRunner; from ov_gather.cli import group; {run}")
    assert "ov_gather.rules.validation" in modules
    assert not modules & {*RUNTIMES, "lxml", "numpy", "rich", "multiprocessing", "json", "importlib.metadata"}


@pytest.mark.openvino
@pytest.mark.onnxruntime
def test_convert_loads_sympy_only_for_sizes_that_are_computed(tmp_path):
    """onnx_ir imports sympy, which would take longer than the conversion of most models."""
    for sizes, is_loaded in ((["batch", 4], False), (["batch + 1", 4], True)):
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name in ("x", "y")]
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "graph", infos[:1], infos[1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        onnx.save(model, tmp_path / "m.onnx")
        arguments = ["ov-gather", "convert", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "m.xml"), "--verify", "--force"]
        code = f"""
import sys
from ov_gather.cli import main
sys.argv = {arguments!r}
try:
    main()
except SystemExit as end:
    assert not end.code"""
        modules = _modules_after(code)
        assert "openvino_telemetry" not in modules
        assert ("sympy.core" in modules) == is_loaded


def test_proving_and_comparing_load_no_runtime(samples):
    path = str(samples / "valid" / "onnx_page_1.xml")
    run = f"""
for arguments in ["prove", {path!r}], ["diff", {path!r}, {path!r}]:
    print(CliRunner().invoke(group, arguments).output)"""
    modules = _modules_after(f"from click.testing import CliRunner; from ov_gather.cli import group; {run}")
    assert {"proved,", "difference:"} <= modules
    assert not modules & {*RUNTIMES, "rich", "lxml", "multiprocessing", "json", "sympy"}


SAMPLE = SAMPLES / "valid" / "spec_layer.xml"
MODEL = onnx.parser.parse_model(
    '<ir_version: 10, opset_import: ["": 18]> g (float[4,4] x, int64[2,1] i) => (float[2,1] y) '
    "{ y = GatherElements<axis = 1>(x, i) }"
)


def test_files_that_are_read(caplog):
    with caplog.at_level(logging.DEBUG, "ov_gather"):
        ov_gather.validate(SAMPLE)
        ov_gather.read_ir(SAMPLE.read_bytes())
    assert caplog.messages == [f"{SAMPLE}: read, problems: 0", "a document in memory: read, problems: 0"]
    assert {record.name for record in caplog.records} == {"ov_gather.ir"}


@pytest.mark.openvino
@pytest.mark.filterwarnings("ignore")
def test_what_was_changed_lost_and_written(caplog, tmp_path):
    with caplog.at_level(logging.INFO, "ov_gather"):
        model = convert_model(MODEL, output=tmp_path / "m.xml")
        ov_gather.harden(model, policy="clamp")
    told = "\n".join(caplog.messages)
    assert "node GatherElements '' (output y): data sliced to" in told
    assert f"{tmp_path / 'm.xml'}: written" in told
    assert "GatherElements-6 'y': conditional, indices are clamped" in told


@pytest.mark.openvino
def test_what_acceleration_did(caplog):
    with caplog.at_level(logging.INFO, "ov_gather"):
        ov_gather.accelerate(openvino.Core().read_model(SAMPLE))
    assert any(message.startswith("GatherElements-6 'gather': ") for message in caplog.messages)


def test_nothing_is_printed_unless_asked_for():
    code = f"import logging, ov_gather; ov_gather.read_ir({str(SAMPLE)!r}); assert logging.getLogger('ov_gather').handlers"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
