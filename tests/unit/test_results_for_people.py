"""Results in Python: one line as `repr`, tables in notebooks, and errors that say which argument is right."""

import inspect
import os
import pickle
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import openvino
import pytest
from lxml import html

import ov_gather
from helpers.paths import ROOT, SAMPLES
from ov_gather.ranges.proof import Proofs
from ov_gather.rules.findings import Findings

VALID = SAMPLES / "valid" / "onnx_page_1.xml"
WRONG = SAMPLES / "invalid" / "OVG204" / "axis_3.xml"


def model():
    return openvino.Core().read_model(VALID)


@pytest.mark.openvino
@pytest.mark.parametrize(
    ("result", "start"),
    [
        (lambda: ov_gather.read_ir(VALID), "<Model net 'onnx_page_1': 4 layers, 3 edges>"),
        (
            lambda: ov_gather.read_ir(VALID).layers[2],
            "<Layer GatherElements 'gather' (layer 2), opset6: (FP32[2, 2], I64[2, 2]) -> (FP32[2, 2])>",
        ),
        (
            lambda: ov_gather.validate(WRONG)[0],
            f"<Finding error OVG204 at {WRONG}:25, GatherElements 'gather' (layer 2): axis=",
        ),
        (lambda: ov_gather.prove(VALID)[0], "<Proof GatherElements 'gather': proved, every index is in bounds>"),
        (lambda: ov_gather.accelerate(model()), "<Summary 0 of 1 gathers and scatters changed>"),
        (lambda: ov_gather.harden(model()), "<HardeningSummary 0 of 1 gathers and scatters changed, 0 guards>"),
        (lambda: ov_gather.diff(VALID, VALID), "<Differences 0 changes, 0 consequences, 2 layers the same>"),
        (lambda: ov_gather.bisect(VALID, VALID), f"<BisectResult {VALID} and {VALID}: passed>"),
        (
            lambda: ov_gather.cross_check(VALID, runtimes=["kernel"]),
            f"<CrossCheckResult {VALID}: passed, 1 layer, 0 outputs>",
        ),
    ],
)
def test_a_result_is_one_line(result, start):
    text = repr(result())
    assert text.startswith(start)
    assert text.endswith(">")


def test_a_hostile_name_stays_on_one_short_line():
    text = (
        (SAMPLES / "valid" / "spec_layer.xml").read_text().replace('name="gather"', f'name="a&#10;::error::\u202e{"x" * 5000}"')
    )
    for result in (*ov_gather.read_ir(text.encode()).layers, ov_gather.prove(text.encode())[0]):
        assert repr(result).isprintable()
        assert len(repr(result)) < 350


def shown(result):
    page = html.fragment_fromstring(result._repr_html_())
    assert {element.tag for element in page.iter()} <= {"pre", "span"}
    return page.text_content()


@pytest.mark.parametrize(("kind", "call"), [(Findings, ov_gather.validate), (Proofs, ov_gather.prove)])
def test_a_list_is_a_list_and_a_table(kind, call):
    text = WRONG.read_text().replace('name="gather"', 'name="&lt;script&gt;alert(1)&lt;/script&gt;[red]&#10;"')
    found = call((text if kind is Findings else text.replace('axis="3"', 'axis="0"')).encode())
    assert isinstance(found, list)
    assert type(found) is kind
    assert found == list(found) == pickle.loads(pickle.dumps(found))
    assert repr(found) == f"[{found[0]!r}]"
    assert "<script>alert(1)</script>[red]\\n" in shown(found)
    assert all(name in shown(found) for name in kind.columns)
    assert shown(found[0]) == shown(found)
    assert shown(kind()).count("\n") < 9
    many = shown(kind(list(found) * 1200))
    assert "and 1,000 more" in many
    assert many.count("<script>") == 200


def test_version():
    assert ov_gather.__version__ == version("ov-gather")
    assert "__version__" in dir(ov_gather)


