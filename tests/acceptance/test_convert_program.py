"""`ov-gather convert PROGRAM.pt2`: what a user of PyTorch sees."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")


class Model(torch.nn.Module):
    """A table, and two kinds of gathers of what is read from it."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Parameter(torch.arange(40.0).reshape(10, 4), requires_grad=False)

    def forward(self, ids, position):
        rows = torch.nn.functional.embedding(ids, self.table)
        return torch.gather(rows, 1, position), rows[position[:, 0], ids]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The path of an exported program whose first dimension is open."""
    path, size = tmp_path_factory.mktemp("pytorch") / "m.pt2", torch.export.Dim("n", min=2, max=4)
    tensors = torch.tensor([1, 3, 0]), torch.tensor([[2, 0], [2, 3], [1, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what PyTorch calls itself
        torch.export.save(torch.export.export(Model(), tensors, dynamic_shapes=({0: size}, {0: size})), path)
    return path


@pytest.mark.openvino
def test_verify(cli, program, tmp_path):
    done = cli("convert", program, "-o", tmp_path / "m.xml", "--verify", "--target", "extension", "--trust")
    assert (done.returncode, done.stderr) == (0, f"warning: {program}: code of this file is executed now, as --trust says\n")
    assert "not as PyTorch says" in done.stdout
    assert "compared with torch on the original" in done.stdout
    assert "outputs: 2, passed: 2" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"m.xml", "m.bin"}
    cli("validate", tmp_path / "m.xml", "--fail-on", "warning", code=0)


@pytest.mark.openvino
def test_inputs_that_pytorch_refuses(cli, program, tmp_path, given):
    inputs = given(ids=[1, 30, 0], position=np.zeros((3, 2), np.int64))
    done = cli("convert", program, "-o", tmp_path / "m.xml", "--verify", "--trust", *inputs, code=2)
    assert "not verified: PyTorch does not execute the program: " in done.stderr
    assert not (tmp_path / "m.xml").exists()


@pytest.mark.openvino
def test_lanes_are_for_onnx_models(cli, program, tmp_path):
    done = cli("convert", program, "-o", tmp_path / "m.xml", "--trust", "--lanes", code=2)
    assert "values travel in lanes only in ONNX models" in done.stderr


@pytest.mark.parametrize("command", ["legalize", "extract"])
def test_commands_for_onnx_models(refusal, program, command):
    assert ": this is a PyTorch program; `ov-gather" in refusal(command, program)
