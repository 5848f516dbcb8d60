"""`ov-gather run`, as a user runs it."""

import numpy as np
import pytest

FRAGMENT = "ir_samples/valid/spec_layer_fragment.xml"


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "d.npy", rng.random((3, 7, 5), np.float32))
    np.save(tmp_path / "i.npy", rng.integers(0, 7, (3, 10, 5)))
    return tmp_path


def run(cli, files, ir=FRAGMENT, *more, data="d.npy", indices="i.npy"):
    return cli(
        "run", ir, "--input", f"data={files / data}", "--input", f"indices={files / indices}", "-o", files / "out.npy", *more
    )


def test_gives_what_numpy_gives(cli, files):
    done = run(cli, files)
    assert done.returncode == 0, done.stderr
    assert "float32[3, 10, 5]" in done.stdout
    data, indices = np.load(files / "d.npy"), np.load(files / "i.npy")
    np.testing.assert_array_equal(np.load(files / "out.npy"), np.take_along_axis(data, indices, 1))


def test_constant_inputs_are_taken_from_the_ir(cli, tmp_path):
    cli("run", "ir_samples/valid/openvino_page_2.xml", "-o", tmp_path / "out.npy", code=0)
    assert np.load(tmp_path / "out.npy").tolist() == [[7, 7, 1], [3, 4, 3]]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"i.npy": np.full((3, 10, 5), 7)}, "indices[0, 0, 0] = 7 is out of bounds for axis 1 of size 7 (valid -7..6)"),
        ({"i.npy": np.zeros((3, 10, 4), np.int64)}, "indices has shape [3, 10, 4], its port declares [3,10,5]"),
        ({"i.npy": np.zeros((3, 10, 5))}, "indices must be i32 or i64, not float64"),
        ({"d.npy": np.array([{}], object)}, "allow_pickle"),
    ],
)
def test_what_cannot_be_executed_writes_nothing(refusal, files, change, text):
    for name, array in change.items():
        np.save(files / name, array)
    before = sorted(files.iterdir())
    told = run(refusal, files)
    assert told.startswith("error: ")
    assert text in told
    assert sorted(files.iterdir()) == before


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04j", b"\x93NUMPY\x01\x00\x06\x00(((((\n", b"\x93NUMPY"])
def test_damaged_arrays(refusal, files, content):
    (files / "d.npy").write_bytes(content)
    (line,) = run(refusal, files).splitlines()
    assert line.startswith(f"error: {files}/d.npy: not a .npy file: ")


def test_several_arrays_in_one_file(refusal, files):
    np.savez(files / "d.npz", a=np.zeros(1))
    assert "holds several arrays" in run(refusal, files, data="d.npz")


def test_foreign_byte_order(cli, files):
    np.save(files / "i.npy", np.load(files / "i.npy").astype(">i8"))
    assert run(cli, files).returncode == 0


def test_a_fragment_with_too_many_ports(refusal, files, copied):
    path = copied("valid/spec_layer_fragment", changes=[("</input>", '<port id="9"/></input>')])
    assert "GatherElements-6 has the inputs data, indices and one output" in run(refusal, files, path)


def test_bad_arguments(refusal, files):
    assert "needs --input for data and indices" in refusal("run", FRAGMENT, "-o", files / "out.npy")
    assert "NAME one of data, indices" in refusal("run", FRAGMENT, "--input", "x=y.npy", "-o", files / "out.npy")
    assert "exactly one gather-family layer" in run(refusal, files, "ir_samples/valid/if_bodies.xml")
    assert "nowhere.npy" in run(refusal, files, data="nowhere.npy")
    assert "each once" in run(refusal, files, FRAGMENT, "--input", "data=x.npy")
    assert not (files / "out.npy").exists()
