"""What `convert --verify` does with the files of the original: each weight is read once, and copied only into the IR."""

import os
import re
import subprocess
import sys

import numpy as np
import onnx
import pytest

from helpers.saved_models import parsed
from ov_gather.converters import weights
from ov_gather.converters.models import convert, written
from ov_gather.converters.weights import weights_outside
from ov_gather.crosscheck.models import intermediates
from ov_gather.crosscheck.models.verify import verify_conversion
from ov_gather.runtimes.base import OnnxFile, RefusedError
from ov_gather.runtimes.isolated import IsolatedRuntime, borrowed

pytestmark = [
    pytest.mark.openvino,
    pytest.mark.onnxruntime,
    pytest.mark.filterwarnings("ignore::ov_gather.converters.LossyConversionWarning"),
]

CHILD = """
import os, sys
from pathlib import Path
opened = []
sys.addaudithook(lambda event, given: event == "open" and opened.append(str(given[0])))
from ov_gather.cli import main
try:
    main()
finally:
    names = [os.path.basename(name) for name in opened]
    print("opened", names.count("m.onnx"))
    print(Path("/proc/self/io").read_text(), Path("/proc/self/status").read_text())
"""


def rows_of_products(path, gathers, columns, **options):
    """Save a model that gathers rows of products with weights of 64 x `columns`; return the bytes of all weights."""
    nodes = "".join(f"m{k} = MatMul(x, w{k}) [gather_{k}] g{k} = Gather<axis = 0>(m{k}, i) " for k in range(gathers))
    total = ",".join(f"g{k}" for k in range(gathers))
    text = f"(float[2,64] x, int64[2] i) => (float[2,{columns}] y) {{ {nodes} y = Sum({total}) }}"
    weights = {f"w{k}": np.full((64, columns), 0.01, np.float32) for k in range(gathers)}
    onnx.save(parsed(text, **weights), path, **options)
    return sum(array.nbytes for array in weights.values())


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
@pytest.mark.parametrize("outside", [False, True], ids=["in the file", "external"])
def test_the_original_is_opened_once_and_its_weights_are_read_once(tmp_path, outside):
    """They were parsed three times, and written three times more, for onnxruntime."""
    options = {"save_as_external_data": True, "location": "weights.data"} if outside else {}
    size = rows_of_products(tmp_path / "m.onnx", 6, 1 << 14, **options)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, "convert", tmp_path / "m.onnx", "--verify"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "gathers: 6, passed: 6: passed" in done.stdout
    read, written, peak = (int(re.search(rf"{name}:\s*(\d+)", done.stdout)[1]) for name in ("rchar", "wchar", "VmHWM"))
    assert outside or "opened 1\n" in done.stdout
    assert read < size  # modules: weights are mapped
    assert written < (1 if outside else 2) * size + (1 << 20)  # the .bin, and what is moved out of the file
    assert peak * 1024 < 3 * size + 300e6


def activated(monkeypatch):
    """Return a list that will hold the files that onnxruntime loads."""
    files, original = [], IsolatedRuntime.activate

    def noted(self, model, threads=0):
        files.extend([model] if self.name == "onnxruntime" else [])
        return original(self, model, threads)

    monkeypatch.setattr(IsolatedRuntime, "activate", noted)
    return files


def verified(path):
    with weights_outside(path) as readable:
        with written(convert(path, readable=readable).model, path.with_suffix(".xml")):
            pass
        return verify_conversion(path, path.with_suffix(".xml"), readable=readable)


def test_onnxruntime_executes_the_original_and_finds_operands_in_a_copy_without_weights(tmp_path, monkeypatch):
    files, path = activated(monkeypatch), tmp_path / "m.onnx"
    rows_of_products(path, 40, 256)
    result = verified(path)
    assert (result.passed, len(result.layers)) == (True, 40)
    assert [(file.path == path, file.runs_once) for file in files] == [(True, False), (False, True), (False, True)]
    assert {file.data and file.data != tmp_path for file in files[1:]} == {True}


def test_a_wrong_copy_of_the_weights_is_found(tmp_path, monkeypatch):
    """What is compared with are outputs of the file itself."""
    rows_of_products(tmp_path / "m.onnx", 2, 256)
    original = weights._move

    def damaged(tensor, raw, file):
        original(tensor, memoryview(np.frombuffer(raw, np.float32) * -1).cast("B"), file)

    monkeypatch.setattr(weights, "_move", damaged)
    assert not verified(tmp_path / "m.onnx").passed


def test_what_onnxruntime_cannot_compare_or_load_is_written_anew(tmp_path, monkeypatch):
    files, path = activated(monkeypatch), tmp_path / "m.onnx"
    onnx.save(parsed("(float[2,9] x) => (float[2,3] v, int64[2,3] i) { v, i = TopK<sorted = 0>(x, k) }", k=[3]), path)
    assert verified(path).passed
    assert {file.path == path for file in files} == {False}

    files.clear()
    rows_of_products(path, 1, 256)
    model = onnx.load(path)
    model.graph.node[0].attribute.append(onnx.helper.make_attribute("unknown", 1))
    path.write_bytes(model.SerializeToString())
    with borrowed(["onnxruntime"]) as (runtime,), pytest.raises(RefusedError):
        runtime.activate(OnnxFile(path))
    with borrowed(["onnxruntime"]) as (runtime,), runtime:
        model = intermediates.load(path)
        model.graph[0].attributes.pop("unknown")
        with intermediates.activated(model, runtime, OnnxFile(path)):
            assert runtime.execute([np.ones((2, 64), np.float32), np.array([1, 0])])[0].shape == (2, 256)


def test_each_step_is_said_before_it_is_taken(tmp_path):
    steps = []
    rows_of_products(tmp_path / "m.onnx", 3, 256)
    conversion = convert(tmp_path / "m.onnx", step=steps.append)
    with written(conversion.model, tmp_path / "m.xml"):
        pass
    verify_conversion(tmp_path / "m.onnx", tmp_path / "m.xml", step=steps.append)
    assert steps == [
        "checking the model",
        "rewriting gathers",
        "finding what OpenVINO would compute differently",
        "converting to OpenVINO",
        "repairing what OpenVINO would compute differently",
        "executing the original on onnxruntime",
        "executing the result on openvino",
        *(f"checking gather {number} of 3" for number in (1, 2, 3)),
    ]
