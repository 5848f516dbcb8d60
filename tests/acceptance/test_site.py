"""The reference of the site: each command, option, rule, divergence and public name has its place in it."""

import importlib.util
import re
import subprocess
import sys
from functools import cache

import click
import pytest

from ov_gather.cli import group
from ov_gather.divergences.register import DIVERGENCES
from ov_gather.rules.register import RULES
from tools.docs_site import commands, divergences, plots, python_api, rules
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


@cache
def rule_pages():
    return rules.pages()


KNOWN_FAULTS = ("OVG710", "OVG711", "OVG712")
"""Rules whose remedy is another operation."""


@pytest.mark.slow
@pytest.mark.openvino
@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_each_rule_has_a_page_with_a_wrong_and_a_right_sample(rule):
    text = rule_pages()[f"{rules.FOLDER}/{rule.id}.md"]
    assert text.startswith(f"# {rule.id}: {rule.name}\n")
    assert f"]({rule.id}.md)" in rule_pages()[f"{rules.FOLDER}/README.md"]
    if rule.id not in rules.WITHOUT_SAMPLE:
        _, wrong, right = SECTIONS.split(text)
        assert f"{rule.severity.value} {rule.id}: " in wrong
        samples = re.findall(r"\]\(\.\./\.\./\.\./(ir_samples/valid/\w+\.xml)\)", right)
        assert len(samples) == 1 or (rule.id in KNOWN_FAULTS and right.strip())  # no valid sample has a layer of their kind
        assert all((ROOT / sample).exists() for sample in samples)


@pytest.mark.parametrize("known", DIVERGENCES, ids=lambda known: known.name)
def test_each_divergence_has_a_page(known):
    text = divergences.pages()[f"{divergences.FOLDER}/{known.name}.md"]
    assert text.startswith(f"# {known.name}\n")
    for fact in (known.since, known.before, *known.operations, *known.upstream, *(seen.value for seen in known.observed)):
        assert fact in text
    assert f"]({known.name}.md)" in divergences.pages()[f"{divergences.FOLDER}/README.md"]


@pytest.mark.parametrize("name", plots.DRAWN)
def test_each_plot_shows_the_results_of_today(name):
    results = plots.DRAWN[name][0]()
    assert len(results) > 20
    drawing = (plots.PLOTS / f"{name}.svg").read_text()
    assert f"results: {plots.fingerprint(results)}" in drawing, "run: python tests/tools/docs_site/plots.py"
    assert all(f">{label}</text>" in drawing for label in results)


@pytest.mark.slow
@pytest.mark.openvino
def test_links_out_of_the_pages(tmp_path):
    """They lead to the code host, if its address is known."""
    for folder, address in (("a", ""), ("b", "https://host/blob/main")):
        stage(tmp_path / folder, address)
    page = "howto/write_a_layer.md"
    assert "see our own extension in `ov_gather/native/`" in " ".join((tmp_path / "a" / page).read_text().split())
    assert "[`ov_gather/native/`](https://host/blob/main/ov_gather/native)" in (tmp_path / "b" / page).read_text()
    assert "](../custom_layer/index.md)" in (tmp_path / "a" / page).read_text()


@pytest.mark.slow
@pytest.mark.openvino
@pytest.mark.skipif(not importlib.util.find_spec("furo"), reason='needs pip install ".[docs]"')
def test_the_site_is_built_without_a_warning(tmp_path):
    command = [sys.executable, ROOT / "tests" / "tools" / "docs_site" / "build.py", tmp_path / "site"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "site" / "howto" / "prove.html").read_text()
    assert 'href="../reference/rules/OVG603.html"' in page
    assert 'href="../reference/commands/harden.html"' in page
    assert not re.search(r'(src|href)="(https?:)?//[^"]*\.(js|css|woff2?)', page), "nothing is fetched from elsewhere"
