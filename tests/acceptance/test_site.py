"""The reference of the site: each command, option, rule, divergence and public name has its place in it."""

import importlib.util
import pydoc
import re
import shutil
import subprocess
import sys
from collections import Counter

import click
import pytest

from helpers.links import broken_links
from ov_gather.cli import group
from ov_gather.divergences.register import DIVERGENCES
from ov_gather.rules.register import RULES
from ov_gather.rules.validation import validate
from tools.docs_site import commands, divergences, plots, python_api, right_samples, rules
from tools.docs_site.staging import stage
from tools.sessions import ROOT

SECTIONS = re.compile(r"^## .*$", re.M)


def commands_of(command, path):
    """Yield a command and those below it, each with its path."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands_of(command.get_command(context, name), [*path, name])


def test_each_command_and_option_is_in_the_reference():
    pages = commands.pages()
    for path, command in commands_of(group, []):
        text = pages[f"{commands.FOLDER}/{path[0] if path else 'README'}.md"]
        assert not path or f"`ov-gather {' '.join(path)}`" in text
        for parameter in command.params:
            for option in parameter.opts if isinstance(parameter, click.Option) else ():
                assert re.search(rf"^- `.*{option}\b", text, re.M), (path, option)


def test_each_public_name_is_in_the_reference():
    import ov_gather

    names = {*ov_gather.__all__} | {f"converters.{name}" for name in ov_gather.converters.__all__} - {"converters"}
    pages = python_api.pages()
    for name in names - {"converters", "__version__"}:
        assert re.search(rf"auto(function|class):: ov_gather\.{name}$", pages[f"{python_api.FOLDER}/{name}.md"], re.M)
        assert f"]({name}.md)" in pages[f"{python_api.FOLDER}/README.md"]
    assert "autoclass:: ov_gather.ranges" in pages[f"{python_api.FOLDER}/Proof.md"]


KNOWN_FAULTS = ("OVG710", "OVG711", "OVG712")
"""Rules whose remedy is another operation."""


@pytest.mark.openvino
def test_each_rule_has_a_page_with_a_wrong_and_a_right_sample():
    pages = rules.pages()
    failures = [failure for rule in RULES.values() for failure in failures_of_rule(rule, pages)]
    assert not failures, "\n".join(failures)


def failures_of_rule(rule, pages):
    """Yield what is wrong with the page of a rule."""
    text = pages[f"{rules.FOLDER}/{rule.id}.md"]
    if not text.startswith(f"# {rule.id}: {rule.name}\n"):
        yield f"{rule.id}: the title is {text.splitlines()[0]}"
    if f"]({rule.id}.md)" not in pages[f"{rules.FOLDER}/README.md"]:
        yield f"{rule.id}: not in the list"
    if rule.id in rules.WITHOUT_SAMPLE:
        return
    _, wrong, right = SECTIONS.split(text)
    if f"{rule.severity.value} {rule.id}: " not in wrong:
        yield f"{rule.id}: no finding of it is shown"
    samples = re.findall(r"\]\(\.\./\.\./\.\./(ir_samples/valid/\w+\.xml)\)", right)
    if "mends this" in right or "In the right model this differs:" in right:
        if not re.search(r"^[-+] *\S|are written anew|cut off", right, re.M):
            yield f"{rule.id}: nothing differs"
        return
    if len(samples) != 1 and not (rule.id in KNOWN_FAULTS and right.strip()):  # no valid sample has a layer of their kind
        yield f"{rule.id}: valid samples: {samples}"
    yield from (f"{rule.id}: there is no {sample}" for sample in samples if not (ROOT / sample).exists())


@pytest.mark.parametrize("rule", right_samples.EDITS)
def test_an_edit_makes_a_sample_right(rule, tmp_path):
    """The finding of the rule goes away, and no other comes."""
    wrong = ROOT / "ir_samples" / "invalid" / rule / right_samples.EDITS[rule].sample
    assert right_samples.edited(rule, wrong, tmp_path)
    before, after = ({one.rule for one in validate(path, target="2024.6")} for path in (wrong, tmp_path / wrong.name))
    assert rule in before
    assert after < before


def test_rules_with_a_fix_say_so():
    """The page on `fix` lists these rules."""
    pages = rules.pages()
    rows = re.findall(r"^\| .*OVG.*$", (ROOT / "docs" / "howto" / "mend_models.md").read_text(), re.M)
    named = {name for name in RULES if "`ov-gather fix" in pages[f"{rules.FOLDER}/{name}.md"]}
    assert named == set(re.findall(r"OVG\d{3}", "".join(rows)))


def test_each_divergence_has_a_page():
    pages = divergences.pages()
    failures = []
    for known in DIVERGENCES:
        text = pages[f"{divergences.FOLDER}/{known.name}.md"]
        names = (operation.name for operation in known.operations)
        facts = (known.since, known.before, *names, *known.upstream, *(seen.value for seen in known.observed))
        failures += [f"{known.name}: {fact} is missing" for fact in facts if fact not in text]
        if not text.startswith(f"# {known.name}\n"):
            failures.append(f"{known.name}: the title is {text.splitlines()[0]}")
        if f"]({known.name}.md)" not in pages[f"{divergences.FOLDER}/README.md"]:
            failures.append(f"{known.name}: not in the list")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("name", plots.DRAWN)
def test_each_plot_shows_the_results_of_today(name):
    results = plots.DRAWN[name][0]()
    assert len(results) > 20
    drawing = (plots.PLOTS / f"{name}.svg").read_text()
    assert f"results: {plots.fingerprint(results)}" in drawing, "run: python tests/tools/docs_site/plots.py"
    assert all(f">{label}</text>" in drawing for label in results)


def test_the_page_on_benchmarks_begins_with_a_summary_of_its_table():
    text = (plots.EVIDENCE / "benchmarks.md").read_text()
    first = " ".join(text[: text.index("```")].split())
    assert "](plots/speeds.svg)" in first
    assert [line for line in plots.summary(plots.speeds()) if line not in first] == []


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    """The folder that Sphinx reads, if the address of the code host is not known."""
    folder = tmp_path_factory.mktemp("staged").resolve()
    stage(folder, "")
    return folder


@pytest.mark.openvino
def test_links_out_of_the_pages(staged, tmp_path):
    """They lead to the code host, if its address is known."""
    stage(tmp_path, "https://host/blob/main")
    page = "howto/write_a_layer.md"
    assert "see our own extension in `ov_gather/native/`" in " ".join((staged / page).read_text().split())
    assert "[`ov_gather/native/`](https://host/blob/main/ov_gather/native)" in (tmp_path / page).read_text()
    assert "](../custom_layer/index.md)" in (staged / page).read_text()


@pytest.mark.openvino
def test_links_of_the_site(staged):
    """Each leads to a page, a heading or an image of the site."""
    pages = sorted(staged.rglob("*.md"))
    assert len(pages) > len(RULES) + len(DIVERGENCES)
    broken = [f"{page.relative_to(staged)}: {link}" for page in pages for link in broken_links(page, staged)]
    assert not broken, "\n".join(broken)


@pytest.mark.openvino
def test_each_page_is_in_one_table_of_contents(staged):
    listed = Counter()
    for page in staged.rglob("index.md"):
        for contents in re.findall(r"^```\{toctree\}\n:hidden:\n\n(.*?)^```$", page.read_text(), re.M | re.S):
            listed.update(page.parent / name for name in contents.splitlines())
    wrong = [str(page) for page in {*listed, *staged.rglob("*.md")} if listed[page] != (page != staged / "index.md")]
    assert not wrong, "\n".join(wrong)


@pytest.mark.openvino
def test_what_the_reference_documents_can_be_imported(staged):
    text = "".join(page.read_text() for page in (staged / python_api.FOLDER).glob("*.md"))
    names = re.findall(r"^\.\. auto(?:function|class):: (.+)$", text, re.M)
    assert len(names) >= len(python_api.public())
    assert [name for name in names if pydoc.locate(name) is None] == []


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built without a warning."""
    if not (importlib.util.find_spec("furo") and importlib.util.find_spec("sphinx_copybutton")):
        pytest.skip('needs pip install ".[docs]"')
    folder = tmp_path_factory.mktemp("site")
    options = ["--try"] * (shutil.which("npm") is not None)
    command = [sys.executable, ROOT / "tests" / "tools" / "docs_site" / "build.py", folder, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.mark.exhaustive
@pytest.mark.openvino
def test_pages_of_the_site_lead_to_each_other(site):
    page = (site / "howto" / "prove.html").read_text()
    assert 'href="../reference/rules/OVG603.html"' in page
    assert 'href="../reference/commands/harden.html"' in page
    assert not re.search(r'(src|href)="(https?:)?//[^"]*\.(js|css|woff2?)', page), "nothing is fetched from elsewhere"


@pytest.mark.exhaustive
@pytest.mark.openvino
@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm, which gets Pyodide")
def test_the_page_that_validates_is_part_of_the_site(site):
    assert 'href="try/index.html"' in (site / "index.html").read_text()
    links = re.findall(r'(?:href|src)="([^"]+)"', (site / "try" / "index.html").read_text())
    assert len(links) > 2
    assert [link for link in links if not (site / "try" / link).exists()] == []


@pytest.mark.exhaustive
@pytest.mark.openvino
def test_the_site_in_a_browser(site, browser):
    """The first page says how to install which version; code can be copied; lines have numbers; how-to pages come first."""
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    first = page.locator("article").inner_text()
    assert 'pip install "ov-gather[all]"' in first
    assert re.search(r"Version \d+\.\d+\.\d+ · Repository", first)
    assert page.locator("button.copybtn").count() == 1
    page.goto((site / "reference" / "rules" / "OVG204.html").as_uri())
    assert page.locator(".highlight-xml .hll").inner_text().split() == ["25", "<data", 'axis="3"', "/>"]
    page.goto(f"{(site / 'search.html').as_uri()}?q=benchmark")
    page.locator("ul.search li").first.wait_for()
    page.wait_for_function("document.querySelector('#search-results p').textContent.includes('found')")
    found = page.locator("ul.search li > a").evaluate_all("all => all.map((link) => link.getAttribute('href'))")
    evidence = [name.startswith("evidence/") for name in found]
    assert 0 < sum(evidence) < len(evidence)
    assert evidence == sorted(evidence), found
    page.close()
