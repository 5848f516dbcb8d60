"""Run the console sessions in README.md and docs/, and the notebook.

All sessions of a page run in one shell, in a new directory that has the samples and the docs. A file that the page says to save
("Save this as `x.py`:") is in that directory from there on, and so is what pip installs. Releases of programs and libraries are
written as <version>, so that pages stay current after an update; in the notebook as x.y.z.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.M | re.S)
SAVED = re.compile(r"[Ss]ave (?:this|it) as `([^`\n]+)`:\n\n```\w+\n(.*?)^```$", re.M | re.S)
RELEASE = re.compile(r"\b\d+\.\d+\.\d+\b")
MARK = "--- command ---"
NOTEBOOK = ROOT / "docs" / "first_tour.ipynb"


def pages() -> list[Path]:
    """Return the Markdown pages at the top of the repository and in docs/."""
    return [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]


def refreshed(text: str) -> str:
    """Return a page with the current output of every console session."""
    outputs = _run(text)
    return BLOCK.sub(lambda block: "".join(next(outputs) for _ in _commands(block[0])), text)


def _commands(block: str) -> list[str]:
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]


def _script(text: str) -> Iterator[str]:
    """Yield the steps of a page for bash: the files to save, and the commands with a mark before each."""
    for step in sorted([*BLOCK.finditer(text), *SAVED.finditer(text)], key=lambda match: match.start()):
        if step.re is SAVED:
            yield f"cat > '{step[1]}' <<'{MARK}'\n{step[2]}{MARK}\n"
        else:
            yield from (f"echo '{MARK}'; (exit $code)\n{command}\ncode=$?\n" for command in _commands(step[0]))


def _run(text: str) -> Iterator[str]:
    """Yield each command of a page with its output."""
    script = "".join(_script(text))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as directory:
        for name in ("ir_samples", "docs"):
            (Path(directory) / name).symlink_to(ROOT / name)
        done = subprocess.run(
            ["bash", "-c", f"code=0\n{script}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=300,
            check=False,
            cwd=directory,
            env={
                **os.environ,
                "PATH": path,
                "COLUMNS": "100",
                "PIP_TARGET": f"{directory}/site",
                "PYTHONPATH": f"{directory}/site",
                "SKBUILD_BUILD_DIR": f"{directory}/build",  # a second build of a project compiles what has changed
            },
        )
    outputs = done.stdout.split(f"{MARK}\n")[1:]
    commands = [command for block in BLOCK.findall(text) for command in _commands(block)]
    for command, output in zip(commands, outputs, strict=True):
        lines = (line.rstrip() for line in RELEASE.sub("<version>", output).splitlines())
        yield "\n".join([f"$ {command}", *lines]) + "\n"


def refreshed_notebook() -> str:
    """Return the document with the current output of every cell."""
    document = json.loads(NOTEBOOK.read_text())
    cells = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    before = Path.cwd()
    os.chdir(NOTEBOOK.parent)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # conversions warn of integers of 64 bits
            for number, cell in enumerate(cells, 1):
                cell |= {"execution_count": number, "outputs": _outputs("".join(cell["source"]), names, number)}
    finally:
        os.chdir(before)
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _outputs(code: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Execute a cell: what it prints, and the value of its last expression."""
    *rest, last = ast.parse(code).body
    body, expression = (rest, last.value) if isinstance(last, ast.Expr) else ([*rest, last], None)
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(body, []), NOTEBOOK.name, "exec"), names)
        value = expression and eval(compile(ast.Expression(expression), NOTEBOOK.name, "eval"), names)
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(text)})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = _lines(value._repr_html_())
        outputs.append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data})
    return outputs


def _lines(text: str) -> list[str]:
    return RELEASE.sub("x.y.z", text).splitlines(keepends=True)
