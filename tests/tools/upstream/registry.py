"""The register of faults of other software: one file a fault, which shows it and begins with what is to be said about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ov_gather.divergences.register import DIVERGENCES

FOLDER = Path(__file__).parent / "faults"
LONGEST = 30
"""Lines of a reproducer, without its header."""
_HEADER = re.compile(r"# (\w+): (.+)")
_PACKAGE_OF = {"OpenVINO": "openvino", "onnxruntime": "onnxruntime", "ONNX": "onnx"}
PACKAGES = tuple(_PACKAGE_OF.values())


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault, as the header of its reproducer describes it.

    Attributes:
        name: the name of the file.
        component: the software and its part, e.g. "OpenVINO, CPU plugin".
        package: the package that has the fault, as pip names it.
        expected: what a specification says, in our words, and where it says so.
        actual: what happens.
        issues: public threads about it, those of the divergences included, e.g. "openvinotoolkit/openvino#35687".
        divergences: names of the divergences that it is the cause of.
        source: the reproducer without its header. It asserts what is expected.
    """

    name: str
    title: str
    component: str
    package: str
    expected: str
    actual: str
    issues: tuple[str, ...]
    divergences: tuple[str, ...]
    source: str

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.py"


def read(path: Path) -> Fault:
    """Read the fault of a file. Raises KeyError without a title, component, expected or actual."""
    lines = path.read_text().splitlines()
    header: dict[str, str] = {}
    while found := _HEADER.fullmatch(lines[len(header)]):
        header[found[1]] = found[2]
    known = [one for one in DIVERGENCES if path.stem in one.reports]
    issues = [*filter(None, header.get("issues", "").split(", ")), *(issue for one in known for issue in one.upstream)]
    return Fault(
        path.stem,
        header["title"],
        header["component"],
        _PACKAGE_OF[header["component"].split(",")[0]],
        header["expected"],
        header["actual"],
        tuple(dict.fromkeys(issues)),
        tuple(dict.fromkeys(one.name for one in known)),
        "\n".join(lines[len(header) :]).strip() + "\n",
    )


FAULTS = {path.stem: read(path) for path in sorted(FOLDER.glob("*.py"))}
