"""No command writes over a file that it reads, or over another one without --force; and it says so before any work."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest

from helpers.saved_models import parsed
from helpers.users_operations import PYTHON
from ov_gather.cli.files import check_outputs

READ = "which is read: choose another name to write to"


@pytest.fixture
def folder(copied: Callable[..., Path], samples: Path, tmp_path: Path) -> Path:
    """A model with a .bin, another without, arrays, an ONNX model with external data, and other names for some of these."""
    copied("valid/onnx_page_1", stem="m")
    copied("valid/spec_layer")
    np.save(tmp_path / "data.npy", np.float32([[1, 2], [3, 4]]))
    model = parsed("(float[3] x) => (float[3] y) { y = Mul(x, w) }", w=np.float32([1, 2, 3]))
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="w.xml", size_threshold=0)
    (tmp_path / "link.xml").symlink_to("m.xml")
    os.link(tmp_path / "m.bin", tmp_path / "hard.npy")
    shutil.copy(samples / "valid" / "onnx_page_1.expected.json", tmp_path / "m.expected.json")
    (tmp_path / "twice.py").write_text(DECLARATION)
    (tmp_path / "link.py").symlink_to("twice.py")
    (tmp_path / "snake_py.py").write_text(PYTHON)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "notes.xml").write_text("mine")
    (tmp_path / "page.html").write_text("<!DOCTYPE html><html><body>ov-gather check, mine</body></html>")
    (tmp_path / "known.json").write_text('{"format": 1, "ov_gather": "0.1.0", "findings": []}')
    return tmp_path


DECLARATION = """
from ov_gather.ops.spec import Input, Operation

