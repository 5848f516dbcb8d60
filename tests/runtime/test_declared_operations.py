"""Three operations of users in Python, declared in a file outside of the package: validated, executed, checked, made safe."""

import sys

import numpy as np
import openvino as ov
import pytest

import ov_gather
from helpers.declared_operations import CLASSES, DECLARATIONS, write_three
from helpers.declaring import declared
from ov_gather.crosscheck.results import Status

pytestmark = [
    pytest.mark.openvino,
    pytest.mark.skipif(not hasattr(ov, "DiscreteTypeInfo"), reason="this OpenVINO takes no operations in Python"),
]
KINDS = ("Roll", "SegmentSum", "Lookup")
ROWS = 5


@pytest.fixture
def extensions(tmp_path, monkeypatch):
    """The classes of a module that only this test imports, with their declarations."""
    declarations, classes = f"ops_of_{tmp_path.name}", f"classes_of_{tmp_path.name}"
    (tmp_path / f"{classes}.py").write_text(CLASSES.format(declarations=declarations))
    monkeypatch.syspath_prepend(tmp_path)
    with declared(tmp_path / f"{declarations}.py", DECLARATIONS):
        yield [f"{classes}:{kind}" for kind in KINDS]


def read(path, extensions, with_ours=False):
    core = ov_gather.register(ov.Core()) if with_ours else ov.Core()
    for name in extensions:
        module, _, kind = name.partition(":")
        core.add_extension(getattr(sys.modules.get(module) or __import__(module), kind))
    return core, core.read_model(path)


def feed(ids):
    rng = np.random.default_rng(1)
    floats = (rng.random(shape, np.float32) for shape in ((ROWS, 3), ROWS))
    return dict(zip(("x", "ids", "weights"), (next(floats), np.array(ids), next(floats)), strict=True))


def expected(given, places):
    """Return the output of the model for these places, computed with loops."""
    x, sums = given["x"], np.zeros((4, 3))
    for row, i in enumerate(given["ids"]):
        sums[i % 4] += x[(row - 1) % ROWS]
    rows = [sums[i] * (1 - w) + sums[min(i + 1, 3)] * w for i, w in zip(places, given["weights"], strict=True)]
    return np.stack(rows)


@pytest.mark.exhaustive
def test_they_are_validated_and_checked(extensions, tmp_path):
    model = write_three(tmp_path / "three.xml")
    assert ov_gather.validate(model, infer=True, extensions=extensions) == []
    result = ov_gather.cross_check(model, extensions=extensions, cases=3)
    assert result.passed, [layer.problem or layer.comparisons for layer in result.layers]
    assert not result.not_run
    assert [layer.operation for layer in result.layers] == [f"{kind}-mine" for kind in KINDS]
    for layer in result.layers:
        assert set(layer.counts["library"]) == set(layer.counts["openvino"]) == {Status.PASSED}


@pytest.mark.parametrize(("policy", "portable"), [("clamp", False), ("raise", False), ("raise", True), ("zero", False)])
def test_harden_guards_their_indices(extensions, tmp_path, policy, portable):
    core, model = read(write_three(tmp_path / "three.xml"), extensions, with_ours=True)
    summary = ov_gather.harden(model, policy=policy, portable=portable)
    done = {site.layer: (site.status, site.done) for site in summary.sites}
    assert done["sums"] == ("proved", "")
    assert done["lookup"][0] == "conditional"
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    good, bad = feed([0, 1, 2, 3, 3]), feed([0, -1, 2, 3, 9])
    np.testing.assert_allclose(compiled(good)["y"], expected(good, good["ids"]), rtol=1e-4)
    if policy == "clamp":
        np.testing.assert_allclose(compiled(bad)["y"], expected(bad, np.clip(bad["ids"], 0, 3)), rtol=1e-4)
    else:
        with pytest.raises(RuntimeError, match=r"bounds_check|exceed"):
            compiled(bad)


def test_other_commands_pass_them_through(extensions, tmp_path):
    path = write_three(tmp_path / "three.xml")
    _, model = read(path, extensions)
    before = [node.get_type_name() for node in model.get_ops()]
    ov_gather.accelerate(model)
    assert [node.get_type_name() for node in model.get_ops()] == before
    assert ov_gather.diff(path, path).passed
    assert ov_gather.bisect(path, path, extensions=extensions).passed


@pytest.mark.exhaustive
def test_a_reference_that_refuses_valid_indices_is_at_fault_itself(tmp_path, monkeypatch):
    declarations, classes = f"ops_of_{tmp_path.name}", f"classes_of_{tmp_path.name}"
    (tmp_path / f"{classes}.py").write_text(CLASSES.format(declarations=declarations))
    monkeypatch.syspath_prepend(tmp_path)
    wrong = DECLARATIONS.replace('ids.max() < attributes["segments"])', 'ids.max() < attributes["segments"] - 1)')
    assert wrong != DECLARATIONS
    with declared(tmp_path / f"{declarations}.py", wrong) as path:
        model = write_three(tmp_path / "three.xml")
        result = ov_gather.cross_check(model, extensions=[f"{classes}:{kind}" for kind in KINDS], cases=3)
    problems = {layer.operation: layer.problem for layer in result.layers}
    said = f"{path}:53: reference of SegmentSum-mine refuses indices that its index rule permits: a segment is out of bounds"
    assert problems["SegmentSum-mine"] == f"not executed: {said}"
    assert problems["Roll-mine"] == problems["Lookup-mine"] == ""
