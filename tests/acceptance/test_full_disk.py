"""A disk that is full: one line, exit code 2, and nothing that is half-written."""

from pathlib import Path

import numpy as np
import pytest

from helpers.saved_models import saved

pytestmark = pytest.mark.slow

SIZE = 100


@pytest.fixture
def model(tmp_path):
    """A model of one gather; the .bin of its IR holds the constant indices."""
    indices = np.arange(SIZE * SIZE).reshape(SIZE, SIZE) % SIZE
    text = f"(float[{SIZE}, {SIZE}] x) => (float[{SIZE}, {SIZE}] y) {{ y = GatherElements (x, i) }}"
    return saved(tmp_path / "m.onnx", text, i=indices)


@pytest.mark.parametrize("limit", [0, 1000, 10_000])
@pytest.mark.parametrize("command", ["run", "convert", "legalize", "accelerate", "nodes"])
def test_nothing_is_left(cli, model, tmp_path, command, limit):
    """No file can be larger than `limit` bytes."""
    assert cli("convert", model, "-o", tmp_path / "m.xml").returncode == 0
    np.save(tmp_path / "x.npy", np.zeros((SIZE, SIZE), np.float32))
    out = tmp_path / "out"
    out.mkdir()
    arguments = {
        "run": ("run", tmp_path / "m.xml", "--input", f"data={tmp_path}/x.npy", "-o", out / "o.npy"),
        "convert": ("convert", model, "-o", out / "o.xml"),
        "legalize": ("convert", model, "-o", out / "o.onnx", "--legalize-only"),
        "accelerate": ("accelerate", tmp_path / "m.xml", "-o", out / "o.xml"),
        "nodes": ("convert", model, "--nodes", out),
    }[command]
    done = cli(*arguments, file_size=limit)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: "), done.stderr
    assert "Traceback" not in done.stderr
    assert list(out.iterdir()) == []


@pytest.mark.parametrize(
    "arguments", [("explain",), ("validate", "ir_samples/valid"), ("check", "ir_samples/valid/spec_layer.xml")]
)
def test_stdout_on_a_full_disk(real_cli, arguments):
    with Path("/dev/full").open("w") as file:
        done = real_cli(*arguments, stdout=file)
    assert done.returncode == 2
    assert done.stderr == "error: [Errno 28] No space left on device\n"