def test_register_is_documented():
    text = inspect.getdoc(ov_gather.register)
    for part in ("Args:", "Returns:", "Raises:", "Source:", "TypeError", "FileNotFoundError", "ImportError", "OSError"):
        assert part in text


NO_CORE = r"register: core must be an openvino.Core, such as openvino.Core\(\), not str"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ov_gather.validate(VALID, select="OVG4"), r"^select must be a list such as \['OVG4'\], not 'OVG4'$"),
        (lambda: ov_gather.validate(VALID, ignore=None), r"^ignore must be a list such as \['OVG4'\], not None$"),
        (lambda: ov_gather.validate(VALID, select=[4]), r"^select must be a list such as \['OVG4'\], not \[4\]$"),
        (lambda: ov_gather.validate(VALID, target=2025.4), "^a release of OpenVINO is a text such as '20.*', not 2025.4$"),
        (lambda: ov_gather.cross_check(VALID, runtimes="kernel"), r"^runtimes must be a list such as \['kernel'\]"),
        (lambda: ov_gather.prove(VALID, assume="x=0..9"), "^assume must be a dict such as"),
        (lambda: ov_gather.prove(VALID, assume={"x": 9}), r"^assume x: give two numbers \(lowest, highest\)"),
        (lambda: ov_gather.register("CPU"), f"^{NO_CORE}$"),
        (lambda: ov_gather.execute("layer.xml", []), "^execute: layer must be a Layer such as .*, not str$"),
        (lambda: ov_gather.execute(ov_gather.read_ir(VALID).layers[2], None), "^execute: inputs must be a list of arrays"),
        (
            lambda: ov_gather.converters.compile_onnx(b"", device=3),
            "^compile_onnx: device must be a name such as 'CPU', not 3$",
        ),
    ],
)
def test_a_wrong_type_names_the_right_one(call, message):
    with pytest.raises(TypeError, match=message):
        call()


NOT_ARRAYS = [None, "x", object(), {}, [[1], [1, 2]], b"x", lambda: 0, np.array(["a"], object), 2**70, 1.5]
D, I = np.zeros((3, 4), np.float32), np.zeros((3, 4), np.int64)  # noqa: E741
CALLS = {
    ov_gather.gather_elements: {"data": D, "indices": I, "axis": 0, "out": None},
    ov_gather.gather: {"data": D, "indices": I, "axis": 0, "batch_dims": 0, "bounds": "error", "out": None},
    ov_gather.gather_nd: {"data": D, "indices": I[:, :2], "batch_dims": 0, "out": None},
    ov_gather.scatter_elements: {"data": D, "indices": I, "updates": D, "axis": 0, "reduction": "none", "use_init_val": True},
    ov_gather.scatter_nd: {"data": D, "indices": I[:, :2], "updates": D[:, 0], "reduction": "none", "out": None},
}


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_errors_of_kernels_are_ours(function):
    """A signature of the compiled module, in the error of a binding generator, helps nobody."""
    right = CALLS[function]
    for name in right:
        for wrong in NOT_ARRAYS:
            try:
                function(**right | {name: wrong})
            except (TypeError, ValueError) as error:
                assert str(error).startswith(f"{function.__name__}: "), (name, wrong)
                assert "incompatible" not in str(error)


def test_a_checkout_beside_an_installed_package():
    """Python in a clone imports the clone, not the wheel: converters are found; a warning explains the missing kernel."""
    code = """
import sys, warnings
import ov_gather, ov_gather.converters.errors
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(ov_gather.gather([1, 2], [-1]).tolist(), ov_gather.__file__, ov_gather.converters.__file__)
print(*(str(warning.message) for warning in caught))
"""
    # -S: the import hook of an editable installation does not run, but its directory is on the path, as that of a wheel is
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=ROOT, env={"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    used, told = done.stdout.splitlines()
    assert used == f"[2] {ROOT / 'ov_gather' / '__init__.py'} {ROOT / 'converters' / '__init__.py'}"
    assert f"Python imports ov_gather from the checkout {ROOT}, not the one installed in " in told
    assert told.endswith(f"start Python in another directory, or pip install -e {ROOT}")
