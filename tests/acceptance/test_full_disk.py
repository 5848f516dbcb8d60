"""A disk that is full: one line, exit code 2, and nothing that is half-written."""

from pathlib import Path

import numpy as np
import pytest

from helpers.saved_models import saved

SIZE = 100


@pytest.fixture
def model(tmp_path):
    """A model of one gather; the .bin of its IR holds the constant indices."""
    indices = np.arange(SIZE * SIZE).reshape(SIZE, SIZE) % SIZE
    text = f"(float[{SIZE}, {SIZE}] x) => (float[{SIZE}, {SIZE}] y) {{ y = GatherElements (x, i) }}"
    return saved(tmp_path / "m.onnx", text, i=indices)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("limit", [0, 1000, 10_000])
@pytest.mark.parametrize("command", ["run", "convert", "legalize", "accelerate", "nodes"])
def test_nothing_is_half_written(cli, model, tmp_path, given, command, limit):
    """No file can be larger than `limit` bytes: what is there stays, and nothing else is left."""
    cli("convert", model, "-o", tmp_path / "m.xml", code=0)
    text = f"(float[{SIZE}, {SIZE}] x, int64[1] k) => (float[1, n] y) {{ z = Gather (x, k) y = GatherElements (z, i) }}"
    two = saved(tmp_path / "two.onnx", text, i=np.zeros((1, SIZE * SIZE), np.int64))
    out = tmp_path / "out"
    (out / "nodes").mkdir(parents=True)
    for suffix in ("npy", "xml", "bin", "onnx"):
        (out / f"o.{suffix}").write_text("old")
    inputs = given(data=np.zeros((SIZE, SIZE), np.float32))
    arguments = {
        "run": ("run", tmp_path / "m.xml", *inputs, "-o", out / "o.npy"),
        "convert": ("convert", model, "-o", out / "o.xml"),
        "legalize": ("legalize", model, "-o", out / "o.onnx"),
        "accelerate": ("accelerate", tmp_path / "m.xml", "-o", out / "o.xml"),
        "nodes": ("extract", two, "-o", out / "nodes"),
    }[command]
    done = cli(*arguments, *["--force"] * (command != "nodes"), file_size=limit, code=2)
    assert done.stderr.splitlines()[-1].startswith("error: "), done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in out.rglob("*") if not path.is_file() or path.read_text() != "old"] == ["nodes"]
    assert len(list(out.iterdir())) == 5


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "arguments", [("explain",), ("validate", "ir_samples/valid"), ("check", "ir_samples/valid/spec_layer.xml")]
)
def test_stdout_on_a_full_disk(real_cli, arguments):
    with Path("/dev/full").open("w") as file:
        done = real_cli(*arguments, stdout=file)
    assert done.returncode == 2
    assert done.stderr == "error: [Errno 28] No space left on device\n"
