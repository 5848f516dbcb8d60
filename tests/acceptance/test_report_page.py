"""The page of `ov-gather check`, opened from a file in Chromium, as a reviewer sees it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

import ov_gather
from helpers.artificial_report import EXPECTED, FAILED, GOOD, everything, hostile, report
from ov_gather.report.check import html as check_html
from ov_gather.report.check.report import CheckReport

pytestmark = pytest.mark.slow

CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("there is no chromium on the PATH (Debian: apt-get install chromium)", allow_module_level=True)

from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402 - only where there is a chromium

# The lowest contrast, by the formula of WCAG 2, of elements that have text of their own against what lies behind them.
LOWEST_CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const numbers = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (rgb) => {
    const linear = (channel) => channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = rgb.slice(0, 3).map((channel) => linear(channel / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const colour = numbers(getComputedStyle(element).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    throw new Error("nothing opaque behind");
  };
  const contrast = (element) => {
    const [a, b] = [luminance(numbers(getComputedStyle(element).color)), luminance(behind(element))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  document.querySelectorAll("details").forEach((details) => (details.open = true));
  const texts = [...document.querySelectorAll("main *")].filter(
    (element) => element.checkVisibility() && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()),
  );
  const lowest = texts.reduce((a, b) => (contrast(a) < contrast(b) ? a : b));
  return [contrast(lowest), lowest.className + ": " + lowest.textContent.slice(0, 40), texts.length];
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


@pytest.fixture
def opened(browser, tmp_path):
    """Open a report; afterwards there must have been no other request, and no word on the console."""

    @contextmanager
    def open_page(of: CheckReport, **options) -> Iterator[Page]:
        file = tmp_path / "report.html"
        file.write_text(check_html.render(of), encoding="utf-8")
        with browser.new_context(**options) as context:
            page = context.new_page()
            requests, complaints = [], []
            page.on("request", lambda request: requests.append(request.url))
            page.on("console", lambda message: complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(file.as_uri())
            yield page
            assert requests == [file.as_uri()]
            assert complaints == []

    return open_page


def layers(page: Page) -> list[str]:
    return page.locator("details.layer:visible h4").all_inner_texts()


@pytest.mark.parametrize("javascript", [True, False])
def test_a_failure_is_shown_with_or_without_script(opened, javascript):
    with opened(everything(), java_script_enabled=javascript) as page:
        expect(page.locator("h1")).to_have_text("✗ Failed")
        expect(page.locator(".lead")).to_contain_text("2 of 4 layers failed")
        assert [layer.split()[0] for layer in layers(page)] == ["/attention/pick", "huge", "tokens", "rows"], "worst first"
        failure = page.locator(".failure").first
        expect(failure).to_be_visible()
        expect(failure).to_contain_text("output[1, 17]")
        expect(failure.locator("dd", has_text="-0.25")).to_be_visible()
        expect(failure.locator("dd", has_text="8.5")).to_be_visible()
        expect(failure.get_by_role("img", name="in 32 of 96 fields")).to_be_visible()
        expect(failure.locator(".replay")).to_be_visible()
        expect(page.get_by_text("inputs of 412 GiB do not fit")).to_be_visible()
        expect(page.locator("form")).to_be_visible(visible=javascript)
        closed = page.locator("details", has_text="Gather-8").last
        expect(closed.locator("table").last).to_be_hidden()
        closed.locator("summary").click()
        expect(closed.locator("table").last).to_be_visible()


def test_cells_lead_to_failures_and_divergences_and_these_to_closed_layers(opened):
    with opened(everything()) as page:
        page.get_by_role("link", name="failed").first.click()
        expect(page.locator(":target h5")).to_contain_text("negative, bits")
        page.locator(".divergences a").first.click()
        expect(page.locator("details[open]:has(:target) h4")).to_contain_text("tokens")
        expect(page.locator(":target")).to_be_visible()
        page.get_by_role("link", name="narrowed-to-32-bits").click()
        expect(page.locator(":target")).to_have_text("narrowed-to-32-bits")


def many() -> CheckReport:
    """Many layers: so many that the page makes their rows when they are opened. One of them failed."""
    return report(*[replace(GOOD, layer=f"rows {i}") for i in range(200)], FAILED, EXPECTED)


def test_rows_of_many_layers_are_made_when_a_layer_is_opened(opened):
    with opened(many()) as page:
        failed = page.locator("details.layer").first
        expect(failed.locator("tbody tr")).to_have_count(5)  # two bars of times, three cases
        last = page.locator("details.layer", has_text="rows 199")
        expect(last.locator("table")).to_have_count(0)
        for _ in range(3):  # however often the layer is opened, the rows are there once
            last.locator("summary").click()
        expect(last.get_by_role("row").filter(has_text="random")).to_have_count(1)
        expect(last.locator(".about")).to_contain_text("axis 0")
        page.locator(".divergences a").first.click()
        expect(page.locator("details[open]:has(:target) h4")).to_contain_text("tokens")
        expect(page.locator("details[open]:has(:target) td", has_text="narrowed-to-32-bits")).to_be_visible()


def test_without_a_script_many_layers_say_that_their_rows_need_one(opened):
    with opened(many(), java_script_enabled=False) as page:
        expect(page.get_by_text("The cases of a closed layer are shown by a script")).to_be_visible()
        expect(page.locator(".failure").first).to_be_visible()
        expect(page.locator("details.layer").first.locator("table").last).to_be_visible()


def test_filters(opened):
    with opened(everything()) as page:
        text, outcome, runtime = (page.locator(f"[name={field}]") for field in ("text", "outcome", "runtime"))
        count = page.locator("output")
        expect(count).to_have_text("4 of 4 shown")
        text.fill("GATHER-8")
        assert [layer.split()[0] for layer in layers(page)] == ["huge", "rows"]
        expect(count).to_have_text("2 of 4 shown")
        text.fill("")
        outcome.select_option("something failed")
        assert [layer.split()[0] for layer in layers(page)] == ["/attention/pick", "huge"]
        runtime.select_option("openvino")
        assert [layer.split()[0] for layer in layers(page)] == ["/attention/pick"]
        runtime.select_option("extension")
        assert layers(page) == []
        expect(page.locator(".group:visible")).to_have_count(0)
        outcome.select_option("something not applicable")
        assert [layer.split()[0] for layer in layers(page)] == ["tokens"]
        runtime.select_option("any runtime")
        outcome.select_option("passed throughout")
        assert [layer.split()[0] for layer in layers(page)] == ["rows"]
        outcome.select_option("a known divergence")
        assert [layer.split()[0] for layer in layers(page)] == ["tokens"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("of", [everything(), report(GOOD, EXPECTED)], ids=["failed", "passed"])
def test_text_stands_out(opened, scheme, of):
    with opened(of, color_scheme=scheme) as page:
        lightness = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)")
        assert (min(lightness) > 200) if scheme == "light" else (max(lightness) < 50)
        contrast, where, texts = page.evaluate(LOWEST_CONTRAST)
        assert texts > 40
        assert contrast >= 4.5, where


@pytest.mark.parametrize("of", [everything(), report(FAILED), hostile("W" * 400)], ids=["everything", "failed", "long names"])
def test_on_a_phone_only_tables_scroll(opened, of):
    with opened(of, viewport={"width": 375, "height": 700}) as page:
        page.locator("details").evaluate_all("all => all.forEach((details) => (details.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") == 375
        assert page.locator(".layer .scroll").first.evaluate("element => element.scrollWidth > element.clientWidth")


def test_hostile_names_stay_text(opened):
    evil = """</title></style></script><script>document.title = 1</script><img src=x onerror="document.title = 1">' "><a>"""
    with opened(hostile(evil)) as page:
        assert page.title() == "ov-gather check: failed"
        assert page.locator("img, main script").count() == 0
        expect(page.locator("h4")).to_contain_text(evil)


