"""Every abuse of the reader that was ever tried: one clear error, quickly, within bounded memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from helpers.paths import SAMPLES
from ov_gather import IRError, read_ir, validate
from ov_gather.ir.constants import constant
from ov_gather.ir.errors import Fault
from tools.mutations import not_found

SPEC = (SAMPLES / "valid" / "spec_layer.xml").read_bytes()
CONST = (SAMPLES / "valid" / "onnx_page_1.xml").read_bytes()
CONST_BIN = (SAMPLES / "valid" / "onnx_page_1.bin").read_bytes()
BOMB = b"<!DOCTYPE net [" + b"".join(
    b'<!ENTITY e%d "%s">' % (i, b"&e%d;" % (i - 1) * 10 if i else b"ha" * 10) for i in range(12)
)

ATTACKS = {
    "not XML": (b"\x00\x01\x02\x03", Fault.SYNTAX),
    "text": (b"hello", Fault.SYNTAX),
    "empty": (b"", Fault.SYNTAX),
    "blank": (b"  \n ", Fault.SYNTAX),
    "truncated": (SPEC[:700], Fault.SYNTAX),
    "NUL byte": (SPEC.replace(b"indices", b"ind\0ices"), Fault.SYNTAX),
    "invalid UTF-8": (SPEC.replace(b"indices", b"\xff\xfe"), Fault.SYNTAX),
    "unknown encoding": (SPEC.replace(b'"1.0"?', b'"1.0" encoding="klingon"?'), Fault.SYNTAX),
    "multi-byte encoding that expat cannot read": (SPEC.replace(b'"1.0"?', b'"1.0" encoding="shift_jis"?'), Fault.SYNTAX),
    "two roots": (SPEC + SPEC[22:], Fault.SYNTAX),
    "entity bomb": (BOMB + b']><net name="&e11;" version="11"><layers/></net>', Fault.DOCTYPE),
    "external entity": (b'<!DOCTYPE n SYSTEM "http://127.0.0.1:9/x.dtd"><net version="11"><layers/></net>', Fault.DOCTYPE),
    "undefined entity": (b'<net name="&ax;" version="11"><layers/></net>', Fault.SYNTAX),
    "other root": (b"<svg/>", Fault.ROOT),
    "namespaced root": (b'<ir:net xmlns:ir="x" version="11"/>', Fault.ROOT),
    "version 12": (SPEC.replace(b'version="11"', b'version="12"'), Fault.VERSION),
    "version 11junk": (SPEC.replace(b'version="11"', b'version="11junk"'), Fault.VERSION),
    "100,000 nested elements": (b'<net version="11"><layers>' + b"<a>" * 100_000, Fault.LIMIT),
    "100,000 nested layers": (b"<layer><then_body><layers>" * 100_000, Fault.LIMIT),
    "dims whose product overflows": (SPEC.replace(b"<dim>3</dim>", b"<dim>4611686018427387904</dim>"), Fault.LIMIT),
    "2^63": (SPEC.replace(b"<dim>3</dim>", b"<dim>9223372036854775808</dim>"), Fault.NUMBER),
    "a number of 10 million digits": (SPEC.replace(b'id="2"', b'id="' + b"9" * 10_000_000 + b'"'), Fault.LIMIT),
    "a number of 1,000 digits": (SPEC.replace(b'id="2"', b'id="' + b"9" * 1_000 + b'"'), Fault.NUMBER),
    "a comment of 10 MB": (SPEC.replace(b"<layers>", b"<!--" + b" " * 10_000_000 + b"--><layers>"), Fault.LIMIT),
    "two million elements of rt_info": (SPEC.replace(b"<edges>", b"<rt_info>" + b"<a/>" * 2_000_000), Fault.LIMIT),
    "60,000 huge dims": (SPEC.replace(b"<dim>3</dim>", b"<dim>9223372036854775807</dim>" * 60_000), Fault.LIMIT),
    "no-break space in a dim": (SPEC.replace(b"<dim>3</dim>", b"<dim>&#160;3</dim>"), Fault.NUMBER),
    "Arabic digits": (SPEC.replace(b"<dim>3</dim>", "<dim>٣</dim>".encode()), Fault.NUMBER),
    "empty dim": (SPEC.replace(b"<dim>3</dim>", b"<dim></dim>"), Fault.NUMBER),
    "element in a dim": (SPEC.replace(b"<dim>3</dim>", b"<dim><b/></dim>"), Fault.NUMBER),
    "layer without type": (SPEC.replace(b'type="GatherElements" ', b""), Fault.STRUCTURE),
    "edge without ends": (SPEC.replace(b"<edges>", b"<edges><edge />"), Fault.STRUCTURE),
}  # fmt: skip


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ATTACKS)
def test_documents(name, tmp_path):
    content, fault = ATTACKS[name]
    path = tmp_path / "attack.xml"
    path.write_bytes(content)
    start = time.process_time()
    with pytest.raises(IRError) as caught:
        read_ir(path)
    assert caught.value.fault is fault
    assert str(caught.value).startswith(f"{path}:")
    assert len(str(caught.value)) < 1000
    assert {finding.rule[:4] for finding in validate(path)} == {"OVG0"}
    assert time.process_time() - start < 20


CONSTANTS = {
    "no .bin": (CONST, None, Fault.NO_WEIGHTS),
    "empty .bin": (CONST, b"", Fault.RANGE),
    "short .bin": (CONST, CONST_BIN[:-1], Fault.RANGE),
    "offset beyond the end": (CONST.replace(b'offset="0"', b'offset="9223372036854775807"'), CONST_BIN, Fault.RANGE),
    "negative offset": (CONST.replace(b'offset="0"', b'offset="-8"'), CONST_BIN, Fault.CONST),
    "size of 2^64": (CONST.replace(b'size="16"', b'size="18446744073709551616"'), CONST_BIN, Fault.CONST),
    "size too small": (CONST.replace(b'size="16"', b'size="8"'), CONST_BIN, Fault.CONST),
    "shape whose product has 5,000 digits": (
        CONST.replace(b"2, 2", b", ".join([b"%d" % sys.maxsize] * 300)),
        CONST_BIN,
        Fault.CONST,
    ),
    "shape whose product overflows": (CONST.replace(b"2, 2", b"4611686018427387904, 4"), CONST_BIN, Fault.CONST),
    "open shape": (CONST.replace(b'shape="2, 2"', b'shape="?, 2"'), CONST_BIN, Fault.CONST),
    "open rank": (CONST.replace(b'shape="2, 2"', b'shape="..."'), CONST_BIN, Fault.CONST),
    "unknown type": (CONST.replace(b'"f32"', b'"float"'), CONST_BIN, Fault.CONST),
    "no type": (CONST.replace(b'element_type="f32"', b""), CONST_BIN, Fault.CONST),
    "inline value": (CONST.replace(b'size="16"', b'size="16" value="xx"'), CONST_BIN, Fault.CONST),
}


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", CONSTANTS)
def test_constants(name, tmp_path):
    xml, binary, fault = CONSTANTS[name]
    (tmp_path / "attack.xml").write_bytes(xml)
    if binary is not None:
        (tmp_path / "attack.bin").write_bytes(binary)
    with pytest.raises(IRError) as caught:
        read_ir(tmp_path / "attack.xml")
    assert caught.value.fault is fault
    assert caught.value.layer in ("Const 'data' (layer 0)", "Const 'indices' (layer 1)")
    assert "OVG5" in {finding.rule[:4] for finding in validate(tmp_path / "attack.xml")}


def test_a_bin_that_is_a_directory(tmp_path):
    (tmp_path / "attack.xml").write_bytes(CONST)
    (tmp_path / "attack.bin").mkdir()
    with pytest.raises(IRError, match=r"its \.bin cannot be read: not a regular file"):
        read_ir(tmp_path / "attack.xml")


STRINGS = b"""<net version="11"><layers><layer id="0" name="s" type="Const" version="opset1">
<data element_type="string" shape="%s" offset="0" size="%d"/></layer></layers></net>"""


OVERFLOWING = np.array([5, 0, 2**31 - 1, -(2**31), -1, 3, 6], "<i4").tobytes()  # each difference is positive modulo 2^32


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (b"\x02\0\0\0" + b"\0" * 12, "holds 2 strings, the shape 1"),
        (OVERFLOWING + b"abcdef", "do not rise"),
        (b"\x01\0\0\0" + b"\x00\0\0\0\xff\xff\xff\x7f", "do not rise"),
        (b"\x01\0\0\0" + b"\x00\0\0\0\xff\xff\xff\xff", "do not rise"),
        (b"\x01\0\0\0" + b"\x01\0\0\0\x02\0\0\0ab", "do not rise"),
        (b"\x01\0\0\0" + b"\x00\0\0\0\x01\0\0\0\xff", "not UTF-8"),
        (b"\x01\0\0\0", "too few"),
    ],
)
def test_packed_strings(payload, text):
    with pytest.raises(IRError, match=text):
        model = read_ir(STRINGS % (b"5" if payload.startswith(b"\x05") else b"1", len(payload)), payload)
        constant(model, model.layers[0])


@pytest.mark.exhaustive
def test_every_single_fault_is_found():
    total, missed = not_found()
    assert missed == []
    assert total > 200


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux's /proc")
def test_memory_is_bounded():
    """A stream that nests without end is refused at the limit, not collected."""
    script = """
