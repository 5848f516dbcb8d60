"""What holds for the page of every command: on a phone, in the dark, on paper, by screen readers, for attackers."""

import pytest

from helpers.artificial_report import EXPECTED, FAILED, GOOD, bisection, everything, hostile, proofs, report
from helpers.pages import AXE, LOWEST_CONTRAST, SERIOUS
from ov_gather.report.bisect import html as bisect_html
from ov_gather.report.check import html as check_html
from ov_gather.report.proofs import html as proofs_html
from ov_gather.report.proofs.report import ProofReport, ProvedFile

PAGES = {
    "check": lambda: check_html.render(everything()),
    "check that passed": lambda: check_html.render(report(GOOD, EXPECTED)),
    "check of one layer": lambda: check_html.render(report(FAILED)),
    "bisect": lambda: bisect_html.render(bisection()),
    "prove": lambda: proofs_html.render(proofs()),
}
HOSTILE = {
    "check": lambda text: check_html.render(hostile(text)),
    "bisect": lambda text: bisect_html.render(bisection(text)),
    "prove": lambda text: proofs_html.render(proofs(text)),
}
EVIL = """</title></style></script><script>document.title = 1</script><img src=x onerror="document.title = 1">' "><a>"""
LONG = "W" * 400

AREAS = """areas => areas.map((area) => [
  area.scrollWidth > area.clientWidth, getComputedStyle(area, "::before").content.includes("scroll sideways")
])"""
"""Of each area that may scroll: whether it is wider than what is seen, and whether it says so."""
OPEN_ALL = "all => all.forEach((details) => (details.open = true))"
DARK = "getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)"


@pytest.mark.sampled(5)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_text_stands_out(opened, name, scheme):
    with opened(PAGES[name](), color_scheme=scheme) as page:
        lightness = page.evaluate(DARK)
        assert (min(lightness) > 200) if scheme == "light" else (max(lightness) < 50)
        contrast, where, texts = page.evaluate(LOWEST_CONTRAST)
        assert texts > 25
        assert contrast >= 4.5, where


@pytest.mark.skipif(not AXE.is_file(), reason="there is no axe-core; AXE_CORE names its script, or it is in node_modules")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(opened, name, scheme):
    with opened(PAGES[name](), color_scheme=scheme) as page:
        page.locator("details").evaluate_all(OPEN_ALL)
        page.evaluate(AXE.read_text())
        assert page.evaluate(SERIOUS) == []


@pytest.mark.sampled(4)
@pytest.mark.parametrize("make", [*PAGES.values(), *(lambda of=of: of(LONG) for of in HOSTILE.values())])
def test_on_a_phone_only_tables_and_graphs_scroll(opened, make):
    with opened(make(), viewport={"width": 375, "height": 700}) as page:
        page.locator("details").evaluate_all(OPEN_ALL)
        assert page.evaluate("document.documentElement.scrollWidth") == 375
        areas = page.locator(".scroll").evaluate_all(AREAS)
        assert all(is_wide == has_hint for is_wide, has_hint in areas)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PAGES)
def test_on_paper_it_is_light_and_nothing_is_cut_off(opened, name):
    with opened(PAGES[name](), color_scheme="dark") as page:
        page.locator("details").evaluate_all(OPEN_ALL)
        page.emulate_media(media="print")
        assert min(page.evaluate(DARK)) > 200
        cut = "all => all.filter((e) => e.scrollHeight > e.clientHeight + 1).length"
        assert page.locator(".scroll").evaluate_all(cut) == 0
        assert page.locator("form:visible, button:visible").count() == 0
        assert page.pdf().startswith(b"%PDF")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PAGES)
def test_words_are_not_broken_in_tables(opened, name):
    """The least width of a column is that of its longest word."""
    with opened(PAGES[name](), viewport={"width": 375, "height": 700}) as page:
        page.locator("details").evaluate_all(OPEN_ALL)
        heads = page.locator("table th[scope=col]:visible")
        lines = "all => all.filter((e) => e.getClientRects().length && e.clientHeight > 40).map((e) => e.textContent)"
        assert heads.evaluate_all(lines) == []


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(opened, expect, name):
    with opened(HOSTILE[name](EVIL)) as page:
        assert page.title().startswith("ov-gather ")
        assert page.locator("img, main script, main style").count() == 0
        expect(page.locator("main")).to_contain_text(EVIL)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PAGES)
def test_its_policy_runs_no_other_script(browser, tmp_path, name):
    """A script that gets into the page is not executed."""
    file = tmp_path / "page.html"
    file.write_text(PAGES[name]().replace("</main>", "<script>document.title = 1</script></main>"), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    assert page.title().startswith("ov-gather ")
    page.close()


FOCUSED = """() => {
  const { activeElement: element } = document;
  const style = getComputedStyle(element);
  return [`${element.tagName} ${element.name ?? element.className}`.trim().toLowerCase(), style.outlineStyle];
}"""


def test_the_keyboard_reaches_everything_and_shows_where_it_is(opened, expect):
    with opened(check_html.render(report(GOOD, FAILED))) as page:
        places = []
        while not places or places[-1][0] != "body":
            page.keyboard.press("Tab")
            places.append(page.evaluate(FOCUSED))
            assert len(places) < 100
        reached = [place for place, _ in places]
        wanted = [
            "a",
            "input text",
            "select outcome",
            "select runtime",
            "button",
            "div scroll overview",
            "summary",
            "div scroll",
        ]
        assert [place for place in dict.fromkeys(reached) if place in wanted] == wanted
        assert {outline for place, outline in places[:-1]} == {"solid"}
        last = page.locator("summary").last
        last.focus()
        page.keyboard.press("Enter")
        expect(page.locator("details").last).to_have_attribute("open", "")


def test_filters_of_proofs(opened, expect):
    with opened(PAGES["prove"](), "?status=conditional") as page:
        shown = page.locator("details.card:visible h4")
        assert shown.all_inner_texts() == ["look_up GatherND"]
        page.locator("[name=status]").select_option("")
        page.locator("[name=operation]").select_option("Gather")
        assert shown.all_inner_texts() == ["look_up Gather"] * 3
        expect(page.locator("output")).to_have_text("3 of 4 shown")


def test_proofs_end_with_commands_to_copy(opened, expect):
    with opened(PAGES["prove"]()) as page:
        expect(page.locator("h2").last).to_have_text("What to do next")
        commands = ["ov-gather prove models/a.xml --guard guard.py", "ov-gather harden models/a.xml --policy raise"]
        assert page.locator("section").last.locator("pre.replay").all_inner_texts() == commands
        page.locator(".lead a", has_text="1 conditional").click()
        expect(page.locator("details[open]:has(:target) h4")).to_have_text("look_up GatherND")


def test_a_thousand_proofs_are_a_small_page(opened, expect):
    (first, *_) = proofs().files
    text = proofs_html.render(ProofReport([ProvedFile(f"models/{i}.xml", first.proofs) for i in range(250)]))
    assert len(text.encode()) < 2e6
    with opened(text, "#card-999") as page:
        expect(page.locator("output")).to_have_text("1000 of 1000 shown")
        expect(page.locator("details[open]:has(:target) svg.graph")).to_be_in_viewport()
