"""What our functions return is a table in a notebook, and what names hold cannot break out of it."""

from html.parser import HTMLParser

import openvino

import ov_gather
from helpers.paths import SAMPLES


class Text(HTMLParser):
    """The text of a page, and the tags that it is made of."""

    def __init__(self, page):
        super().__init__()
        self.text, self.tags = "", set()
        self.feed(page)

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)


def shown(result):
    page = Text(result._repr_html_())
    assert page.tags <= {"pre", "span"}
    return page.text


SAMPLE = SAMPLES / "valid" / "spec_layer.xml"


def test_a_summary():
    assert "GatherElements" in shown(ov_gather.accelerate(openvino.Core().read_model(SAMPLE)))


def test_a_hostile_name():
    text = SAMPLE.read_text().replace('name="gather"', 'name="&lt;script&gt;alert(1)&lt;/script&gt;[red]"')
    assert "<script>alert(1)</script>[red]" in shown(ov_gather.read_ir(text.encode()))
