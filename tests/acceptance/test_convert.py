"""`ov-gather convert`, as a user runs it: what it writes, what it says, and what it refuses."""

import os

import numpy as np
import onnx
import openvino
import pytest

from helpers.saved_models import parsed, saved
from helpers.terminals import on_terminal
from ov_gather.converters import ConversionError, convert_model

OUTSIDE = {"save_as_external_data": True, "location": "weights", "size_threshold": 0}
RELU = "(float[2, 2] x) => (float[2, 2] y) { y = Relu (x) }"


def save_gather(path, operator="GatherElements", indices="2, 3", x="2, 4", axis=0):
    node = f"[pick] y = {operator} <axis = {axis}> (x, i)"
    return saved(path, f"(float[{x}] x, int64[{indices}] i) => (float[] y) {{ {node} }}", 13)


def save_table(path, table, text="(int64[3] i) => (float[3, 4] y) { [pick] y = Gather (x, i) }", **options):
    onnx.save(parsed(text, 13, x=table), path, **options)
    return path


def names(directory):
    return sorted(path.name for path in directory.iterdir())


def test_verify(cli, tmp_path):
    nodes = "i = Constant <value = int64[2, 2] {1, 0, 0, 1}> () [pick] y = GatherElements (x, i)"
    model = saved(tmp_path / "m.onnx", f"(float[2, 2] x) => (float[2, 2] y) {{ {nodes} }}", 13)
    done = cli("convert", model, "-o", tmp_path / "m.xml", "--verify", code=0)
    assert "openvino: passed (exact)" in done.stdout
    assert "GatherElements-6" in done.stdout
    assert names(tmp_path) == ["m.bin", "m.onnx", "m.xml"]


def test_steps_only_on_a_terminal(cli, tmp_path):
    model = save_gather(tmp_path / "m.onnx", "Gather", x="4, 2", indices="3")
    seen = on_terminal("convert", model, "--verify")
    for step in ("reading the weights", "repairing what OpenVINO would", "checking gather 1 of 1"):  # the last of each part
        assert step in seen
    done = cli("convert", model, "--verify", "--force", code=0)
    assert done.stderr == ""
    assert "loading" not in done.stdout


def test_verify_with_given_inputs(cli, tmp_path, given):
    model = save_gather(tmp_path / "m.onnx", "Gather", x="4, 2", indices="3")
    for name, indices, code in (("i", [3, -1, 0], 0), ("i", [3, 4, 0], 1), ("j", [0, 0, 0], 2)):
        inputs = given(x=np.arange(8, dtype=np.float32).reshape(4, 2), **{name: indices})
        cli("convert", model, "-o", tmp_path / "m.xml", "--verify", "--force", *inputs, code=code)
    done = cli("convert", model, "-o", tmp_path / "n.xml", "--verify", "--input", "x")
    assert (done.returncode, (tmp_path / "n.xml").exists()) == (2, False)
    assert "--input x: write NAME=FILE.npy" in done.stderr


@pytest.mark.sampled(1)
@pytest.mark.parametrize("size", ["0", "n"])
@pytest.mark.parametrize("target", ["stock", "extension"])
def test_verify_without_an_index(cli, tmp_path, given, size, target):
    """Stock OpenVINO dies of a Gather without elements of static shape: none is written, nor made to check a dynamic one."""
    model = save_gather(tmp_path / "m.onnx", "Gather", x="4, 2", indices=size)
    inputs = given(x=np.arange(8, dtype=np.float32).reshape(4, 2), i=np.zeros(0, np.int64))
    done = cli("convert", model, "-o", tmp_path / "m.xml", "--verify", "--target", target, *inputs, code=0)
    assert "gathers: 1, passed: 1: passed" in done.stdout
    done = cli("validate", tmp_path / "m.xml")
    assert "OVG707" not in done.stdout


def test_what_was_rewritten_and_what_is_lost(cli, tmp_path):
    model = save_gather(tmp_path / "m.onnx", "Gather", axis=1)
    done = cli("convert", model, "-o", tmp_path / "m.xml", code=0)
    assert "node Gather 'pick' (output y)" in done.stdout and "out of bounds yields zeros" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    record = openvino.Core().read_model(tmp_path / "m.xml").get_rt_info(["ov_gather", "losses"]).value
    assert "node Gather 'pick' (output y): an index out of bounds yields zeros" in record

    done = cli("convert", model, "-o", tmp_path / "strict.xml", "--strict", code=1)
    assert "--strict" in done.stderr
    assert not (tmp_path / "strict.xml").exists()
    cli("convert", model, "-o", tmp_path / "strict.xml", "--strict", "--assume-in-bounds", code=0)

    done = cli("convert", save_gather(tmp_path / "fewer.onnx", indices="1, 3", axis=1), "-o", tmp_path / "fewer.xml")
    assert "data sliced" in done.stdout


