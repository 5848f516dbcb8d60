"""lxml's tree is the oracle of the reader: however a document is laid out, both must find the same in it."""

import io
import random
from collections.abc import Iterator

import pytest
from lxml import etree

from helpers import seeds
from helpers.paths import SAMPLES
from ov_gather.ir.model import Edge, Element, Layer, Model, Port
from ov_gather.ir.reader import read_document

BODIES = ("body", "then_body", "else_body")
READABLE = [path for path in sorted(SAMPLES.rglob("*.xml")) if not read_document(path).damaged]
DOCUMENTS, PARTS = 25, 5
"""The number of documents that are made of each sample, and in how many tests."""
ENCODINGS = ("utf-8", "utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "iso-8859-15", "us-ascii")
NASTY = [*"é😀\u2028\x85<>&\"'", "]]>", *"\t\n\r ", "<!--", "-->", "/>", "<layers>", "&#38;"]
GAPS = ["", " ", "\n", "\r\n\t", "\n\n\n", "<!-- <layers> &amp; </layer> -->", "\n<?note <edges> ?>", "\n\t<!---->\n"]


# ---- reformatting


class Reformatter:
    """Writes a tree as text. `wildness` is how often the text departs from the layout of OpenVINO's writer."""

    def __init__(self, choices: random.Random, encoding: str, wildness: float) -> None:
        self.choices, self.encoding, self.wildness = choices, encoding, wildness

    def wild(self) -> bool:
        return self.choices.random() < self.wildness

    def document(self, root: etree._Element) -> bytes:
        name = "utf-8" if self.encoding == "utf-8-sig" else self.encoding
        declared = f'<?xml version="1.0" encoding="{name}"?>' if self.wild() or name != "utf-8" else '<?xml version="1.0"?>'
        text = declared + self.gap() + self.element(root, 0) + self.gap()
        return text.encode(self.encoding)

    def gap(self, depth: int = 0) -> str:
        return self.choices.choice(GAPS) if self.wild() else "\n" + "\t" * depth

    def element(self, element: etree._Element, depth: int) -> str:
        tag = element.tag
        pairs = list(element.attrib.items())
        if self.wild():
            self.choices.shuffle(pairs)
        attributes = "".join(self.attribute(name, self.value(name, value)) for name, value in pairs)
        text = (element.text or "").strip()
        if not len(element) and not text:
            return self.choices.choice(self.empty(tag, attributes)) if self.wild() else f"<{tag}{attributes} />"
        inside = self.text(text) if text else ""
        for child in element:
            inside += self.gap(depth + 1) + self.element(child, depth + 1)
        inside += self.gap(depth) if len(element) else ""
        end = f"</{tag}{self.choices.choice(['', ' ', chr(10)]) if self.wild() else ''}>"
        return f"<{tag}{attributes}>{inside}{end}"

    def empty(self, tag: str, attributes: str) -> list[str]:
        return [
            f"<{tag}{attributes}/>",
            f"<{tag}{attributes}\n/>",
            f"<{tag}{attributes}></{tag}>",
            f"<{tag}{attributes} >\n</{tag} >",
        ]

    def attribute(self, name: str, value: str) -> str:
        if not self.wild():
            return f' {name}="{self.escaped(value, chr(34), 0.0)}"'
        quote = self.choices.choice("\"'")
        before, equals = self.choices.choice([" ", "\n", "\t  "]), self.choices.choice(["=", " = ", "\n="])
        return f"{before}{name}{equals}{quote}{self.escaped(value, quote, 0.2)}{quote}"

    def value(self, name: str, value: str) -> str:
        """The value of an attribute; a name may become another one, for nothing hangs on it."""
        if name in ("name", "names", "output_names", "friendly_name") and self.wild():
            return "".join(self.choices.choices(["a", *NASTY], k=self.choices.randrange(8)))
        return value

    def text(self, text: str) -> str:
        if not self.wild():
            return self.escaped(text, "", 0.0)
        half = self.choices.randrange(len(text) + 1)
        parts = [self.choices.choice([self.escaped(part, "", 0.3), self.cdata(part)]) for part in (text[:half], text[half:])]
        around = [self.choices.choice(["", " ", "\n\t"]) for _ in range(2)]
        return around[0] + self.choices.choice(["", "<!-- 7 -->", "<?x 7?>"]).join(parts) + around[1]

    def cdata(self, text: str) -> str:
        return f"<![CDATA[{text}]]>" if self.can_hold(text) and "]]>" not in text else self.escaped(text, "", 0.0)

    def escaped(self, text: str, quote: str, often: float) -> str:
        return "".join(self.character(character, quote, often) for character in text)

    def character(self, character: str, quote: str, often: float) -> str:
        named = {"<": "&lt;", "&": "&amp;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}
        number = self.choices.choice([f"&#{ord(character)};", f"&#x{ord(character):x};"])
        if character in ("<", "&", ">", quote):
            return self.choices.choice([named[character], number])
        if self.choices.random() < often or not self.can_hold(character):
            return number
        return character  # also white space, which the parser of an attribute makes blanks

    def can_hold(self, text: str) -> bool:
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            return False
        return True


# ---- what the tree says


def graph_of(element: etree._Element) -> Model:
    if element.tag == "layer":
        return Model((layer_of(element),), tag="layer")
    kept = [child for child in element if child.tag not in ("layers", "edges")]
    net = element.tag == "net"
    return Model(
        layers=tuple(layer_of(layer) for layer in element.iterfind("layers/layer")),
        edges=tuple(edge_of(edge) for edge in element.iterfind("edges/edge")),
        name=element.get("name", "") if net else "",
        version=int(element.get("version")) if net else 11,
        tag=element.tag,
        sections=tuple(map(kept_of, kept)),
    )


def layer_of(element: etree._Element) -> Layer:
    header = dict(element.attrib)
    data = element.find("data")
    return Layer(
        id=int(header.pop("id", "0")),
        name=header.pop("name", ""),
        type=header.pop("type"),
        version=header.pop("version", None),
        attributes={} if data is None else dict(data.attrib),
        inputs=tuple(map(port_of, element.iterfind("input/port"))),
        outputs=tuple(map(port_of, element.iterfind("output/port"))),
        extra=header,
        sections=tuple(kept_of(child) for child in element if child.tag not in ("data", "input", "output", *BODIES)),
        bodies=tuple(graph_of(child) for tag in dict.fromkeys(child.tag for child in element) if tag in BODIES
                     for child in element.iterfind(tag)),
    )  # fmt: skip


def port_of(element: etree._Element) -> Port:
    attributes = dict(element.attrib)
    kept = tuple(kept_of(child) for child in element if child.tag != "dim")
    dims = tuple(int(dim.text) for dim in element.iterfind("dim"))
    return Port(int(attributes.pop("id")), dims, attributes.pop("precision", None), attributes, kept)


def edge_of(element: etree._Element) -> Edge:
    return Edge(*(int(element.get(name)) for name in ("from-layer", "from-port", "to-layer", "to-port")))


def kept_of(element: etree._Element) -> Element:
    return Element(element.tag, dict(element.attrib), tuple(map(kept_of, element)), (element.text or "").strip(" \t\r\n"))


# ---- both


def reformatted(root: etree._Element, name: str) -> Iterator[tuple[bytes, int]]:
    choices = seeds.choices(name)
    note = etree.SubElement(etree.SubElement(root, "rt_info"), "note", {"name": "x"})
    note.text = "a <text> & 'more' ]]> é \u20ac end"  # hardly a sample has text that is kept
    for _ in range(DOCUMENTS // PARTS):
        writer = Reformatter(choices, choices.choice(ENCODINGS), choices.choice([0.0, 0.01, 0.1, 0.5, 1.0]))
        yield writer.document(root), choices.choice([50, 1000, 1 << 16])


class Stream(io.BytesIO):
    """A stream that gives at most `at_most` bytes at a time."""

    def __init__(self, content: bytes, at_most: int) -> None:
        super().__init__(content)
        self.at_most = at_most

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self.at_most)


def test_there_are_thousands():
    assert len(READABLE) * DOCUMENTS > 3000


@pytest.mark.sampled(1)
@pytest.mark.parametrize("part", range(PARTS))
def test_the_reader_finds_what_the_tree_of_lxml_holds(part):
    plain = etree.XMLParser(remove_comments=True, remove_pis=True)
    wrong = []
    for path in READABLE:
        for content, at_most in reformatted(etree.parse(path, plain).getroot(), f"{path.name} {part}"):
            document = read_document(Stream(content, at_most))
            if document.damaged:
                wrong.append(f"{path}: {document.problems[0]}: {content}")
            elif document.model != graph_of(etree.fromstring(content, plain)):
                wrong.append(f"{path} differs: {content}")
    assert not wrong, "\n".join(wrong)


def test_the_oracle_sees_every_kind_of_difference(samples):
    """A comparison that could not fail would prove nothing: each change to the tree must show."""
    text = (samples / "valid" / "dynamic_shapes.xml").read_text()
    model = read_document(text.encode()).model
    root = etree.fromstring(text.encode())
    assert model == graph_of(root)
    changes = (
        ('name="gather"', 'name="other"'), ('id="2"', 'id="7"'), ("<dim>-1</dim>", "<dim>5</dim>"), ('axis="-2"', 'axis="1"'),
        ('from-port="0"', 'from-port="1"'), ('precision="I64"', 'precision="I32"'),
        ('output_names="output"', 'output_names="o"'), ("</layers>", "</layers><rt_info>text</rt_info>"),
    )  # fmt: skip
    for before, after in changes:
        assert before in text
        assert model != graph_of(etree.fromstring(text.replace(before, after, 1).encode()))
