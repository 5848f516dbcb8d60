"""`ov-gather accelerate` and `ov-gather bench model`, as a user runs them, and real architectures where torch exports them."""

import re
import subprocess
import sys

import numpy as np
import openvino as ov
import pytest
from click.testing import CliRunner
from openvino import opset13 as ops

import ov_gather
from helpers.paths import TOOLS
from ov_gather.acceleration.graph import operation, walk
from ov_gather.bench.model import default_precision
from ov_gather.cli.bench import command as bench
from ov_gather.crosscheck.inputs.openvino import generate_inputs
from ov_gather.runtimes.session import Session

pytestmark = pytest.mark.openvino

REAL_MODELS = TOOLS / "real_models.py"


@pytest.fixture
def rows(tmp_path):
    """A model with a gather of rows whose index is expanded, and an f32 constant that fp16 would change."""
    data, index = ops.parameter([200, 64], np.float32, name="data"), ops.parameter([300, 1], np.int64, name="index")
    moved = ops.add(data, ops.constant(np.float32(1.0001)))
    gather = ops.gather_elements(moved, ops.broadcast(index, ops.constant(np.array([300, 64]))), 0, name="rows")
    ov.serialize(ov.Model([gather], [data, index], "model"), tmp_path / "m.xml")
    return tmp_path / "m.xml"


@pytest.fixture
def bench_model(monkeypatch):
    """`ov-gather bench model` in this process, for a moment."""
    monkeypatch.setattr("ov_gather.bench.model.SECONDS", 0.1)

    def run(*arguments, code=0):
        done = CliRunner().invoke(bench, ["model", *map(str, arguments)])
        assert done.exit_code == code, done.output
        return done.stdout

    return run


def outputs_of(path, inputs):
    core = ov_gather.register(ov.Core())
    return [array.tobytes() for array in Session(core, core.read_model(path))(inputs)]


def check_same(path, other):
    model = ov.Core().read_model(path)
    for seed in range(5):
        inputs = generate_inputs(model, seed)
        assert outputs_of(path, inputs) == outputs_of(other, inputs)


def operations(path):
    return {operation(node) for _, node in walk(ov_gather.register(ov.Core()).read_model(path))}


@pytest.mark.exhaustive
def test_accelerate_and_bench(cli, bench_model, rows, tmp_path):
    done = cli("accelerate", rows, "-o", tmp_path / "n.xml", code=0)
    assert "ov_gather.GatherElements by [300,1]" in done.stdout
    assert done.stdout.endswith("n.xml: 1 of 1 gathers and scatters changed\n")
    assert "ov_gather.GatherElements" in operations(tmp_path / "n.xml")
    check_same(rows, tmp_path / "n.xml")

    for others in ([tmp_path / "n.xml"], []):
        told = bench_model(rows, *others, "--threads", 1)
        times = r": \d+\.\d\dx \(.* ms before, .* ms after; quartiles of pairs .* to .*\), the same outputs, threads: 1$"
        measured = re.findall(rf"^(\w+){times}", told, re.MULTILINE)
        assert measured == list(dict.fromkeys(("f32", default_precision())))
        assert len(re.findall(r"ov_gather.GatherElements +0.0% +\d", told)) == len(measured)


@pytest.mark.exhaustive
def test_tune(cli, rows, tmp_path, given):
    options = ["--tune", "--threads", 1, *given(index=np.arange(-200, 100).reshape(300, 1))]
    done = cli("accelerate", rows, "-o", tmp_path / "n.xml", *options, code=0)
    (gain,) = re.findall(r"ov_gather.GatherElements by \[300,1\] +(\d\.\d+)x +(yes|no)", done.stdout)
    is_kept = float(gain[0]) >= 1.01
    assert gain[1] == ("yes" if is_kept else "no")
    assert re.search(r"^\d\.\d\dx on 1 threads$", done.stdout, re.MULTILINE)
    check_same(rows, tmp_path / "n.xml")


def test_portable(cli, rows, tmp_path):
    done = cli("accelerate", rows, "-o", tmp_path / "n.xml", "--portable", code=0)
    assert "whether the index is in -200..199 is not known before it runs" in done.stdout
    cli("accelerate", rows, "-o", tmp_path / "n.xml", "--portable", "--assume-in-bounds", "--force", code=0)
    assert ov.Core().read_model(tmp_path / "n.xml")
    assert "Gather-8" in operations(tmp_path / "n.xml")
    check_same(rows, tmp_path / "n.xml")


def test_one_pass(real_cli, rows, tmp_path):
    done = real_cli("accelerate", rows, "-o", tmp_path / "n.xml", "--pass", "replace-elements", code=0)
    assert "ov_gather.GatherElements by [300,64]" in done.stdout


def test_what_is_accelerated_already(cli, rows, tmp_path):
    for source, output in ((rows, "once"), (tmp_path / "once.xml", "twice")):
        done = cli("accelerate", source, "-o", tmp_path / f"{output}.xml", code=0)
    check_same(rows, tmp_path / "once.xml")
    assert "ours already" in done.stdout
    assert (tmp_path / "once.xml").read_bytes() == (tmp_path / "twice.xml").read_bytes()


