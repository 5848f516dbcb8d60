"""`ov-gather fix` where a file is a link, where others use bytes of the .bin, and where names and order are an interface."""

import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset13 as ops
import pytest

from ov_gather import validate
from ov_gather.rules.mending import mend


@pytest.fixture
def model(copied: Callable[..., Path]) -> Path:
    """A model with negative indices, which `fix` writes anew in the .bin; and with a wrong dim."""
    path = copied("divergent/negative-indices/onnx_page_3", stem="m")
    text = path.read_text()
    at = text.rindex("<dim>3</dim>")
    path.write_text(text[:at] + "<dim>7</dim>" + text[at + len("<dim>3</dim>") :])
    return path


def moved(file: Path, place: Path) -> Path:
    """Move a file and leave a link."""
    place.parent.mkdir(parents=True, exist_ok=True)
    file.rename(place)
    file.symlink_to(place)
    return place


def test_the_bin_is_the_one_beside_the_path_that_was_given(cli, model, tmp_path):
    place = moved(model, tmp_path / "store" / "m.xml")
    place.with_suffix(".bin").write_bytes(b"another model's")
    before, document = model.with_suffix(".bin").read_bytes(), place.read_bytes()
    assert "mended: 2" in cli("fix", model).stderr
    assert place.with_suffix(".bin").read_bytes() == b"another model's"
    assert model.is_symlink()
    assert place.read_bytes() != document
    assert model.with_suffix(".bin").read_bytes() != before
    assert not validate(model)


def test_a_bin_that_is_a_link_is_written_through(cli, model, tmp_path):
    place = moved(model.with_suffix(".bin"), tmp_path / "store" / "weights")
    assert "mended: 2" in cli("fix", model).stderr
    assert model.with_suffix(".bin").is_symlink()
    assert not validate(model)
    assert (np.frombuffer(place.read_bytes()[36:], np.int64) >= 0).all()


def test_a_bin_of_another_xml_stays(cli, model, tmp_path):
    place = moved(model.with_suffix(".bin"), tmp_path / "store" / "m.bin")
    place.with_suffix(".xml").write_bytes(model.read_bytes())
    before, document = place.read_bytes(), model.read_bytes()
    done = cli("fix", model, "--fail-on", "warning", code=1)
    assert f"{model}: not mended: its .bin is a link to {place}, which is the .bin of" in done.stderr
    assert (place.read_bytes(), model.read_bytes()) == (before, document)


def test_a_cache_that_names_files_by_their_content(cli, model, tmp_path):
    """The layout of huggingface_hub: snapshots link to blobs, which other revisions share."""
    blobs = []
    for file in (model, model.with_suffix(".bin")):
        blobs.append(moved(file, tmp_path / "blobs" / sha256(file.read_bytes()).hexdigest()))
    done = cli("fix", model, "--fail-on", "warning", code=1)
    assert f"{model}: not mended: it is a link to {tmp_path}/blobs/" in done.stderr
    assert "mended: 0 in 0 of 1 files" in done.stderr
    assert [sha256(blob.read_bytes()).hexdigest() for blob in blobs] == [blob.name for blob in blobs]


def test_a_read_only_file_stays(cli, model):
    before = model.read_bytes()
    model.chmod(0o444)
    assert f"{model} is read-only" in cli("fix", model).stderr
    assert model.read_bytes() == before


def test_both_files_or_none(model, monkeypatch):
    before = [file.read_bytes() for file in (model, model.with_suffix(".bin"))]
    mended = mend(model, unsafe=False)
    replace = Path.replace

    def refused(file: Path, place: Path) -> Path:
        if Path(place) == model and file.suffix != ".xml":
            raise PermissionError(1, "no")
        return replace(file, place)

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(PermissionError):
        mended.write()
    monkeypatch.undo()
    assert [file.read_bytes() for file in (model, model.with_suffix(".bin"))] == before
    assert sorted(file.name for file in model.parent.iterdir()) == ["m.bin", "m.xml"]


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_diff_of_other_encodings(cli, model, encoding):
    text = model.read_text().removeprefix('<?xml version="1.0"?>').replace('name="gather', 'name="gäther')
    model.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>{text}'.encode(encoding))
    before = model.read_bytes()
    for options, code in ((("--diff",), 0), ((), 1)):  # 1 for what is left
        done = cli("fix", model, *options, code=code)
        assert "Traceback" not in done.stderr
    assert model.read_bytes() == before


