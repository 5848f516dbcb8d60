"""`ov-gather fix` mends what is mechanical; OpenVINO computes the same as before, and all else stays as it was."""

import difflib

import numpy as np
import openvino
import pytest

from helpers.exported_again import export_again
from helpers.paths import SAMPLES
from ov_gather import validate
from ov_gather.runtimes.session import Session

SAFE = (
    "divergent/negative-indices/gather_nd_5",
    "divergent/negative-indices/onnx_page_3",
    "divergent/negative-indices/scatter_elements_update_3",
    "invalid/OVG108/lower_case",
    "invalid/OVG114/two_relus",
    "invalid/OVG117/swapped",
    "invalid/OVG302/indices_precision",
    "invalid/OVG304/output_precision",
    "invalid/OVG304/relu_precision",
    "invalid/OVG305/parameter_port",
    "invalid/OVG403/gather_nd_5_keeps_batch_dims",
    "invalid/OVG403/gather_nd_8_fuses_batch_dims",
    "invalid/OVG403/output_dims",
    "invalid/OVG403/output_open",
    "invalid/OVG403/output_rank",
    "invalid/OVG403/relu_shape",
    "invalid/OVG403/scatter_nd_output",
    "invalid/OVG404/input_dims",
    "invalid/OVG405/parameter_shape",
    "invalid/OVG505/one_byte_more",
)
UNREADABLE = {  # before or after, by OpenVINO: what else is wrong with them has no fix
    "invalid/OVG101/duplicate_id",
    "invalid/OVG116/twice_0",
    "invalid/OVG403/fragment",
    "invalid/OVG406/four_columns",
}
UNSAFE = (
    "divergent/zeros-for-negative-indices/gather_1",
    "invalid/OVG202/batch_dims",
    "invalid/OVG202/gather_1_batch_dims",
    "invalid/OVG202/scatter_nd_3_reduces",
    "invalid/OVG207/superfluous",
    "invalid/OVG508/seven",
)


def computed(path):
    """The outputs of OpenVINO for some inputs, which are within the bounds of every sample."""
    model, generator = openvino.Core().read_model(path), np.random.default_rng(7)
    inputs = [
        generator.integers(0, 2, [dim.get_length() if dim.is_static else 2 for dim in port.get_partial_shape()]).astype(
            port.get_element_type().to_dtype()
        )
        for port in model.inputs
    ]
    return Session(openvino.Core(), model)(inputs)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", SAFE)
def test_safe_fixes(cli, copied, name):
    path = copied(name)
    assert any(finding.fix for finding in validate(path))
    before, outputs = path.read_bytes(), computed(path)
    done = cli("fix", path, "--fail-on", "warning")
    assert (done.returncode, done.stdout) == (0, "files: 1, errors: 0, warnings: 0, notes: 0\n")
    assert done.stderr.startswith("mended: ")
    for old, new in zip(outputs, computed(path), strict=True):
        np.testing.assert_array_equal(old, new)
    lines = difflib.SequenceMatcher(None, before.splitlines(), path.read_bytes().splitlines())
    assert sum(end - start for kind, start, end, *_ in lines.get_opcodes() if kind != "equal") <= 8


def test_these_are_all_samples_with_a_fix():
    """Every sample of `invalid` with a finding that can be mended is tested here, or has a reason not to be."""
    fixable = {}
    for path in sorted((SAMPLES / "invalid").rglob("*.xml")):
        fixes = [finding.fix for finding in validate(path) if finding.fix]
        if fixes:
            fixable[path.relative_to(SAMPLES).with_suffix("").as_posix()] = all(fix.safe for fix in fixes)
    tested = {name for name in (*SAFE, *UNSAFE) if name.startswith("invalid/")}
    assert fixable.keys() - tested == UNREADABLE
    assert tested <= fixable.keys()


