"""Links of Markdown pages, and the anchors that they lead to."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

FENCE = re.compile(r"^(```+).*?^\1$", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(path: Path) -> str:
    """Return the text of a page without its fenced blocks."""
    return FENCE.sub("", path.read_text())


def broken_links(page: Path, root: Path) -> list[str]:
    """Return the links of a page that lead to no file below `root`, or to no heading of it."""
    links = [link for link in LINK.findall(prose(page)) if not link.startswith("https://")]
    return [link for link in links if not leads_somewhere(page, link, root)]


def leads_somewhere(page: Path, link: str, root: Path) -> bool:
    """Return True if the file of a link is below `root`, and has its heading."""
    file, _, anchor = unquote(link).partition("#")
    target = (page.parent / file).resolve() if file else page
    return target.exists() and target.is_relative_to(root) and (not anchor or anchor in anchors(target))


@cache
def anchors(path: Path) -> set[str]:
    """Return the anchors that GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", prose(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