TWICE = Operation(
    type="Twice",
    opset="mine",
    inputs=[Input("x", types=("f32",))],
    infer_shapes=lambda shapes, attributes: [shapes[0]],
    reference=lambda inputs, attributes: [inputs[0] * 2],
)
"""


def contents(folder: Path) -> Iterator[tuple[str, bytes | str]]:
    for file in sorted(set(folder.iterdir()) - {folder / "__pycache__"}):
        yield file.name, str(file.readlink()) if file.is_symlink() else file.read_bytes() if file.is_file() else "directory"


OVER_INPUTS = [
    "validate m.xml -o m.xml",
    "validate m.xml -o m.bin",
    "validate m.xml -o link.xml",
    "validate link.xml -o m.xml",
    "validate m.xml -o hard.npy",
    "validate m.xml -o ../{name}/m.xml",
    "validate . -o spec_layer.xml",
    "validate m.xml --ops twice.py -o twice.py",
    "validate m.xml --ops twice.py -o link.py",
    "prove m.xml --ops twice.py --guard twice.py",
    "check m.xml --extension snake_py:Snake --report snake_py.py",
    "validate m.xml --baseline known.json -o known.json",
    "validate m.xml --baseline m.xml --write-baseline",
    "validate m.xml --baseline m.bin --write-baseline",
    "check m.xml --report m.xml",
    "check m.xml --report m.bin",
    "check m.xml --report m.expected.json",
    "check . --report spec_layer.xml",
    "check m.xml --input data=data.npy --report data.npy",
    "check m.onnx --report w.xml",
    "bisect m.xml spec_layer.xml --report spec_layer.xml",
    "bisect m.onnx m.xml --report w.xml",
    "bisect m.xml m.xml --input data=data.npy --report data.npy",
    "run m.xml --input data=data.npy -o data.npy",
    "run m.xml --input data=data.npy -o hard.npy",
    "accelerate m.xml -o m.xml",
    "accelerate m.xml -o link.xml",
    "harden m.xml -o m.xml --policy zero",
    "lower m.xml -o link.xml --target 2025.4",
    "convert m.onnx -o w.xml",
    "legalize m.onnx -o m.onnx",
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("command", OVER_INPUTS)
def test_never_over_an_input(refusal, folder, command):
    before = dict(contents(folder))
    words = command.format(name=folder.name).split()
    for more in ([], ["--force"]):
        assert READ in refusal(*words, *more, cwd=folder)
        assert dict(contents(folder)) == before


OVER_OTHERS = [
    "validate m.xml -o notes.txt",
    "validate m.xml -o page.html",
    "validate m.xml -o known.json --format json",
    "check m.xml --cases 1 --runtimes kernel --report page.html",
    "check m.xml --cases 1 --runtimes kernel --report notes.txt",
    "bisect m.xml m.xml --report page.html",
    "accelerate m.xml -o notes.xml",
    "harden m.xml -o notes.xml --policy zero",
    "lower m.xml -o notes.xml --target 2025.4",
    "convert m.onnx -o notes.xml",
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", OVER_OTHERS)
def test_over_others_only_with_force(cli, refusal, folder, command):
    before = dict(contents(folder))
    assert "exists; --force overwrites it" in refusal(*command.split(), cwd=folder)
    assert dict(contents(folder)) == before
    cli(*command.split(), "--force", cwd=folder, code=0)
    changed = [name for name, content in contents(folder) if before.get(name) != content]
    assert command.split()[command.split().index("-o" if "-o" in command.split() else "--report") + 1] in changed


@pytest.mark.parametrize("format_", ["json", "sarif", "junit"])
def test_a_report_replaces_a_report(cli, folder, format_):
    for source in ("m.xml", "spec_layer.xml"):
        cli("validate", source, "-o", "report", "--format", format_, cwd=folder, code=0)
    assert "spec_layer" in (folder / "report").read_text() or format_ != "junit"


def test_a_page_replaces_a_page(cli, folder):
    for _ in range(2):
        cli("check", "m.xml", "--cases", "1", "--runtimes", "kernel", "--report", "new.html", cwd=folder, code=0)


def test_a_report_in_the_searched_directory_is_none_of_its_models(cli, folder):
    for _ in range(2):
        assert cli("validate", ".", "-o", "report.xml", "--format", "junit", cwd=folder).returncode == 1  # notes.xml


@pytest.mark.parametrize(
    "command",
    [
        "validate m.xml -o none/r",
        "validate m.xml --baseline none/b.json --write-baseline",
        "check m.xml --report none/r.html",
        "bisect m.xml m.xml --report none/r.html",
        "run m.xml --input data=data.npy -o none/o.npy",
        "accelerate m.xml -o none/o.xml",
        "harden m.xml -o none/o.xml --policy zero",
        "lower m.xml -o none/o.xml --target 2025.4",
        "convert m.onnx -o none/o.xml",
        "bench --json none/r.json",
    ],
)
def test_a_missing_directory_is_told_before_work_begins(refusal, folder, command):
    assert f"there is no directory {folder}/none to write" in refusal(*command.split(), cwd=folder)


def test_a_directory_without_permission_is_told_before_work_begins(tmp_path, monkeypatch):
    """Not from the command line: root may write everywhere."""
    monkeypatch.setattr("os.access", lambda path, mode: path != tmp_path)
    with pytest.raises(PermissionError, match=f"{tmp_path}/m.xml cannot be written: no permission to write to {tmp_path}$"):
        check_outputs([tmp_path / "m.xml"], [], force=False)


@pytest.mark.parametrize(
    "command",
    [
        "accelerate m.xml -o latest.xml",
        "convert m.onnx -o latest.xml",
        "lower m.xml -o latest.xml --target 2025.4",
    ],
)
def test_the_bin_is_written_beside_the_path_that_is_named(cli, folder, command):
    """The path leads to a file that has another .bin beside it, which was not asked about."""
    (folder / "store").mkdir()
    for name in ("old.xml", "old.bin"):
        (folder / "store" / name).write_text("mine")
    (folder / "latest.xml").symlink_to("store/old.xml")
    cli(*command.split(), "--force", cwd=folder, code=0)
    assert (folder / "store" / "old.bin").read_text() == "mine"
    assert (folder / "store" / "old.xml").read_text().startswith("<?xml")
    assert (folder / "latest.xml").is_symlink()
    cli("validate", "latest.xml", cwd=folder, code=0)


def test_two_outputs_of_one_name(refusal, folder):
    told = refusal("validate", "m.xml", "--baseline", "b.json", "--write-baseline", "-o", "b.json", cwd=folder)
    assert "which is written, too" in told


def test_a_repository_cannot_force(cli, refusal, folder):
    (folder / "pyproject.toml").write_text("[tool.ov_gather]\nforce = true\noutput = 'notes.txt'\n")
    assert "force is unknown" in refusal("validate", "m.xml", cwd=folder)
    (folder / "pyproject.toml").write_text("[tool.ov_gather]\noutput = 'pyproject.toml'\n")
    assert READ in cli("validate", "m.xml", "--force", cwd=folder).stderr


def test_links_in_a_circle(refusal, folder):
    (folder / "loop").symlink_to("loop")
    for words in (["-o", "loop"], ["--baseline", "loop"], ["--baseline", "loop", "--write-baseline"]):
        told = refusal("validate", "m.xml", *words, cwd=folder)
        assert "symbolic links" in told
        assert "OpenVINO" not in told


def test_only_a_report_takes_the_place_of_a_report(cli, refusal, folder):
    for _ in range(2):
        cli("validate", folder / "m.xml", "--format", "json", "-o", folder / "report.json", code=0)
    assert "--force overwrites it" in refusal("run", folder / "m.xml", "-o", folder / "report.json")


@pytest.mark.parametrize(("output", "reason"), [("-", "- is the name of no file"), ("http://h/x.json", "no URLs")])
def test_outputs_that_are_no_files(refusal, folder, output, reason):
    assert reason in refusal("validate", folder / "m.xml", "-o", output)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_mended_file_keeps_its_owner(cli, copied):
    path = copied("invalid/OVG403/output_dims")
    os.chown(path, 4242, 4243)
    cli("fix", path, code=0)
    state = path.stat()
    assert (state.st_uid, state.st_gid) == (4242, 4243)
