"""README.md and docs/: sessions and the notebook show what their text says, links lead somewhere."""

import doctest
import json
import re
import subprocess
from shutil import which

import click
import pytest

from helpers.links import FENCE, broken_links, leads_somewhere, prose
from ov_gather.cli import group
from tools.sessions import BLOCK, NOTEBOOK, ROOT, SAVED, pages, refreshed, refreshed_notebook

PAGES = pages()
CUSTOM_LAYER = ROOT / "docs" / "start" / "custom_layer.md"
OURS = {"ov_gather", "converters", "tests", "docs", "ir_samples", ".ci"}
PYTHON = re.compile(r"```python\n(>>>.*?)```", re.S)


def label(path):
    return path.relative_to(ROOT).as_posix()


def with_blocks(pattern):
    """Run a test on each page with such a block, but for docs/custom_layer, which has tests/runtime/test_custom_layer.py."""
    found = [path for path in PAGES if pattern.search(path.read_text()) and path.parent.name != "custom_layer"]
    marks = {CUSTOM_LAYER: pytest.mark.exhaustive}  # compiles C++, three times
    cases = [pytest.param(path, marks=marks.get(path, ()), id=label(path)) for path in found]
    return pytest.mark.parametrize("path", cases)


def test_the_pages_are_there():
    assert {"README.md", "docs/howto/prove.md", "docs/custom_layer/README.md"} <= set(map(label, PAGES))


@pytest.mark.openvino
@pytest.mark.onnxruntime
@with_blocks(BLOCK)
def test_console_sessions(path):
    """Those of docs/start/ are the stories of three users: nothing happens but what the page says."""
    if path == CUSTOM_LAYER and not which("g++"):
        pytest.skip("needs g++")
    text = path.read_text()
    assert "$ " in BLOCK.search(text)[0]
    assert refreshed(text) == text


def test_the_page_of_a_custom_layer_up_to_its_build(cli, samples, tmp_path):
    """Its project has the files that are listed, those to save replace seven of them, and its declaration is accepted."""
    text = CUSTOM_LAYER.read_text()
    begun = re.sub(r"```console\n\$ pip install .*?```\n", "", text[: text.index("```console\n$ rm ")], flags=re.S)
    assert refreshed(begun) == begun
    listed, saved = re.findall(r"^volumes/\S+$", begun, re.M), dict(SAVED.findall(begun))
    assert len(saved) == 7
    assert set(saved) <= set(listed)
    for name, code in saved.items():
        assert name.endswith(("hpp", "cpp")) or compile(code, name, "exec")
    removed = re.search(r"^\$ rm (.*)$", text, re.M)[1]
    assert set(shell_words(removed)) <= set(listed)
    (tmp_path / "ops.py").write_text(saved["volumes/grid_sample3d_ops.py"])
    cli("validate", samples / "valid" / "gather_8.xml", "--ops", tmp_path / "ops.py", code=0)