@pytest.mark.parametrize(
    "reference",
    [
        '<blobs><weights offset="{end}" size="4"/></blobs>',
        '<data offset="{end}" size="4" element_type="f32" shape="1"/>',
        '<data table_offset="{end}" table_size="4"/>',
        '<rt_info><attribute name="x" version="0" offset=" +{end}"/></rt_info>',
    ],
)
@pytest.mark.parametrize("unsafe", [False, True])
def test_bytes_that_something_refers_to_are_not_cut_off(copied, reference, unsafe):
    path = copied("invalid/OVG505/one_byte_more")
    end = path.with_suffix(".bin").stat().st_size - 1
    text = path.read_text()
    layer = re.search(r'<layer [^>]*type="Result"[^>]*>', text)
    path.write_text(text[: layer.end()] + reference.format(end=end) + text[layer.end() :])
    mended = mend(path, unsafe=unsafe)
    assert mended.weights.cut is None
    assert "OVG505" in {finding.rule for finding in mended.left}


def test_bytes_beside_an_operation_of_an_extension_are_cut_off_only_if_asked(copied):
    path = copied("invalid/OVG505/one_byte_more")
    path.write_text(re.sub(r'type="(Gather\w*)" version="opset\d+"', r'type="Mine" version="mine"', path.read_text()))
    assert mend(path, unsafe=False).weights.cut is None
    assert mend(path, unsafe=True).weights.cut is not None


def subtracted(path: Path) -> list[float]:
    """What a model of a - b gives for the inputs 6 and 2 by position."""
    model = ov.Core().read_model(path)
    compiled = ov.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return [float(output[0]) for output in compiled([np.float32([6]), np.float32([2])]).values()]


@pytest.mark.parametrize(("number", "spelt"), [(0, "parameter"), (1, "PARAMETER")])
def test_inputs_stay_in_their_order(cli, tmp_path, number, spelt):
    b, a = ops.parameter([1], np.float32, "b"), ops.parameter([1], np.float32, "a")
    path = tmp_path / "m.xml"
    ov.serialize(ov.Model([ops.subtract(a, b)], [a, b]), path)
    parts = path.read_text().split('type="Parameter"')
    path.write_text(
        'type="Parameter"'.join(parts[: number + 1]) + f'type="{spelt}"' + 'type="Parameter"'.join(parts[number + 1 :])
    )
    before, document = subtracted(path), path.read_bytes()
    cli("fix", path)
    assert subtracted(path) == before
    assert path.read_bytes() == document
    cli("fix", path, "--unsafe")
    assert b"Parameter" in path.read_bytes()
    assert path.read_bytes() != document


def test_outputs_stay(cli, tmp_path):
    data = ops.parameter([1], np.float32, "x")
    path = tmp_path / "m.xml"
    ov.serialize(ov.Model([ops.relu(data), ops.negative(data)], [data]), path)
    path.write_text(path.read_text().replace('type="Result"', 'type="result"', 1))
    cli("fix", path)
    assert len(ov.Core().read_model(path).outputs) == 1


def test_right_dims_are_not_replaced_by_wrong_ones(cli, tmp_path):
    """The output of the Parameter declares 9 for 7: the inputs that it feeds are right."""
    path = tmp_path / "m.xml"
    data, indices = ops.parameter([7, 2], np.float32, "data"), ops.parameter([3, 2], np.int32, "indices")
    ov.serialize(ov.Model([ops.gather_elements(data, indices, 0), ops.relu(data)], [data, indices]), path)
    text = path.read_text()
    path.write_text(text.replace("<dim>7</dim>", "<dim>9</dim>", 1))
    assert [finding.rule for finding in validate(path)] == ["OVG405"]
    cli("fix", path)
    assert path.read_text() == text


def test_indices_of_data_whose_size_only_a_port_tells(cli, tmp_path):
    """The Relu declares 3 rows where OpenVINO infers 7: -1 is row 6, and not row 2."""
    path = tmp_path / "m.xml"
    data, indices = ops.parameter([7, 2], np.float32, "data"), ops.constant(np.array([[-1, -1]], np.int32))
    ov.serialize(ov.Model([ops.gather_elements(ops.relu(data), indices, 0)], [data]), path)
    parts = path.read_text().split("<dim>7</dim>")
    path.write_text("<dim>7</dim>".join(parts[:3]) + "<dim>3</dim>" + "<dim>3</dim>".join(parts[3:]))
    assert [finding.rule for finding in validate(path) if finding.fix] == ["OVG403"]
    before = path.with_suffix(".bin").read_bytes()
    cli("fix", path)
    assert path.with_suffix(".bin").read_bytes() == before


def test_attributes_in_the_name_of_a_layer(cli, copied):
    """A name in single quotes may hold what looks like another attribute."""
    path = copied("invalid/OVG108/lower_case")
    (finding,) = (finding for finding in validate(path) if finding.rule == "OVG108")
    old = f'name="{finding.location.layer_name}"'
    path.write_text(path.read_text().replace(old, """name=' type="no" '""", 1))
    cli("fix", path)
    assert """name=' type="no" '""" in path.read_text()
    assert "OVG108" not in {finding.rule for finding in validate(path)}