def test_no_gathers(cli, samples, tmp_path):
    data = ops.parameter([2, 3], np.float32)
    ov.serialize(ov.Model([ops.relu(data)], [data], "model"), tmp_path / "m.xml")
    done = cli("accelerate", tmp_path / "m.xml", "-o", tmp_path / "n.xml")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "no gathers or scatters: the model is unchanged")
    assert (tmp_path / "n.xml").read_bytes() == (tmp_path / "m.xml").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["{rows}", "-o", "n.bin"], "the name of an IR ends in .xml"),
        (["{rows}", "-o", "{tmp}/n.xml", "--assume-in-bounds"], "assume_in_bounds is for portable"),
        (["{rows}", "-o", "{tmp}/n.xml", "--portable", "--pass", "fold-broadcasts"], "no portable pass fold-broadcasts"),
        (["{samples}/invalid/OVG001/truncated.xml", "-o", "{tmp}/n.xml"], "truncated.xml:"),
        (["{samples}/invalid/OVG104/three_inputs.xml", "-o", "{tmp}/n.xml"], "OpenVINO cannot read it"),
        (["{rows}", "-o", "{tmp}/n.xml", "--tune", "--pass", "to-gather"], "--tune chooses by itself"),
        (["{rows}", "-o", "{tmp}/n.xml", "--input", "data=d.npy"], "--input is for --tune"),
        (["{blob}", "-o", "{tmp}/n.xml"], "m.blob:1: not well-formed XML"),
    ],
)
def test_what_cannot_be_done(refusal, rows, samples, tmp_path, arguments, reason):
    blob = tmp_path / "m.blob"  # a compiled model, as OpenVINO exports it
    blob.write_bytes(ov.Core().compile_model(ov.Core().read_model(rows), "CPU").export_model().getvalue())
    places = {"rows": rows, "tmp": tmp_path, "samples": samples, "blob": blob}
    before = set(tmp_path.iterdir())
    assert reason in refusal("accelerate", *(argument.format(**places) for argument in arguments))
    assert set(tmp_path.iterdir()) == before


def test_bench_model_says_what_it_cannot_measure(bench_model, refusal, rows, tmp_path, given):
    data = ops.parameter([-1, 3], np.float32, name="data")
    ov.serialize(ov.Model([ops.relu(data)], [data], "model"), tmp_path / "dynamic.xml")
    assert "the same outputs" in bench_model(tmp_path / "dynamic.xml")
    for name, shape, reason in (("data", (5, 4), "input 'data' is [?,3], and cannot be [5, 4]"), ("x", (5, 3), "no input x")):
        assert reason in refusal("bench", "model", tmp_path / "dynamic.xml", *given(**{name: np.zeros(shape, np.float32)}))
    assert "the inputs of both models must be the same" in refusal("bench", "model", rows, tmp_path / "dynamic.xml")


def test_bench_model_of_models_that_differ(bench_model, tmp_path):
    for name, work in (("m", ops.relu), ("n", ops.negative)):
        data = ops.parameter([2, 3], np.float32)
        ov.serialize(ov.Model([work(data)], [data], "model"), tmp_path / f"{name}.xml")
    told = bench_model(tmp_path / "m.xml", tmp_path / "n.xml", code=1)
    assert re.search(r"^f32: .*, worse outputs \(error against f32 0 before, \S+ after\)", told, re.MULTILINE)


@pytest.mark.parametrize("name", ["gnn", "knn", "beam", "ctc", "deberta", "rtdetr"])
def test_real_architectures(name, tmp_path):
    """Each architecture is accelerated with and without `portable`, and compared on five random inputs."""
    for package in ("torch", "transformers", "onnxscript"):
        pytest.importorskip(package, reason="exports need torch, transformers, onnxscript: pip install .[models]")
    subprocess.run([sys.executable, REAL_MODELS, tmp_path, name], check=True, capture_output=True)
    ov.save_model(ov.convert_model(tmp_path / f"{name}.onnx"), tmp_path / "m.xml", compress_to_fp16=False)
    for portable in (False, True):
        model = ov.Core().read_model(tmp_path / "m.xml")
        assert ov_gather.accelerate(model, portable=portable, assume_in_bounds=portable).changed
        ov.serialize(model, tmp_path / "n.xml")
        check_same(tmp_path / "m.xml", tmp_path / "n.xml")


def test_gathers_that_stay_are_counted_by_reason(cli, tmp_path):
    """Of many that stay for one reason, one line is enough; --verbose lists them."""
    x, value = ops.parameter([4, 6], np.float32), None
    for _ in range(20):
        value = ops.gather(value or x, ops.constant(np.array([3, 1, 0, 2])), ops.constant(0))
    ov.save_model(ov.Model([value], [x]), tmp_path / "m.xml", compress_to_fp16=False)
    short = cli("accelerate", tmp_path / "m.xml", "-o", tmp_path / "a.xml", code=0).stdout
    whole = cli("accelerate", tmp_path / "m.xml", "-o", tmp_path / "b.xml", "--verbose", code=0).stdout
    counts = [int(count) for count in re.findall(r"^(\d+) unchanged: ", short, re.M)]
    assert sum(counts) == 20
    assert whole.count("Gather-8") == 20
    assert "Gather-8" not in short
