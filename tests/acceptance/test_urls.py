"""Models at URLs: only the bytes that are needed are read, and what is in the way is told."""

import json
import os
import pickle
import re
import ssl
import time
from dataclasses import replace

import fsspec
import numpy as np
import pytest
import trustme

from helpers.loaded import is_within
from helpers.paths import SAMPLES
from helpers.web_server import DOCUMENT, Served, misbehaving, serving
from ov_gather import read_ir, validate
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.constants import constant
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.files import find_irs
from ov_gather.ir.remote import redacted
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.urls import Url
from ov_gather.ir.writer import to_bytes
from ov_gather.report.findings import FORMATS
from ov_gather.rules.selection import Chosen
from ov_gather.workers.validation import ValidateOptions

GIGABYTE = 1 << 30


def large_model(*indices):
    """A gather of constant indices from a table of a gigabyte: the .xml, and the .bin as it would be if it were small."""
    builder = ModelBuilder("large")
    arrays = {"table": (F32, np.zeros((3, 5), "f4")), "indices": (I64, np.array(indices)), "axis": (I64, np.array(0))}
    inputs = [builder.const(name, kind, array) for name, (kind, array) in arrays.items()]
    shape = PartialShape.of((len(indices), 5))
    (output,) = builder.layer("Gather", "gather", "opset8", {"batch_dims": "0"}, inputs, [(F32, shape)])
    builder.result("output", output)
    xml, binary = to_bytes(builder.build())
    for old, new in (
        *(("<dim>3<", "<dim>16384<"), ("<dim>5<", "<dim>16384<"), ('"3, 5"', '"16384, 16384"'), ('"3,5"', '"16384,16384"')),
        ('size="60"', f'size="{GIGABYTE}"'),
        *((f'offset="{60 + more}"', f'offset="{GIGABYTE + more}"') for more in (0, 8 * len(indices))),
    ):
        xml = xml.replace(old.encode(), new.encode())
    return xml, Served(binary[60:], GIGABYTE + len(binary[60:]))


@pytest.fixture
def site():
    with serving() as made:
        yield made


@pytest.fixture
def model(site):
    """The address of a model whose indices are out of bounds; the site serves it."""
    xml, binary = large_model(1, 99_999)
    site.files |= {"/m.xml": Served(xml), "/m.bin": binary}
    return f"{site.address}/m.xml"


@pytest.fixture
def bucket(samples):
    """A directory in memory with one sound model, one faulty one, a file that is no model, and one that is to be left out."""
    system = fsspec.filesystem("memory")
    for source, name in (("valid/spec_layer", "a"), ("invalid/OVG601/too_large", "b/c"), ("invalid/OVG204/axis_3", "b/old/d")):
        for suffix in (".xml", ".bin"):
            path = (samples / source).with_suffix(suffix)
            if path.exists():
                system.pipe(f"/bucket/{name}{suffix}", path.read_bytes())
    system.pipe("/bucket/notes.xml", b"<annotation/>")
    yield "memory://bucket"
    system.rm("/bucket", recursive=True)


def rules(source):
    return [finding.rule for finding in validate(source)]


def test_https_reads_only_what_is_needed(real_cli, tmp_path):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    with serving(context) as site:
        xml, binary = large_model(1, 99_999)
        site.files |= {"/m.xml": Served(xml), "/m.bin": binary}
        url = f"{site.address}/m.xml"
        done = real_cli("validate", url, "--format", "json", env=os.environ | {"SSL_CERT_FILE": str(tmp_path / "ca.pem")})
        assert done.returncode == 0, done.stderr
        (finding,) = json.loads(done.stdout)["findings"]
        assert (finding["rule"], finding["path"]) == ("OVG602", url)
        assert "99999 is out of bounds" in finding["message"]
        assert len(xml) <= site.sent < 10_000_000


def test_a_value_is_read_when_it_is_needed(site, model):
    read = read_ir(model)
    indices = next(layer for layer in read.layers if layer.name == "indices")
    assert constant(read, indices).tolist() == [1, 99_999]
    assert constant(pickle.loads(pickle.dumps(read)), indices).tolist() == [1, 99_999]
    assert site.sent < 1_000_000


def test_a_query_is_kept(site, model):
    site.files = {f"{path}?key=1": served for path, served in site.files.items()}
    assert rules(f"{model}?key=1") == ["OVG602"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (403, "cannot be opened: no permission to read it (HTTP 403)"),
        (401, "cannot be opened: no permission to read it (HTTP 401)"),
        (404, "cannot be opened: there is no such file"),
        (500, "cannot be opened: the server answers with HTTP 500"),
        (0, "localhost:1"),  # no server
    ],
)
def test_a_document_that_is_refused(site, model, status, reason):
    site.files["/m.xml"].status = status
    (finding,) = validate(model if status else "http://localhost:1/m.xml")
    assert finding.rule == "OVG008"
    assert finding.message == reason if status else reason in finding.message