def shell_words(text):
    """Return the words that bash makes of a text, braces expanded."""
    return subprocess.run(["bash", "-c", f"echo {text}"], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.sampled(4)
@pytest.mark.openvino
@with_blocks(PYTHON)
def test_python_sessions(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = "\n".join(PYTHON.findall(path.read_text()))
    example = doctest.DocTestParser().get_doctest(text, {}, label(path), label(path), 0)
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example)
    assert results.attempted >= 3
    assert results.failed == 0


def test_links():
    broken = [f"{label(path)}: {link}" for path in PAGES for link in broken_links(path, ROOT)]
    assert not broken, "\n".join(broken)


def test_files_that_are_named_are_there():
    missing = []
    for path in PAGES:
        spans = re.findall(r"`([^`\n]+)`", prose(path))
        words = [word for span in spans for word in span.split() if not set(word) & set("<>*{")]
        named = [word for word in words if word.split("/")[0] in OURS and "/" in word]
        missing += [f"{label(path)}: {name}" for name in named if not (ROOT / name).exists()]
    assert not missing, "\n".join(missing)


def commands_on(text):
    """Yield the words after `ov-gather`, for each of our commands in a block, and in text, which also has `check --sweep`."""
    names = group.list_commands(click.Context(group))
    blocks = "\n".join(re.findall(r"```(?:sh|console|yaml)\n(.*?)```", text, re.S)).splitlines()
    spans = re.findall(r"`([^`\n]+)`", FENCE.sub("", text))
    for part in [part for code in [*blocks, *spans] for part in re.split(r"&&|\|\||[;|(]", code.partition(" # ")[0])]:
        words = part.strip().removeprefix("$ ").removeprefix("- ").split()
        if words[:1] == ["ov-gather"]:
            yield words[1:]
        elif part in spans and words[:1] and words[0] in names:
            yield words


def options_of(words):
    """Return the options of the command that words name."""
    command, options = group, {"--help"}
    for word in words:
        if isinstance(command, click.Group) and (below := command.get_command(click.Context(command), word)):
            command = below
    return options.union(*((*parameter.opts, *parameter.secondary_opts) for parameter in command.params))


def test_options_on_pages_are_there():
    unknown = []
    for page, words in [(label(path), words) for path in PAGES for words in commands_on(path.read_text())]:
        used = {word.partition("=")[0].rstrip("`,.)") for word in words if word.startswith("--") and word != "--"}
        unknown += [f"{page}: {option} in {' '.join(words)}" for option in used - options_of(words)]
    assert not unknown, "\n".join(unknown)


def test_commands_are_found_on_pages():
    text = "`check --sweep` and `check`\n```sh\nov-gather run a.xml --input x=y # --no\n$ ls && ov-gather prove\n```\n"
    assert list(commands_on(text)) == [["run", "a.xml", "--input", "x=y"], ["prove"], ["check", "--sweep"], ["check"]]
    assert "--openvino" in options_of(["extension", "build"])
    assert "--openvino" not in options_of(["run"])


def test_the_house_is_as_drawn():
    """Every folder and file in the drawing is there, and every folder of ov_gather is in the drawing."""
    drawing = re.search(r"```text\n(.*?)```", (ROOT / "docs" / "background" / "house.md").read_text(), re.S)[1]
    folders, drawn = [], set()
    for line in drawing.splitlines():
        depth = (len(line) - len(line.lstrip())) // 4
        folders[depth:] = [line.split()[0]]
        drawn.add("".join(folders))
    assert [name for name in drawn if not (ROOT / name).exists()] == []
    parts = {f"ov_gather/{part.name}{'/' * part.is_dir()}" for part in (ROOT / "ov_gather").iterdir()}
    hidden = {"ov_gather/__init__.py", "ov_gather/py.typed", "ov_gather/__pycache__/"}
    assert parts - hidden <= drawn


def test_a_broken_link_is_found():
    page = ROOT / "README.md"
    assert leads_somewhere(page, "docs/howto/prove.md#onnx", ROOT)
    assert not leads_somewhere(page, "docs/howto/prove.md#no-such-heading", ROOT)
    assert not leads_somewhere(page, "docs/no_such_page.md", ROOT)


def test_each_page_says_how_to_do_one_thing():
    """A page in docs/howto/ is short, begins with its title, and is in the list of its folder under this title."""
    folder = ROOT / "docs" / "howto"
    listed = (folder / "README.md").read_text()
    for page in sorted(folder.glob("*.md")):
        lines = page.read_text().splitlines()
        assert [line for line in lines if line.startswith("# ")] == lines[:1], page.name
        assert page.name == "README.md" or (len(lines) <= 60 and f"]({page.name})" in listed), page.name


def test_no_release_stands_in_a_session():
    """A new release of a dependency must not make a page wrong."""
    release = re.compile(r"\b20\d\d\.\d+\.\d+\b")
    named = [
        (label(path), found) for path in PAGES for block in BLOCK.findall(path.read_text()) for found in release.findall(block)
    ]
    assert not named, "\n".join(named)


def test_the_readme_is_short_and_its_commands_are_whole():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 150
    assert "OWNER/" not in text
    commands = dict(re.findall(r"<!-- ci: (\w+) -->\n```sh\n(.*?)\n```", text, re.S))
    assert commands.keys() == {"main", "test"}
    assert all("pip install" in command and "\n" not in command for command in commands.values())


@pytest.mark.parametrize("name", ["README.md", *(f"docs/start/{page}.md" for page in ("ci", "custom_layer", "onnx"))])
def test_one_line_installs(name):
    """Each first page begins with the same line, and says beside it what to do while nothing is published."""
    text = (ROOT / name).read_text()
    first = re.search(r"```(?:sh|console)\n(.*?)```(.*?)```", text, re.S)
    assert first[1] == 'pip install "ov-gather[all]"\n'
    assert re.search(r"until the first release.*\bclone", first[2], re.S | re.I)


@pytest.mark.openvino
def test_the_tour_shows_what_it_does_today():
    """Its outputs are those of the cells, and the values in them are right."""
    document = NOTEBOOK.read_text()
    assert document == refreshed_notebook(), "run: python tests/tools/make_docs.py docs/first_tour.ipynb"
    cells = [cell for cell in json.loads(document)["cells"] if cell["cell_type"] == "code"]
    outputs = [output for cell in cells for output in cell["outputs"]]
    tables = ["".join(html) for output in outputs if (html := output.get("data", {}).get("text/html"))]
    for word, table in zip(("FP32", "OVG204", "attribute axis", "openvino", "clamp"), tables, strict=True):
        assert word in table
    shown = "".join("".join(output.get("text") or output["data"]["text/plain"]) for output in outputs)
    for right in ("= 3 is out of bounds for axis 1 of size 3 (valid -3..2)", "array([[5., 6.],", "('conditional', {'rows': "):
        assert right in shown
