"""The folder that Sphinx reads: docs/ with the reference, in the form that Sphinx wants.

The pages in docs/ are plain Markdown for a code host. There, README.md is the page of a folder, and its list of links is the
table of contents. For Sphinx, README.md becomes index.md with a hidden table of contents. Links to files outside of docs/ lead
to the code host if its address is known; otherwise only their text stays.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from tools.docs_site import commands, divergences, python_api, rules
from tools.docs_site.markdown import Pages
from tools.sessions import ROOT

DOCS = ROOT / "docs"
REFERENCE = (commands, python_api, rules, divergences)
FENCE = re.compile(r"^(```+.*?^```+$)", re.M | re.S)
LINK = re.compile(r"(!?)\[((?:[^][]|\[[^]]*\])*)\]\(([^)\s]+)\)")
LISTED = re.compile(r"^(?:- |\| )?\[[^]]+\]\(([^)#:]+\.md)\)", re.M)


def reference() -> Pages:
    """Return the pages that are made from the code, and link them from the page of the reference."""
    made = {path: text for part in REFERENCE for path, text in part.pages().items()}
    overview = (DOCS / "reference" / "README.md").read_text()
    for part in REFERENCE:
        name = part.FOLDER.rpartition("/")[2]
        overview = re.sub(
            rf"^## ({name})$", rf"## \1\n\n[\1]({name}/README.md): all on this site.", overview, flags=re.M | re.I
        )
    return {"reference/README.md": overview, **made}


def front_page(text: str, *, has_try: bool) -> str:
    """Return the first page with how to install this version, and where its repository is, below the first paragraph."""
    facts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    links = [f"[{label}]({facts['urls'][label]})" for label in ("Repository", "Changelog", "Issues")]
    install = ["```sh", 'pip install "ov-gather[all]"', "```", "", f"Version {facts['version']} · {' · '.join(links)}"]
    more = "What the extras are for, and how to install from a clone until the first release: [Install](start/install.md)."
    if has_try:
        more += ' <a href="try/index.html">Validate an IR in the browser</a> without installing anything.'
    title, lead, rest = text.split("\n\n", 2)
    return "\n\n".join((title, lead, "\n".join(install), more, rest))


def stage(folder: Path, source_url: str, *, has_try: bool = False) -> None:
    """Write all pages to a folder. `source_url` is the address of the repository's files on a code host; "" if unknown.

    `has_try` links the page that validates in the browser.
    """
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("*.md", "build"), dirs_exist_ok=True)
    written = {path.relative_to(DOCS).as_posix(): path.read_text() for path in DOCS.rglob("*.md")}
    written["README.md"] = front_page(written["README.md"], has_try=has_try)
    for path, text in (written | reference()).items():
        place = folder / _staged(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_relinked(text, path, source_url) + _contents(path, text))


def _staged(path: str) -> str:
    """Return the name of a page for Sphinx."""
    return re.sub(r"(^|/)README\.md\b", r"\1index.md", path)


def _relinked(text: str, path: str, source_url: str) -> str:
    """Return the text of a page with links for the site; what is in fences stays."""

    def link(match: re.Match[str]) -> str:
        image, label, target = match.groups()
        file, _, anchor = target.partition("#")
        if ":" in target or not file:
            return match[0]
        found = normpath(PurePosixPath("docs", path).parent / file)
        if not found.startswith("docs/"):
            return f"{image}[{label}]({source_url}/{found})" if source_url else label
        if (ROOT / found).is_dir():
            found += "/README.md"
        here = PurePosixPath("docs", path).parent.as_posix()
        return f"{image}[{label}]({relpath(_staged(found), here)}{'#' * bool(anchor)}{anchor})"

    parts = FENCE.split(text)
    return "".join(part if number % 2 else LINK.sub(link, part) for number, part in enumerate(parts))


def _contents(path: str, text: str) -> str:
    """Return the hidden table of contents of the page of a folder: the pages to which lines, items or rows lead first."""
    if not path.endswith("README.md"):
        return ""
    below = [link for link in dict.fromkeys(LISTED.findall(text)) if not link.startswith("../")]
    return "\n".join(["", "```{toctree}", ":hidden:", "", *map(_staged, below), "```", ""]) if below else ""
