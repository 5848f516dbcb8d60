"""`ov-gather fix` on broken IRs: whatever OpenVINO executed before gives the same results afterwards, by position and by name.

Foreign files do not change, links stay links, and the findings reported as remaining are those of the files on disk.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from helpers.executed_models import Executor
from helpers.paths import SAMPLES
from ov_gather import validate
from ov_gather.rules.mending import mend

TRIALS = 120
SECONDS = 90
SOURCES = sorted(path for path in SAMPLES.rglob("*.xml") if path.stat().st_size < 40_000)
EXECUTOR = Executor()

Text = str
Mutation = Callable[[Text, np.random.Generator], Text]


def attack(rng: np.random.Generator, folder: Path) -> int:
    """Break an IR in a few ways, fix it, and compare. Return the number of fixes applied to a model that OpenVINO executed."""
    source = SOURCES[rng.integers(len(SOURCES))]
    document, weights = source.read_bytes(), None
    with suppress(OSError):
        weights = source.with_suffix(".bin").read_bytes()
    with suppress(UnicodeDecodeError):
        text = document.decode()
        for mutation in rng.choice(np.array(MUTATIONS, object), rng.integers(1, 5)):
            text = mutation(text, rng)
        document = _encoded(text, rng)
    if weights is not None:
        weights = _with_other_bytes(weights, document, rng)
    path = _laid_out(folder, document, weights, rng)
    others = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    links = [file for file in folder.rglob("*") if file.is_symlink()]
    before = EXECUTOR.execute(path)
    if before is not None and EXECUTOR.execute(path) != before:
        before = None  # an index is out of bounds, so results depend on memory
    mended = mend(path, unsafe=False)
    list(mended.diff())
    try:
        mended.write()
    except OSError:
        assert {file: file.read_bytes() for file in others} == others, "not mended, and yet something was written"
        return 0
    own = {path.resolve()} if _is_of_another(path) else {path.resolve(), path.with_suffix(".bin").resolve()}
    own = {file for file in own if len(file.name) < 64}  # longer names are content hashes, as in a cache
    changed = [file.name for file, content in others.items() if file.resolve() not in own and file.read_bytes() != content]
    assert not changed, f"other files were changed: {changed}"
    assert all(link.is_symlink() for link in links), "a link became a file"
    assert not [file.name for file in folder.rglob(".*")], "something was left behind"
    if weights is not None:
        left = path.with_suffix(".bin").read_bytes()
        gone = [offset for offset in _offsets(document) if len(left) <= offset < len(weights)]
        assert not gone, f"the .bin was cut off behind {len(left)} bytes, and the document refers to {gone}"
    after = validate(path)
    assert [finding.fingerprint for finding in after] == [finding.fingerprint for finding in mended.left]
    if before is None or not mended.mended:
        return 0
    rules = sorted({finding.rule for finding in mended.mended})
    executed = EXECUTOR.execute(path)
    assert executed is not None, f"{source.name}: after the fixes of {rules} OpenVINO does not execute it any more"
    for part in ("inputs", "outputs", "by_position", "by_name"):
        old, new = getattr(before, part), getattr(executed, part)
        assert old == new, f"{source.name}: after the fixes of {rules} {part} differ: {old!r:.400} became {new!r:.400}"
    return len(mended.mended)


def _is_of_another(path: Path) -> bool:
    """Return True if the .bin also belongs to another .xml, so that it must not change."""
    other = path.with_suffix(".bin").resolve().with_suffix(".xml")
    return other.exists() and not other.samefile(path)


def _offsets(document: bytes) -> list[int]:
    """Return all offsets into the .bin that the document names, in any element."""
    return [int(text) for text in re.findall(rb'offset="(\d+)"', document)]


def _one(text: Text, pattern: str, rng: np.random.Generator, change: Callable[[re.Match[str]], str]) -> Text:
    """Change one random match of a pattern, if there is any."""
    found = [*re.finditer(pattern, text)]
    if not found:
        return text
    match = found[rng.integers(len(found))]
    return text[: match.start()] + change(match) + text[match.end() :]


def _all_cases(text: Text, rng: np.random.Generator) -> Text:
    """Change the case of all layers of a type, so that the order of inputs and outputs is at stake."""
    kind = str(rng.choice(["Parameter", "Result", "Assign", "ReadValue", "Gather", "If", "Loop"]))
    return text.replace(f'type="{kind}"', f'type="{kind.lower()}"')


def _name(text: Text, rng: np.random.Generator) -> Text:
    names = re.findall(r'<layer [^>]*name="([^"]*)"', text) or ["x"]
    return _one(text, NAME, rng, lambda match: match[1] + str(rng.choice(names)))


def _reference(text: Text, rng: np.random.Generator) -> Text:
    """Refer to bytes at the end of the .bin that no Const uses, with offset and size in various spellings."""
    referring = [
        '<blobs><weights offset="{0}" size="4" precision="FP32"/></blobs>',
        '<data weights_offset="{0}" weights_size="4"/>',
        '<rt_info><attribute name="x" offset="{0}"/></rt_info>',
    ][rng.integers(3)]
    end = max((int(a) + int(b) for a, b in re.findall(r'offset="(\d+)" size="(\d+)"', text)), default=0)
    return _one(text, r"(<layer [^>]*>)(?!\s*<data)", rng, lambda match: match[1] + referring.format(end))


Change = Callable[[re.Match[str], np.random.Generator], str]
DIM, NAME, PORT = r"<dim>-?\d+</dim>", r'(<layer [^>]*name=")([^"]*)', r"(<port (?:(?!<port).)*?</port>)"
TYPES, DIMS = ("FP32", "FP16", "I32", "I64", "BOOL"), (-1, 0, 1, 2, 3, 5, 9)
ODD_NAMES = (" type=&quot;Relu&quot;", "name id='3'", "\u00e9\u6f22", "a&amp;b", "&#10;x", "]]&gt;")
DECOYS = (' type="Result" ', ' name="y" ', ' id="0" precision="I8" ')
"""Names in single quotes that look like attributes."""
STYLES: tuple[Callable[[str], str], ...] = (str.lower, str.upper, str.swapcase)
REPLACED: tuple[tuple[int, str, Change], ...] = (
    (2, DIM, lambda match, rng: f"<dim>{rng.choice(DIMS)}</dim>"),
    (1, DIM, lambda match, rng: match[0] * int(rng.integers(0, 3))),
    (2, r'precision="\w+"', lambda match, rng: f'precision="{rng.choice(TYPES)}"'),
    (1, r'(<layer [^>]*type=")(\w+)', lambda match, rng: match[1] + STYLES[rng.integers(3)](match[2])),
    (1, NAME, lambda match, rng: match[1] + str(rng.choice(ODD_NAMES))),
    (1, r'name="[^"]*"', lambda match, rng: f"name='{rng.choice(DECOYS)}'"),
    (2, rf"(?s){PORT}(\s*){PORT}", lambda match, rng: match[3] + match[2] + match[1]),  # neighbouring ports
    (1, r'shape="(\d+)', lambda match, rng: f'shape="{rng.choice([1, 2, 3, int(match[1])])}'),
)
"""Changes of one random match of a pattern, by weight."""
MUTATIONS: tuple[Mutation, ...] = (
    *(
        lambda text, rng, pattern=pattern, change=change: _one(text, pattern, rng, lambda match: change(match, rng))
        for weight, pattern, change in REPLACED
        for _ in range(weight)
    ),
    *(_all_cases, _name, _name, _reference),
    lambda text, rng: re.sub(r'(<net [^>]*version=")11"', r'\g<1>10"', text),
    lambda text, rng: re.sub(r' names="[^"]*"', "", text),
    lambda text, rng: text,
)


def _encoded(text: Text, rng: np.random.Generator) -> bytes:
    body = re.sub(r"^\s*<\?xml[^>]*\?>\s*", "", text)
    match rng.integers(12):
        case 0:
            return f'<?xml version="1.0" encoding="UTF-16"?>\n{body}'.encode("utf-16")
        case 1:
            return f'<?xml version="1.0" encoding="ISO-8859-1"?>\n{body}'.encode("latin-1", "xmlcharrefreplace")
        case 2:
            return f'<?xml version="1.0" encoding="ISO-8859-1"?>\n{body}'.encode()  # UTF-8 declared as Latin-1
        case 3:
            return b"\xef\xbb\xbf" + text.encode()
        case 4:
            return text.replace("\n", "\r\n").encode()
    return text.encode()


def _with_other_bytes(weights: bytes, document: bytes, rng: np.random.Generator) -> bytes:
    """Append bytes behind all Consts, or make an index negative or a boolean neither 0 nor 1."""
    changed = bytearray(weights)
    if rng.random() < 0.3:
        changed += rng.bytes(int(rng.integers(1, 20)))
    places = re.findall(rb'element_type="(i64|i32|boolean)"[^>]*offset="(\d+)"[^>]*size="(\d+)"', document)
    if places and rng.random() < 0.5:
        kind, offset, size = places[rng.integers(len(places))]
        width = {b"i64": 8, b"i32": 4, b"boolean": 1}[kind]
        start = int(offset) + width * int(rng.integers(max(1, int(size) // width)))
        value = 7 if kind == b"boolean" else -1
        changed[start : start + width] = value.to_bytes(width, "little", signed=kind != b"boolean")
    return bytes(changed)


def _laid_out(folder: Path, document: bytes, weights: bytes | None, rng: np.random.Generator) -> Path:
    """Write the model, possibly through links, beside foreign files. Return the path to fix."""
    here, there = folder / "here", folder / "there"
    here.mkdir()
    there.mkdir()
    path, layout = here / "model.xml", int(rng.integers(8))
    digests = "0123456789abcdef" * 4, "fedcba9876543210" * 4
    xml_names = {1: "model.xml", 2: "other.xml", 3: digests[0], 4: "model.xml"}
    bin_names = {3: digests[1], 4: "model.bin", 5: "other.bin", 6: "model.bin"}
    for file, content, name in ((path, document, xml_names.get(layout)), (here / "model.bin", weights, bin_names.get(layout))):
        if content is None:
            continue
        if name is None:
            file.write_bytes(content)
        else:
            (there / name).write_bytes(content)
            file.symlink_to(Path("..", "there", name))
    for name in ("model.xml", "model.bin", "other.bin"):  # foreign files, unless a link points there
        if not (there / name).exists() and rng.random() < 0.5:
            (there / name).write_bytes(b"somebody else's")
    return path
