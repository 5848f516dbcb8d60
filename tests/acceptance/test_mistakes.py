"""Natural mistakes on the command line: each gets one message with what is wrong, where, and what would be right."""

import numpy as np
import onnx
import pytest

from helpers.paths import SAMPLES
from helpers.saved_models import parsed, saved

pytestmark = pytest.mark.openvino

GATHER = "(float[3, 4] x, int64[2, 4] i) => (float[2, 4] y) { [pick] y = GatherElements (x, i) }"

MISTAKES = {
    # A file of another kind.
    "accelerate m.onnx": "m.onnx: this is an ONNX model; `ov-gather accelerate` takes an OpenVINO IR (.xml); `ov-gather",
    "accelerate m.bin": "m.bin: this is a file of constants; `ov-gather accelerate` takes an OpenVINO IR (.xml); give the .xml",
    "harden m.onnx --policy zero": "m.onnx: this is an ONNX model; `ov-gather harden` takes an OpenVINO IR",
    "lower m.onnx --target 2025.4": "m.onnx: this is an ONNX model; `ov-gather lower` takes an OpenVINO IR",
    "run x.npy": "x.npy: this is a file of arrays; `ov-gather run` takes an OpenVINO IR (.xml); arrays are given by --input",
    "diff m.xml m.onnx": "m.onnx: this is an ONNX model; `ov-gather diff` takes an OpenVINO IR",
    "bisect m.onnx m.onnx": "m.onnx: this is an ONNX model; `ov-gather bisect` takes an OpenVINO IR",
    "convert m.xml": "m.xml: this is an OpenVINO IR; `ov-gather convert` takes an ONNX model (.onnx) or a PyTorch program",
    "convert weights.pth": "weights.pth: this is a file of weights; `ov-gather convert` takes an ONNX model",
    "legalize m.xml": "m.xml: this is an OpenVINO IR; `ov-gather legalize` takes an ONNX model (.onnx)",
    "extract m.xml": "m.xml: this is an OpenVINO IR; `ov-gather extract` takes an ONNX model (.onnx)",
    "bench model m.onnx": "m.onnx: this is an ONNX model; `ov-gather bench model` takes an OpenVINO IR",
    # A file that is not there, or holds nothing.
    "validate nosuch.xml": "Path 'nosuch.xml' does not exist",
    "validate 'no*.xml'": "no file matches no*.xml",
    "validate folder": "no OpenVINO IR among the given files and directories",
    "accelerate empty.xml": "empty.xml: the file is empty; `ov-gather accelerate` takes an OpenVINO IR (.xml)",
    "convert empty.onnx": "empty.onnx: the file is empty; `ov-gather convert` takes an ONNX model (.onnx)",
    "convert notes.txt": "notes.txt: not a valid ONNX model",
    "convert m.onnx -o n.xml --verify --input x=nosuch.npy": "nosuch.npy: No such file or directory",
    "convert m.onnx -o n.xml --verify --input x": "--input x: write NAME=FILE.npy",
    "run layer.xml --input data=notes.txt --input indices=i.npy": "notes.txt: not a .npy file",
    "run layer.xml --input data=x.npy": "GatherElements 'gather' (layer 2) needs --input for data and indices, each once",
    "run m.xml --input data=x.npy": "Gather 'gather' (layer 3) has constants as inputs, and takes no --input",
    "run layer.xml --input data=x.npy --input indices=i.npy": "data has shape [3, 4], its port declares [3,7,5]",
    # Outputs.
    "convert m.onnx -o m.bin": "--output m.bin: the name of the output ends in .xml",
    "convert m.onnx -o none/m.xml": "there is no directory",
    "convert m.onnx -o m.xml": "m.xml exists; --force overwrites it",
    "accelerate m.xml -o m.xml": "the output is m.xml, which is read: choose another name to write to",
    "validate m.xml -o m.xml": "the output is m.xml, which is read: choose another name to write to",
    # Names.
    "chek m.xml": "there is no command 'chek'; did you mean check?",
    "validate m.xml --formt json": "No such option '--formt'. (Did you mean one of: '--force', '--format'?)",
    "validate m.xml --format yaml": "'yaml' is not one of 'text', 'concise', 'json', 'sarif', 'junit', 'github'",
    "validate m.xml --select OVG21": "there is no rule or group 'OVG21'; did you mean OVG201?",
    "validate m.xml --target 2026": "'2026' is no release that ov-gather knows; there are 2024.6,",
    "validate m.xml --jobs many": "'many' is no number of processes; give 1 to 1024, or auto",
    "validate m.xml --baseline b.json": "there is no baseline b.json; --write-baseline makes it",
    "check m.xml --runtimes kernal": "there is no runtime 'kernal'; did you mean kernel?",
    "check m.xml --device GPX": "OpenVINO has no device 'GPX' here; there are CPU",
    "accelerate m.xml --pass to-gathr": "there is no 'to-gathr'; did you mean to-gather?",
    "bench --case vectr": "there is no case 'vectr'; did you mean vector?",
    "explain OVG4O1": "there is no rule or group 'OVG4O1'; did you mean OVG401?",
    "explain zeros": "there is no rule, divergence, fault or refusal 'zeros'; did you mean zeros-for-negative-indices",
    # Values.
    "harden m.xml": "Missing option '--policy'. Choose from: raise, clamp, zero",
    "lower m.xml": "Missing option '--target'",
    "prove m.xml --assume x=5": "--assume x=5: give NAME=LO..HI, for example input_ids=0..999",
    "prove m.xml --assume nope=0..5": "--assume nope: there is no such input or open dimension; m.xml has none",
    "bisect m.xml m.xml --memory much": "much is no size; write such as 500MB or 2GB",
    "convert custom.onnx": "custom.onnx: OpenVINO has no conversion for node my.Act 'act' (output y): name the library of the "
    "operation, with a ConversionExtension for ONNX, by --extension",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of all kinds: good ones, an empty one of each, and those that are mistaken for them."""
    here = tmp_path_factory.mktemp("mistakes")
    for suffix in (".xml", ".bin"):
        (here / f"m{suffix}").write_bytes((SAMPLES / "valid" / f"gather_8{suffix}").read_bytes())
    (here / "layer.xml").write_bytes((SAMPLES / "valid" / "spec_layer.xml").read_bytes())
    saved(here / "m.onnx", GATHER, 13)
    custom = parsed("(float[3, 4] x) => (float[3, 4] y) { [act] y = my.Act (x) }")
    custom.opset_import.append(onnx.helper.make_opsetid("my", 1))
    onnx.save(custom, here / "custom.onnx")
    np.save(here / "x.npy", np.zeros((3, 4), np.float32))
    np.save(here / "i.npy", np.zeros((2, 4), np.int64))
    for name, text in (("empty.xml", ""), ("empty.onnx", ""), ("notes.txt", "hello"), ("weights.pth", "PK")):
        (here / name).write_text(text)
    (here / "folder").mkdir()
    return here


@pytest.mark.sampled(28)
@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_explained(refusal, folder, words):
    before = sorted(path.name for path in folder.iterdir())
    told = refusal(*words.replace("'", "").split(), cwd=folder)
    assert MISTAKES[words] in " ".join(told.split())
    assert sorted(path.name for path in folder.iterdir()) == before


HAS_USAGE = {
    "validate": True,
    "validate m.xml --wrong": True,
    "validate m.xml --format wrong": True,
    "validate nowhere.xml": False,
    "validate no*.xml": False,
    "validate m.xml --baseline nowhere.json": False,
    "convert nowhere.onnx": False,
    "convert m.onnx -o m.xml": False,
}


@pytest.mark.parametrize(("words", "has_usage"), HAS_USAGE.items())
def test_the_usage_stands_before_errors_of_usage_only(refusal, folder, words, has_usage):
    assert refusal(*words.split(), cwd=folder).startswith("Usage: ") == has_usage


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("m.onnx", "this is an ONNX model, no IR\n    `ov-gather convert` writes an IR of it"),
        ("weights.pth", "this is a file of weights, no IR\n    export the model"),
    ],
)
def test_validate_finds_files_of_other_kinds(cli, folder, name, hint):
    done = cli("validate", name, cwd=folder, code=1)
    assert f"{name}:1: error OVG001" in done.stdout
    assert hint in done.stdout