def test_target_extension(cli, tmp_path):
    cli("convert", save_gather(tmp_path / "m.onnx", "Gather"), "-o", tmp_path / "m.xml", "--target", "extension", code=0)
    assert 'type="Gather" version="ov_gather"' in (tmp_path / "m.xml").read_text()


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("target", "operation"), [("stock", "GatherElements-6"), ("extension", "by [4,1,60]")])
def test_accelerated(cli, tmp_path, target, operation):
    """The index differs from batch to batch, so that no Gather is equal; only our operation can repeat it along axis 1."""
    text = """(float[4, 50, 100] x, int64[4, 1, 60] j) => (float[4, 50, 60] y) {
        s = Constant <value = int64[3] {4, 50, 60}> () i = Expand (j, s) [pick] y = GatherElements <axis = 2> (x, i) }"""
    model = saved(tmp_path / "m.onnx", text, 13)
    done = cli("convert", model, "-o", tmp_path / "m.xml", "--target", target, "--accelerate", "--verify", code=0)
    assert operation in done.stdout
    assert ("Broadcast" in (tmp_path / "m.xml").read_text()) == (target == "stock")


def test_constants_are_float16_on_request_only(cli, tmp_path):
    model = save_table(tmp_path / "m.onnx", np.linspace(0, 1, 400, dtype=np.float32).reshape(100, 4))
    for name, options in (("whole", ()), ("half", ("--fp16",))):
        cli("convert", model, "-o", tmp_path / f"{name}.xml", *options, code=0)
    whole, half = ((tmp_path / f"{name}.bin").stat().st_size for name in ("whole", "half"))
    assert whole >= 1600 > half


def test_legalized_onnx(cli, tmp_path):
    """Stock OpenVINO would refuse indices of this shape; the legalized model keeps its inputs and outputs."""
    model = save_gather(tmp_path / "m.onnx", indices="1, 3", axis=1)
    cli("legalize", model, "-o", tmp_path / "legal.onnx", code=0)
    legal = onnx.load(tmp_path / "legal.onnx")
    assert legal.graph.input == onnx.load(model).graph.input
    assert "Slice" in [node.op_type for node in legal.graph.node]
    openvino.Core().read_model(tmp_path / "legal.onnx")


def test_legalized_onnx_keeps_its_tensors_outside(cli, tmp_path):
    model = save_table(tmp_path / "m.onnx", np.zeros((250, 4), np.float32), **OUTSIDE)
    cli("legalize", model, "-o", tmp_path / "legal.onnx", code=0)
    assert names(tmp_path) == ["legal.onnx", "legal.onnx.data", "m.onnx", "weights"]
    assert onnx.load(tmp_path / "legal.onnx").graph.initializer[0].raw_data == b"\0" * 4000


def test_each_gather_as_a_model_of_its_own(cli, tmp_path):
    text = """(float[9, 4] x, int64[n] i) => (float[262144] y) {
        ["/table/Gather"] a = Gather (x, i) ["/pick/Gather"] b = GatherElements <axis = 1> (a, j) y = GatherND (b, k)
        ["/back/Scatter"] c = ScatterElements <axis = 1> (x, j, b) }"""
    saved(tmp_path / "m.onnx", text, 13, j=[[3, 1], [0, 2]], k=np.zeros((2**18, 2), np.int64))
    cli("extract", tmp_path / "m.onnx", "-o", tmp_path / "nodes", code=0)
    irs = sorted((tmp_path / "nodes").glob("*.xml"))
    assert [path.name for path in irs] == ["000_table_Gather.xml", "001_pick_Gather.xml", "002_y.xml", "003_back_Scatter.xml"]
    inputs = [[port.get_any_name() for port in openvino.Core().read_model(path).inputs] for path in irs]
    assert inputs == [
        ["x", "i"],
        ["/pick/Gather_slice"],
        ["b", "k"],
        ["x", "b"],
    ]  # k is large, and so an input
    cli("check", tmp_path / "nodes", "--runtimes", "kernel,openvino", "--cases", 6, code=0)

    assert "exists; --force" in cli("extract", tmp_path / "m.onnx", "-o", tmp_path / "nodes").stderr
    done = cli("extract", saved(tmp_path / "relu.onnx", RELU), "-o", tmp_path / "none")
    assert (done.returncode, (tmp_path / "none").exists()) == (2, False)


