"""Names become harmless where they are printed, also in notebooks, and legal where they are written to XML."""

import re

import openvino
import pytest
from lxml import html
from rich.table import Column

import ov_gather
from helpers.paths import SAMPLES
from ov_gather.cli import output
from ov_gather.ir.tree import legal
from ov_gather.system import tables
from ov_gather.system.tables import as_text, cell, new_table, printable, shortened, table_of


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("größe/名前 x", "größe/名前 x"),
        ("\x1b[31m\x9b1m\x07\x7f", r"\x1b[31m\x9b1m\x07\x7f"),
        ("a\nb\rc\td\u2028e\x85", r"a\nb\rc\td\u2028e\x85"),
        ("\u202eexe\u2066\u200b\ufeff", r"\u202eexe\u2066\u200b\ufeff"),
        ("::error::x", r"\x3a:error::x"),
        ("  ::error::x", r"  \x3a:error::x"),
        ("std::vector", "std::vector"),
        ("a ##[error]b ##vso[c]d ###e", r"a #\x23[error]b #\x23vso[c]d ###e"),
        ("\udcff", r"\udcff"),
    ],
)
def test_printable(name, shown):
    assert printable(name) == shown
    assert printable(shown) == shown


def test_a_name_ends_no_line_of_a_table():
    (line,) = (line for line in as_text(table_of(["name"], [["x\n::error::y"]])).splitlines() if "error" in line)
    assert r"x\n::error::y" in line
    assert cell("one\nline", "another").plain == "one\\nline\nanother"


@pytest.mark.parametrize("colour", [False, True])
def test_a_folded_name_begins_no_line_with_a_command(monkeypatch, capfd, colour):
    table = new_table(Column("name", max_width=10))
    table.add_row(cell("0123456789::error::x"))
    monkeypatch.setattr(output, "has_colour", lambda: colour)
    output.print_table(table)
    shown = capfd.readouterr().out
    assert r"\x3a:error:" in shown
    assert "\n::" not in shown


def test_what_xml_cannot_hold():
    assert legal("a\x1bb\x00\ufffe\udfffc\nd\u202e") == "a\\x1bb\\x00\\ufffe\\udfffc\nd\u202e"


def shown(result):
    """The text of a page, which has no other tags than these."""
    page = html.fragment_fromstring(result._repr_html_())
    assert {element.tag for element in page.iter()} <= {"pre", "span"}
    return page.text_content()


SAMPLE = SAMPLES / "valid" / "spec_layer.xml"


def test_a_summary():
    assert "GatherElements" in shown(ov_gather.accelerate(openvino.Core().read_model(SAMPLE)))


def test_a_hostile_name():
    text = SAMPLE.read_text().replace('name="gather"', 'name="&lt;script&gt;alert(1)&lt;/script&gt;[red]"')
    assert "<script>alert(1)</script>[red]" in shown(ov_gather.read_ir(text.encode()))


def test_a_long_table_is_written_as_rich_writes_it(monkeypatch):
    table = table_of(("name", "größe\nof 名前"), [("a", "1"), (("b", "below b"), "[red]x"), ("名前/名前", "")])
    table.add_section()
    table.add_row(cell("after a section"), cell("", "under an empty line"))
    by_rich = as_text(table)
    monkeypatch.setattr(tables, "_MANY_ROWS", 3)
    assert as_text(table) == by_rich


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        (r'version="opset8"', f'version="opset{"9" * 5_000}"'),
        (r'shape="[^"]*"', f'shape="{",".join(["7"] * 200_000)}"'),
        (r'type="Gather"', f'type="{"G" * 1_000_000}"'),
        (r'element_type="[^"]*"', f'element_type="{"e" * 1_000_000}"'),
        (r'precision="[^"]*"', f'precision="{"P" * 1_000_000}"'),
        (r'name="[^"]*"(?= type="Gather")', f'batch_dims="x" name="{"n" * 1_000_000}"'),
        (r"<data ", f'<data {"a" * 1_000_000}="1" '),
        (r'batch_dims="[^"]*"', f'batch_dims="{"1" * 5_000}"'),
    ],
)
def test_findings_quote_the_two_ends_of_long_values(pattern, replacement, tmp_path):
    text = (SAMPLES / "valid/gather_8.xml").read_text()
    changed = re.sub(pattern, lambda _: replacement, text, count=1)
    assert changed != text
    (tmp_path / "long.xml").write_text(changed)
    (tmp_path / "long.bin").write_bytes((SAMPLES / "valid/gather_8.bin").read_bytes())
    findings = ov_gather.validate(tmp_path / "long.xml")
    assert findings
    for finding in findings:
        assert max(map(len, (finding.message, finding.hint, finding.location.layer_text))) <= 1000
        assert len(finding.headline) < 2_500


def test_a_long_text_keeps_its_ends():
    assert shortened("a" * 1000) == "a" * 1000
    assert shortened("start" + "a" * 1000 + "end", 100) == "start" + "a" * 58 + "..." + "a" * 31 + "end"