def test_a_bin_that_is_refused(site, model):
    site.files["/m.bin"].status = 403
    findings = validate(model)
    assert {finding.rule for finding in findings} == {"OVG501"}
    assert "its .bin cannot be read: no permission to read it (HTTP 403)" in findings[0].message
    del site.files["/m.bin"]
    assert set(rules(model)) == {"OVG501"}


def test_a_server_without_ranges(site, model):
    site.files["/m.bin"].has_ranges = False
    (finding,) = validate(model)
    assert finding.rule == "OVG099"
    assert finding.message.endswith("/m.bin cannot be read: the server gives no parts of files (HTTP ranges)")
    assert site.sent < 10_000_000


@pytest.mark.sampled(1)
@pytest.mark.parametrize("path", ["/m.xml", "/m.bin"])
def test_a_file_that_changes_while_it_is_read(site, model, path):
    site.files[path].before = lambda served: setattr(served, "tag", served.tag + "+")
    (finding,) = validate(model)
    assert (finding.rule, finding.message) == ("OVG099", f"{site.address}{path} changed while it was read")


def test_a_directory(bucket):
    found = find_irs([Url(bucket)], exclude=["old"])
    checked = dict(ValidateOptions(Chosen()).run(found.files, 1, None))
    results = {file.name: checked[index][0] for index, file in enumerate(found.files)}
    assert [finding.rule for finding in results.pop("c.xml")] == ["OVG601"]
    assert results == {"a.xml": [], "notes.xml": None}
    assert [file.name for file in find_irs([Url(f"{bucket}/*/*.xml")]).files] == ["c.xml"]


def test_a_file_that_is_named_is_checked_once_and_whatever_it_is(bucket):
    """In a directory XML of another kind is passed over."""
    (notes,) = (Url(str(file)) for file in find_irs([Url(bucket)]).files if file.name == "notes.xml")
    found = find_irs([notes, replace(notes, timeout=5), Url(bucket)])
    assert [file.name for file in found.files].count("notes.xml") == 1
    ((index, (findings, _)),) = ValidateOptions(Chosen()).run([notes], 1, None)
    assert (index, [finding.rule for finding in findings]) == (0, ["OVG003"])


def test_the_cache_knows_urls(cli, site, model, tmp_path):
    def run():
        return cli("validate", model, "--cache", "cache", "--format", "concise", cwd=tmp_path)

    first = run()
    assert "OVG602" in first.stdout
    assert run().stdout == first.stdout.replace("unchanged: 0", "unchanged: 1")
    site.files["/m.bin"].content = bytes(len(site.files["/m.bin"].content))
    assert run().stdout == "files: 1, errors: 0, warnings: 0, notes: 0, unchanged: 0\n"


def test_sarif_and_baseline_name_urls(cli, model, tmp_path):
    done = cli("validate", model, "--format", "sarif", cwd=tmp_path)
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == model
    options = ("--fail-on", "warning", "--baseline", "known.json")
    cli("validate", model, *options, "--write-baseline", cwd=tmp_path)
    done = cli("validate", model, *options, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["nowhere://x/m.xml"], "error: Protocol not known: nowhere"),
        (["http://localhost:1/models/"], "error: http://localhost:1/models/ cannot be listed: "),
        (["http://localhost:1/models/?sig=x"], "error: http://localhost:1/models/ cannot be listed, as its query"),
        (["HTTP://localhost:1/models/"], "error: http://localhost:1/models/ cannot be listed: "),
    ],
)
def test_what_cannot_be_done(refusal, arguments, error):
    assert error in refusal("validate", *arguments)


def test_files_at_urls_cannot_be_mended(refusal):
    assert "files at URLs cannot be mended" in refusal("fix", "http://localhost:1/m.xml")


SIGNED = "?X-Amz-Credential=S3CR3T&X-Amz-Signature={0}S3CR3T"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("format_", FORMATS)
def test_no_report_has_a_signature_or_a_password(cli, site, model, tmp_path, format_):
    site.files |= {f"/m.{kind}{SIGNED.format(1)}": site.files[f"/m.{kind}"] for kind in ("xml", "bin")}
    url = f"{model.replace('//', '//user:S3CR3T@')}{SIGNED.format(1)}"
    done = cli("validate", url, "--format", format_, "--baseline", "known.json", cwd=tmp_path)
    assert "S3CR3T" not in done.stdout + done.stderr
    done = cli("validate", url, "--format", format_, "-o", "report", "--verbose", "--jobs", "2", cwd=tmp_path)
    assert "OVG602" in (tmp_path / "report").read_text()
    cli("validate", url, "--baseline", "known.json", "--write-baseline", "--cache", "cache", cwd=tmp_path)
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert b"S3CR3T" not in path.read_bytes(), path
    assert model in (tmp_path / "known.json").read_text()