def test_existing_output_is_kept(cli, refusal, tmp_path):
    model = save_gather(tmp_path / "m.onnx")
    (tmp_path / "m.bin").write_bytes(b"mine")
    assert f"{tmp_path}/m.bin exists; --force overwrites it" in refusal("convert", model, "-o", tmp_path / "m.xml")
    assert (tmp_path / "m.bin").read_bytes() == b"mine"
    cli("convert", model, "-o", tmp_path / "m.xml", "--force", code=0)


def test_the_model_is_not_overwritten(cli, refusal, tmp_path):
    save_table(
        tmp_path / "m.onnx",
        np.arange(1000, dtype=np.float32).reshape(250, 4),
        "(int64[3, 4] i) => (float[3, 4] y) { y = GatherElements (x, i) }",
        **{**OUTSIDE, "location": "m.bin"},
    )
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    told = refusal("convert", tmp_path / "m.onnx", "-o", tmp_path / "m.xml", "--force")
    assert f"the output is {tmp_path}/m.bin, which is read" in told
    (tmp_path / "link.bin").symlink_to("m.bin")
    for name in ("m.xml", "link.xml"):
        with pytest.raises(ConversionError, match="would overwrite a part of the model"):
            convert_model(tmp_path / "m.onnx", output=tmp_path / name)
    (tmp_path / "link.bin").unlink()
    cli("legalize", tmp_path / "m.onnx", "-o", tmp_path / "m.onnx", "--force", code=2)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    cli("convert", tmp_path / "m.onnx", "-o", tmp_path / "other.xml", code=0)


def refused(cli, model, *options):
    """What `convert` says when it refuses a model; it must write nothing."""
    before = names(model.parent)
    done = cli("convert", model, "-o", model.with_suffix(".xml"), *options, code=2)
    assert names(model.parent) == before
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {model}: ")
    return line


@pytest.mark.parametrize("content", [b"", b"not ONNX at all", b"\x08\x07\x12\x04" * 100, b"\xff" * 1000])
def test_files_that_are_not_onnx(cli, tmp_path, content):
    (tmp_path / "m.onnx").write_bytes(content)
    refused(cli, tmp_path / "m.onnx")


def test_names_that_are_not_utf8(cli, tmp_path):
    model = saved(tmp_path / "m.onnx", RELU.replace("y", "name"))
    model.write_bytes(model.read_bytes().replace(b"name", b"n\x98me"))
    assert "not a valid ONNX model: 'utf-8' codec" in refused(cli, model)


def test_truncated_files(cli, tmp_path):
    table = np.arange(1000, dtype=np.float32).reshape(250, 4)
    model = save_table(tmp_path / "m.onnx", table)
    model.write_bytes(model.read_bytes()[:-500])
    assert "not a valid ONNX model" in refused(cli, model)

    save_table(model, table, **OUTSIDE)
    os.truncate(tmp_path / "weights", 3999)
    assert f"tensor 'x' ends at byte 4000 of {tmp_path}/weights, which has 3999" in refused(cli, model)
    (tmp_path / "weights").unlink()
    assert "weights" in refused(cli, model)


def test_a_pointer_of_git_lfs_is_named(cli, tmp_path):
    (tmp_path / "m.onnx").write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 123456\n")
    line = refused(cli, tmp_path / "m.onnx")
    assert "m.onnx: it is a pointer of Git LFS, not the file itself; fetch the file with `git lfs pull`" in line


def test_external_data_that_are_a_pointer_of_git_lfs_are_named(cli, tmp_path):
    proto = parsed("(int64[2] i) => (float[2, 400] y) { y = Gather (w, i) }")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((30, 400), np.float32), "w"))
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, location="m.data")
    (tmp_path / "m.data").write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 48000\n")
    line = refused(cli, tmp_path / "m.onnx")
    assert "m.data: it is a pointer of Git LFS, not the file itself; fetch the file with `git lfs pull`" in line


