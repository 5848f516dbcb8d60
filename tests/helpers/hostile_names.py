"""Names that act on terminals, logs of CI services, XML, HTML or JSON if printed raw; and checks that none does."""

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

NAMES = (
    "\x1b[31mred\x1b]0;title\x07",
    "\x9b31mred",
    "\rPWNED",
    "\nPWNED",
    "x\n::error file=PWNED::x",
    "::error file=PWNED,line=1::x",
    " ::warning::PWNED",
    "##[error]PWNED",
    "x ##vso[task.setvariable variable=PWNED]1",
    "\u202egpj.exe",
    "\u2066x\u2069\u200b\u200d",
    "\u2028PWNED\u2029PWNED\x85PWNED",
    "<script>PWNED</script>",
    '"><img src=x onerror=PWNED>',
    "]]>&amp;&lt;&#x1b;",
    "%0A::error::PWNED",
    "[link](http://PWNED) `code`",
    "[bold red]x[/bold red] :smile: [/]",
    "\x7f\ufffe\x00x",
    "a'b\\,\"c\t{x}%s",
)
FINDING = re.compile(r"::(error|warning|notice) file=[^,\n]*,line=\d+,title=[^,:\n]+::")


def check_characters(text: str, where: str) -> None:
    """Raise AssertionError where a text does something to a terminal, or hides something."""
    bad = [character for character in text if not (character.isprintable() or character in "\t\n")]
    assert not bad, f"{where}: {bad!r}"


def check_lines(text: str, where: str) -> None:
    """Raise AssertionError where a text does something to a terminal, or to the log of a CI service."""
    check_characters(text, where)
    for line in text.split("\n"):
        assert not re.search(r"##\w*\[", line), f"{where}: a command in {line!r}"
        is_command = line.strip().startswith("::")
        assert not is_command or FINDING.match(line), f"{where}: a command in {line!r}"
        assert not re.match(r"[\W_]*PWNED", line), f"{where}: a line of a name: {line!r}"


def check_format(text: str, format_: str, where: str) -> None:
    """Raise AssertionError where a report is not well-formed."""
    if format_ in ("json", "sarif"):
        json.loads(text, parse_constant=_refuse)
    elif format_ == "junit":
        ElementTree.fromstring(text)
    elif format_ == "markdown":
        table = text.partition("\n\n")[2]
        assert "\n\n" not in table, f"{where}: names after a blank line would be Markdown"
        assert not table or ElementTree.fromstring(table).tag == "table", where
    elif format_ == "html":
        _Page(where).feed(text)


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


class _Page(HTMLParser):
    """A page whose scripts and attributes have nothing of a name that acts."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where, self.tag = where, ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tag = tag
        assert not any(name.startswith("on") for name, _ in attrs), f"{self.where}: {tag} {attrs}"
        assert tag != "img", f"{self.where}: {attrs}"

    def handle_data(self, data: str) -> None:
        if self.tag in ("script", "style"):
            assert "PWNED" not in data, f"{self.where}: {data!r}"
