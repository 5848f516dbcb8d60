"""What our functions return is a table in a notebook, and what names hold cannot break out of it."""

import openvino
from lxml import html

import ov_gather
from helpers.paths import SAMPLES


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