def test_what_is_left_is_told(cli, copied):
    """Findings that cannot be mended are reported as by `validate`, with the lines of the mended file."""
    path = copied("invalid/OVG302/indices_precision", changes=[('axis="1"', 'axis="7"')])
    done = cli("fix", path, code=1)
    assert "error OVG204" in done.stdout
    assert done.stdout == cli("validate", path).stdout


@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_fixes_only_where_asked(cli, copied, name):
    path = copied(name)
    files = (path, path.with_suffix(".bin"))
    before = [file.read_bytes() for file in files if file.exists()]
    cli("fix", path)
    assert [file.read_bytes() for file in files if file.exists()] == before
    cli("fix", path, "--unsafe", "--fail-on", "warning", code=0)


def test_diff_changes_nothing(cli, copied):
    path = copied("invalid/OVG404/input_dims")
    before = path.read_bytes()
    done = cli("fix", path, "--diff", code=1)
    assert path.read_bytes() == before
    assert [line for line in done.stdout.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")] == [
        "-\t\t\t\t\t<dim>8</dim>",
        "+\t\t\t\t\t<dim>7</dim>",
    ]
    cli("fix", path)
    assert (cli("fix", path, "--diff").returncode, cli("fix", path, "--diff").stdout) == (0, "")


def test_a_layer_in_a_body(cli, copied, tmp_path):
    path = copied("valid/if_bodies")
    text = path.read_text()
    at = text.index("<then_body>")
    place = text.index('type="GatherElements"', at)
    dim = text.index("<dim>", place)
    path.write_text(text[: dim + 5] + "99" + text[text.index("</dim>", dim) :])
    assert {finding.rule for finding in validate(path)} == {"OVG404"}
    cli("fix", path)
    assert path.read_text() == text


def test_ports_of_a_layer_without_a_graph(cli, copied):
    """A layer that is pasted alone needs no id, and no edge ends at its ports."""
    path = copied("valid/spec_layer_fragment")
    right = path.read_text()
    path.write_text(right.replace('<port id="0">', '<port id="5">'))
    assert "mended: " in cli("fix", path, code=0).stderr
    assert path.read_text() == right


def test_other_layouts_are_kept(cli, copied):
    """One line, single quotes, no blanks: only what is wrong changes."""
    path = copied("invalid/OVG302/indices_precision")
    export_again(path, path)
    text = "".join(line.strip() for line in path.read_text().splitlines()).replace('precision="I32"', "precision = 'I32'")
    path.write_text(text)
    cli("fix", path)
    assert path.read_text() == text.replace("precision = 'I32'", 'precision="I64"')


def test_what_an_ignore_covers_stays(cli, copied, tmp_path):
    path = copied("invalid/OVG302/indices_precision")
    before = path.read_bytes()
    (tmp_path / "pyproject.toml").write_text(
        "[[tool.ov_gather.per-file-ignores]]\npath = '*'\nrules = ['OVG3']\nreason = 'as the other tool wants it'\n"
    )
    cli("fix", path.name, cwd=tmp_path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["invalid/OVG116/twice_0", "invalid/OVG101/duplicate_id"])
def test_nothing_is_mended_where_nobody_knows_what_feeds_what(cli, copied, name):
    path = copied(name)
    before = path.read_bytes()
    cli("fix", path, "--unsafe")
    assert path.read_bytes() == before


def test_a_const_that_serves_elsewhere_stays(cli, copied):
    """The bytes of the indices are those of another Const, too."""
    path = copied("divergent/negative-indices/onnx_page_3")
    text = path.read_text()
    start = text.index('<layer id="1"')
    const = text[start : text.index("</layer>", start) + len("</layer>")]
    twin = const.replace('id="1"', 'id="77"').replace('name="indices"', 'name="twin"').replace(' names="indices"', "")
    path.write_text(text.replace(const, const + twin))
    assert {finding.rule for finding in validate(path)} == {"OVG112", "OVG701"}
    before = path.with_suffix(".bin").read_bytes()
    cli("fix", path)
    assert path.with_suffix(".bin").read_bytes() == before