def test_another_signature_matches_the_baseline(cli, site, model, tmp_path):
    for number in (1, 2):
        site.files |= {f"/m.{kind}{SIGNED.format(number)}": site.files[f"/m.{kind}"] for kind in ("xml", "bin")}
    options = ("--fail-on", "warning", "--baseline", "known.json")
    cli("validate", model + SIGNED.format(1), *options, "--write-baseline", cwd=tmp_path, code=0)
    known = tmp_path / "known.json"
    for text in (known.read_text(), known.read_text().replace(model, model + SIGNED.format(0))):  # as older releases wrote it
        known.write_text(text)
        done = cli("validate", model + SIGNED.format(2), *options, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "suppressed: 1" in done.stdout


def test_the_page_of_a_check_has_no_password(cli, site, tmp_path):
    site.files["/s.xml"] = Served(DOCUMENT)
    url = f"{site.address.replace('//', '//user:S3CR3T@')}/s.xml"
    options = ("--cases", "1", "--runtimes", "kernel,openvino", "--report", "page.html")
    done = cli("check", url, *options, cwd=tmp_path)
    assert f"{site.address}/s.xml" in done.stdout
    assert "S3CR3T" not in done.stdout + done.stderr + (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://h/m.xml", "https://h/m.xml"),
        ("https://token@h:8/a@b/m.xml?sig=x&y#z", "https://h:8/a@b/m.xml"),
        ("s3://key:secret@bucket/m.xml?versionId=1", "s3://bucket/m.xml"),
        ("abfss://container@account.dfs.core.windows.net/m.xml", "abfss://container@account.dfs.core.windows.net/m.xml"),
        ("hf://user/repo@main/m.xml", "hf://user/repo@main/m.xml"),
        ("simplecache::https://u:p@h/m.xml?sig=x", "simplecache::https://h/m.xml"),
        ("403, url='https://u:p@h/m?sig=x' and https://v:q@i/?s", "403, url='https://h/m' and https://i/"),
        ("http:u:secret@h/m.xml?sig=secret", "http:h/m.xml"),
        ("http:///u:secret@h/m.xml?sig=secret", "http:///h/m.xml"),
        ("no URL: what? 10:30 a@b", "no URL: what? 10:30 a@b"),
    ],
)
def test_what_is_left_of_a_url(text, expected):
    assert redacted(text) == expected
    assert "secret" not in repr(Url(text)) + str(Url(text))


VALID = SAMPLES / "valid" / "spec_layer.xml"


@pytest.mark.parametrize(
    "words",
    [
        ["prove", "URL"],
        ["diff", "URL", "URL"],
        ["run", "URL"],
        ["convert", "URL", "-o", "unwritten.xml"],
        ["validate", VALID, "-o", "URL"],
        ["validate", VALID, "--baseline", "URL"],
        ["validate", VALID, "--scheduler", "tcp://u:S3CR3T@127.0.0.1:1"],
        ["validate", "http:u:S3CR3T@h/m.xml?sig=S3CR3T"],
    ],
)
def test_no_usage_error_tells_a_secret(cli, words):
    done = cli(*("http://u:S3CR3T@127.0.0.1:1/m.xml?sig=S3CR3T" if word == "URL" else word for word in words), code=2)
    assert done.stderr
    assert "S3CR3T" not in done.stdout + done.stderr


SLOW = "the server takes longer than 0.5 s; --timeout allows more"
LARGE = "it is larger than 268435456 bytes"


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("behaviour", "files", "reason"),
    [
        *(("silent", "a b", SLOW), ("drip", "a b", SLOW), ("endless", "a b", LARGE), ("long", "a b", LARGE)),
        ("loop", "a b", "TooManyRedirects"),
        # listings without end
        ("nest", "**/*", "directories are more than 32 deep"),
        ("wide", "", "there are more than 100,000 files and directories|the search takes longer than 5 s"),
        ("self", "", "the search takes longer than 5 s|directories are more than 32 deep"),
        ("endless", "", "the page that lists it is larger than 16777216 bytes"),
        ("silent", "", SLOW),
    ],
)
def test_a_server_that_misbehaves(cli, behaviour, files, reason):
    with misbehaving() as address:
        start = time.monotonic()
        urls = [f"{address}/{behaviour}/{name}.xml" for name in files.split()] or [f"{address}/{behaviour}/"]
        done = cli("validate", *urls, "--timeout", "0.5", "--jobs", "2", "--format", "concise")
        assert is_within(time.monotonic() - start, 20)
    if files == "a b":
        first, second, _ = done.stdout.splitlines()
        assert (done.returncode, done.stderr) == (1, "")
        assert all("OVG008" in line and reason in line for line in (first, second))
    else:
        assert (done.returncode, done.stdout) == (2, "")
        assert re.match(f"error: {address}/{behaviour}/.* cannot be listed: ({reason})", done.stderr)
        assert done.stderr.count("\n") == 1