def test_what_cannot_be_converted_is_named(cli, tmp_path):
    proto = parsed("(float[2, 2] x) => (float[2, 2] y) { [act] y = my.domain.Activation (x) }")
    proto.opset_import.append(onnx.helper.make_opsetid("my.domain", 1))
    onnx.save(proto, tmp_path / "m.onnx")
    line = refused(cli, tmp_path / "m.onnx")
    assert ": OpenVINO has no conversion for node my.domain.Activation 'act' (output y): name the library" in line
    assert all(step in line for step in ("--extension", "ConversionExtension", "`ov-gather extension new`"))


def test_where_nothing_can_be_written(cli, tmp_path):
    model = save_gather(tmp_path / "m.onnx")
    (tmp_path / "m.xml").mkdir()
    cli("convert", model, "-o", tmp_path / "m.xml", "--force", code=2)
    assert names(tmp_path) == ["m.onnx", "m.xml"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("-o", "m.bin"),
        ("-o", "m.onnx"),
        ("-o", "m.xml", "--input", "x=x.npy"),
        ("-o", "m.xml", "--target", "both"),
    ],
)
def test_bad_arguments(cli, tmp_path, arguments):
    done = cli(
        "convert",
        saved(tmp_path / "m.onnx", RELU),
        *(tmp_path / argument if "." in argument else argument for argument in arguments),
    )
    assert done.returncode == 2
    assert names(tmp_path) == ["m.onnx"]
    cli("convert", tmp_path / "nowhere.onnx", "-o", tmp_path / "m.xml", code=2)


def test_an_ir_for_an_older_release(cli, tmp_path):
    path = "ir_samples/valid/rank_1_opset16.xml"
    done = cli("lower", path, "-o", tmp_path / "old.xml", "--target", "2025.4")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "GatherElements 'gather' (layer 2): opset16 became opset6",
        f"{tmp_path / 'old.xml'}: written; layers changed: 1, left: 0",
    ]
    cli("validate", tmp_path / "old.xml", "--target", "2025.4", code=0)
    cli("lower", path, "-o", tmp_path / "old.xml", "--target", "2025.4", code=2)
    cli("lower", path, "-o", tmp_path / "other.onnx", "--target", "2025.4", code=2)


def test_long_tables_are_cut(cli, tmp_path):
    nodes = " ".join(f"y{n} = GatherElements <axis = {n % 2}> (x, i)" for n in range(12))
    outputs = ", ".join(f"float[2, 2] y{n}" for n in range(12))
    saved(tmp_path / "m.onnx", f"(float[2, 2] x, int64[2, 2] i) => ({outputs}) {{ {nodes} }}", 13)
    short, whole = (cli("convert", "m.onnx", "--verify", "--force", *more, cwd=tmp_path, code=0) for more in ([], ["-v"]))
    lines = [line for line in short.stdout.splitlines() if line.startswith("outputs: 12, passed: 12")]
    assert len(lines) == 2
    assert "14 more passed: --verbose lists them" in short.stdout
    assert ("'y9'" in whole.stdout, "'y9'" in short.stdout, "more passed" in whole.stdout) == (True, False, False)


def test_gathers_with_long_names(cli, tmp_path):
    saved(tmp_path / "m.onnx", f'(float[9] x, int64[2] i) => (float[2] y) {{ ["{"n" * 300}"] y = Gather (x, i) }}', 13)
    cli("extract", "m.onnx", cwd=tmp_path, code=0)
    assert names(tmp_path / "m.gathers") == [f"000_{'n' * 100}{suffix}" for suffix in (".bin", ".xml")]


def test_outputs_are_beside_the_model(cli, tmp_path):
    save_gather(tmp_path / "m.onnx")
    cli("convert", "m.onnx", cwd=tmp_path, code=0)
    cli("legalize", "m.onnx", cwd=tmp_path, code=0)
    cli("extract", "m.onnx", cwd=tmp_path, code=0)
    cli("lower", "m.xml", "--target", "2025.4", cwd=tmp_path, code=0)
    cli("accelerate", "m.xml", cwd=tmp_path, code=0)
    cli("harden", "m.xml", "--policy", "zero", cwd=tmp_path, code=0)
    stems = ("m", "m.2025.4", "m.accelerated", "m.hardened")
    written = [f"{stem}{suffix}" for stem in stems for suffix in (".bin", ".xml")]
    assert names(tmp_path) == sorted([*written, "m.gathers", "m.legal.onnx", "m.onnx"])
    assert "m.xml exists; --force" in cli("convert", "m.onnx", cwd=tmp_path).stderr