def test_its_policy_runs_no_other_script(browser, tmp_path):
    """A script that gets into the page is not executed."""
    file = tmp_path / "report.html"
    text = check_html.render(everything())
    file.write_text(text.replace("</main>", "<script>document.title = 1</script></main>"), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    assert page.title() == "ov-gather check: failed"
    page.close()


def test_of_what_runtimes_really_do(opened, copied, tmp_path):
    """The page shows a divergence that OpenVINO really has, and a difference planted in the expected outputs of a layer."""
    path = copied("divergent/negative-indices/onnx_page_3")
    (tmp_path / "onnx_page_3.expected.json").write_text('{"gather": [[7, 5, 3], [4, 99, 3]]}')
    result = ov_gather.cross_check(path)
    with opened(CheckReport([result])) as page:
        expect(page.locator("h1")).to_have_text("✗ Failed")
        failure = page.locator(".failure").first
        for words in ("expected output", "output[1, 1]", "99", "2.0", "1 of 6 (16.7%)"):
            expect(failure).to_contain_text(words)
        expect(failure.get_by_role("img", name="in 1 of 6 fields")).to_be_visible()
        expect(page.get_by_role("link", name="negative-indices").first).to_be_visible()
        assert page.locator(".times th").all_inner_texts() == ["kernel", "openvino"]
        expect(page.locator(".facts").last).to_contain_text(result.environment.versions["openvino"])
