"""What `import ov_gather` gives and costs."""

import subprocess
import sys

import onnx
import pytest
from onnx import TensorProto, helper

import ov_gather

RUNTIMES = {"openvino", "onnx", "onnxruntime", "onnx_ir"}


def test_every_public_name_is_there():
    for name in ov_gather.__all__:
        assert getattr(ov_gather, name) is not None
    assert dir(ov_gather) == sorted(ov_gather.__all__)


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


def test_validate_starts_lightly(samples):
    path = str(samples / "valid" / "spec_layer.xml")
    run = f"CliRunner().invoke(group, ['validate', {path!r}])"
    modules = _modules_after(f"from click.testing import CliRunner; from ov_gather.cli import group; {run}")
    assert "ov_gather.rules.validation" in modules
    assert not modules & {*RUNTIMES, "lxml", "numpy", "rich", "multiprocessing", "json", "importlib.metadata"}


@pytest.mark.slow
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