import io
from pathlib import Path
from ov_gather import IRError, read_ir
class Endless(io.RawIOBase):
    start = b'<net version="11"><layers>'
    def read(self, size=-1):
        start, self.start = self.start, b""
        return start + b"<a>" * (size // 3)
try:
    read_ir(Endless())
except IRError as error:
    print(error)
(peak,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
print(int(peak.split()[1]) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    message, megabytes = done.stdout.splitlines()
    assert "nested deeper than 256" in message
    assert int(megabytes) < 100


@pytest.mark.parametrize("command", [("check",), ("validate",), ("run", "-o", os.devnull)], ids=lambda command: command[0])
@pytest.mark.parametrize("name", ["entity bomb", "100,000 nested layers", "NUL byte", "truncated"])
def test_commands_end_without_traceback(cli, command, name, tmp_path):
    path = tmp_path / "attack.xml"
    path.write_bytes(ATTACKS[name][0])
    done = cli(command[0], path, *command[1:])
    assert done.returncode == (1 if command[0] == "validate" else 2)
    assert "Traceback" not in done.stdout + done.stderr
    assert len((done.stdout + done.stderr).splitlines()) <= 3


def test_a_constant_of_more_dimensions_than_numpy_has():
    shape = b", ".join([b"1"] * 65)
    xml = STRINGS.replace(b"string", b"f32") % (shape, 4)
    model = read_ir(xml, b"\0" * 4)
    with pytest.raises(IRError, match="maximum supported dimension"):
        constant(model, model.layers[0])


def test_booleans_are_true_or_false():
    model = read_ir(STRINGS.replace(b"string", b"boolean") % (b"3", 3), b"\x00\x01\x7f")
    assert constant(model, model.layers[0]).view(np.uint8).tolist() == [0, 1, 1]


@pytest.mark.parametrize("command", ["validate", "check"])
def test_pipes_directories_and_broken_links_do_not_stop_a_search(cli, command, tmp_path):
    os.mkfifo(tmp_path / "a.xml")
    (tmp_path / "b.xml").mkdir()
    (tmp_path / "c.xml").symlink_to("nowhere")
    shutil.copy(SAMPLES / "invalid" / "OVG204" / "axis_3.xml", tmp_path / "d.xml")
    (tmp_path / "e.xml").write_bytes(CONST)
    os.mkfifo(tmp_path / "e.bin")
    done = cli(command, tmp_path)
    assert "d.xml:25: error OVG204" in done.stdout
    assert done.returncode == (1 if command == "validate" else 2)
    told = done.stdout if command == "validate" else done.stderr
    assert "c.xml: error OVG008: cannot be opened: No such file or directory" in told
    assert "e.xml:5: error OVG501" in told
    assert "Traceback" not in done.stderr


NAMES = ["[/x]", "[red]", "a&#10;b", "&#x9b;31m", "элемент", ":apple:"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("command", ["validate", "check"])
def test_names_are_shown_as_they_are_or_escaped(real_cli, command, encoding, tmp_path):
    for i, name in enumerate(NAMES):
        text = (SAMPLES / "invalid" / "OVG204" / "axis_3.xml").read_text().replace('name="gather"', f'name="{name}"')
        (tmp_path / f"[{i}].xml").write_text(text)
    done = real_cli(command, tmp_path, env={**os.environ, "PYTHONIOENCODING": encoding})
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    found = [line for line in done.stdout.splitlines() if "error OVG204" in line]
    assert len(found) == len(NAMES)
    for shown in ("'[/x]'", "'[red]'", r"'a\nb'", r"'\x9b31m'", "':apple:'"):
        assert any(shown in line for line in found), shown


def test_a_closed_standard_output_is_no_error():
    command = f"{Path(sys.executable).with_name('ov-gather')} validate {SAMPLES / 'valid'} >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("axis", ["100000000", "9223372036854775807", "-9223372036854775808"])
def test_a_huge_axis_of_an_open_rank(cli, axis, tmp_path):
    text = (SAMPLES / "divergent" / "no-dynamic-rank" / "dynamic_rank.xml").read_text()
    (tmp_path / "m.xml").write_text(text.replace('axis="0"', f'axis="{axis}"'))
    done = cli("check", tmp_path / "m.xml")
    assert done.returncode == 1
    assert "NumPy arrays have at most 64" in done.stdout


def test_shapes_too_large_to_generate(cli, tmp_path):
    text = (SAMPLES / "valid" / "spec_layer.xml").read_text().replace("<dim>3</dim>", "<dim>1000000000</dim>")
    (tmp_path / "m.xml").write_text(text.replace('shape="3,', 'shape="1000000000,'))
    done = cli("check", tmp_path / "m.xml")
    assert done.returncode == 1
    assert "a case takes 540.0 GB, and 8 times that" in done.stdout


def test_expected_outputs_that_are_not_json(cli, tmp_path):
    shutil.copy(SAMPLES / "valid" / "spec_layer.xml", tmp_path / "m.xml")
    for content in ("[" * 200_000, "{", "[1]", "\0"):
        (tmp_path / "m.expected.json").write_text(content)
        done = cli("check", tmp_path / "m.xml")
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {tmp_path}/m.expected.json: ")
