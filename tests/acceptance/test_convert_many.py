"""`ov-gather convert` of several models, in processes and on a cluster, as a user runs it."""

import pytest

from helpers.saved_models import saved


def save(path, node="GatherElements<axis: int = 1>(x, i)"):
    text = f"(float[2, 4] x, int64[2, 3] i) => (float[] y) {{ y = {node} }}"
    path.parent.mkdir(exist_ok=True)
    return saved(path, text, 13)


@pytest.fixture
def zoo(tmp_path):
    """Two models that convert, and what is no model between them."""
    models = [save(tmp_path / "zoo" / f"{name}.onnx") for name in "abc"]
    models[1].write_bytes(b"no model")
    return models


@pytest.fixture(params=["one process", "two processes", "a cluster"])
def how(request):
    if request.param == "a cluster":
        return ["--scheduler", request.getfixturevalue("cluster").scheduler_address]
    return ["--jobs", 2] if request.param == "two processes" else []


@pytest.mark.sampled(1)
def test_each_is_converted_as_if_alone(cli, zoo, tmp_path, how):
    done = cli("convert", *zoo, "-o", tmp_path / "irs", "--target", "extension", *how, code=2)
    assert sorted(path.name for path in (tmp_path / "irs").iterdir()) == ["a.bin", "a.xml", "c.bin", "c.xml"]
    assert done.stderr.count("error: ") == 1
    assert f"{zoo[1]}" in done.stderr
    for model in (zoo[0], zoo[2]):
        alone = cli("convert", model, "-o", tmp_path / "irs" / f"{model.stem}.xml", "--target", "extension", "--force")
        assert f"== {model}\n{alone.stdout}" in done.stdout
        assert 'type="GatherElements" version="ov_gather"' in (tmp_path / "irs" / f"{model.stem}.xml").read_text()


def test_the_worst_exit_code(cli, tmp_path):
    """OpenVINO alone reads something where an index is out of bounds, which --strict refuses."""
    models = [save(tmp_path / f"{name}.onnx", "Gather(x, i)") for name in "ac"]
    done = cli("convert", *models, "-o", tmp_path / "irs", "--strict", code=1)
    assert done.stderr.count("--strict is given") == 2
    assert not [*(tmp_path / "irs").iterdir()]


def test_one_model_into_a_directory_that_exists(cli, refusal, zoo, tmp_path):
    (tmp_path / "irs").mkdir()
    cli("convert", zoo[0], "-o", tmp_path / "irs", code=0)
    assert (tmp_path / "irs" / "a.xml").exists()
    assert "a.xml exists; --force overwrites it" in refusal("convert", zoo[0], "-o", tmp_path / "irs")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["-o", "irs.xml"], "--output irs.xml: several models need a directory"),
        (["-o", "irs", "--verify", "--input", "x=x.npy"], "--input is for a single model"),
    ],
)
def test_what_is_not_for_several(refusal, zoo, tmp_path, options, text):
    assert text in refusal("convert", *zoo, *options, cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["zoo"]


@pytest.mark.exhaustive
def test_beside_each_model(cli, zoo, tmp_path):
    cli("convert", "zoo/[ac].onnx", "--jobs", "auto", cwd=tmp_path, code=0)
    cli("legalize", "zoo/[ac].onnx", cwd=tmp_path, code=0)
    made = ["bin", "legal.onnx", "onnx", "xml"]
    assert sorted(path.name for path in (tmp_path / "zoo").iterdir()) == sorted(
        ["b.onnx", *(f"{name}.{suffix}" for name in "ac" for suffix in made)]
    )


def test_models_of_one_name(refusal, tmp_path):
    same = [save(tmp_path / folder / "a.onnx") for folder in ("one", "two")]
    told = refusal("convert", *same, "-o", tmp_path / "irs")
    assert f"would be written for each of {same[0]}, {same[1]}: give them different names" in told
    assert not (tmp_path / "irs").exists()


def test_colours_are_passed_on(cli, tmp_path):
    models = [save(tmp_path / f"{name}.onnx", "Gather(x, i)") for name in "ac"]
    done = cli("convert", *models, "-o", tmp_path / "irs", "--color", "always")
    assert done.stdout.count("\x1b[") > 2


def test_a_path_that_is_not_utf_8_is_named(cli, zoo):
    odd = zoo[0].with_name("odd\udcff.onnx")
    zoo[0].rename(odd)
    done = cli("legalize", odd, code=2)
    assert done.stderr.endswith("the path is not UTF-8, and ONNX can open no other: rename it\n")
