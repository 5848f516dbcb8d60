"""The page of `ov-gather check`, opened from a file in Chromium, as a reviewer sees it."""

from dataclasses import replace

import pytest

import ov_gather
from helpers.artificial_report import DIFFERENCE, EXPECTED, FAILED, GOOD, everything, report
from ov_gather.report.check.html import render
from ov_gather.report.check.report import CheckReport


def layers(page) -> list[str]:
    return page.locator("details.card:visible h4").all_inner_texts()


@pytest.mark.parametrize("javascript", [True, False])
def test_a_failure_is_shown_with_or_without_script(opened, expect, javascript):
    with opened(render(everything()), java_script_enabled=javascript) as page:
        expect(page.locator("h1")).to_have_text("✗ Failed")
        expect(page.locator(".lead")).to_contain_text(
            "1 of 4 layers gave another result than the reference; 1 of 4 layers could not be executed"
        )
        assert [layer.split()[0] for layer in layers(page)] == ["/attention/pick", "huge", "tokens", "rows"], "worst first"
        failure = page.locator(".failure").first
        expect(failure).to_be_visible()
        expect(failure).to_contain_text("output[1, 17]")
        expect(failure.locator("dd", has_text="-0.25")).to_be_visible()
        expect(failure.locator("dd", has_text="8.5")).to_be_visible()
        expect(failure.get_by_role("img", name="in 32 of 96 fields")).to_be_visible()
        expect(failure.locator(".replay")).to_be_visible()
        expect(page.locator("summary", has_text="inputs of 412 GiB do not fit")).to_be_visible()
        expect(page.locator("form")).to_be_visible(visible=javascript)
        closed = page.locator("details", has_text="Gather-8").last
        expect(closed.locator("table").last).to_be_hidden()
        closed.locator("summary").click()
        expect(closed.locator("table").last).to_be_visible()


def test_cells_lead_to_failures_and_divergences_and_these_to_closed_layers(opened, expect):
    with opened(render(everything())) as page:
        page.get_by_role("link", name="failed").first.click()
        expect(page.locator(":target h5")).to_contain_text("negative, bits")
        page.locator(".divergences a[href^='#']").first.click()
        expect(page.locator("details[open]:has(:target) h4")).to_contain_text("tokens")
        expect(page.locator(":target")).to_be_visible()
        page.get_by_role("link", name="narrowed-to-32-bits").click()
        expect(page.locator(":target")).to_have_text("narrowed-to-32-bits")


def many() -> CheckReport:
    """Many layers: so many that the page packs those that are closed. One of them failed."""
    return report(*[replace(GOOD, layer=f"rows {i}") for i in range(200)], FAILED, EXPECTED)


def test_rows_of_many_layers_are_made_when_a_layer_is_opened(opened, expect):
    with opened(render(many())) as page:
        failed = page.locator("details.card").first
        expect(failed.locator("tbody tr")).to_have_count(6)  # a bar of times, two of differences, three cases
        last = page.locator("details.card", has_text="rows 199")
        expect(last.locator("table")).to_have_count(0)
        for _ in range(3):  # however often the layer is opened, the rows are there once
            last.locator("summary").click()
        expect(last.get_by_role("row").filter(has_text="random")).to_have_count(1)
        expect(last.locator(".about")).to_contain_text("axis 0")
        page.locator(".divergences a[href^='#']").first.click()
        expect(page.locator("details[open]:has(:target) h4")).to_contain_text("tokens")
        expect(page.locator("details[open]:has(:target) td", has_text="narrowed-to-32-bits")).to_be_visible()


def test_without_a_script_many_layers_say_that_their_rows_need_one(opened, expect):
    with opened(render(many()), java_script_enabled=False) as page:
        expect(page.get_by_text("What closed entries hold is shown by a script")).to_be_visible()
        expect(page.locator(".failure").first).to_be_visible()
        expect(page.locator("details.card").first.locator("table").last).to_be_visible()


def test_filters(opened, expect):
    with opened(render(everything())) as page:
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


def test_filters_by_divergence_file_and_operation_stay_in_the_address(opened, expect):
    with opened(render(everything()), "?key=kept") as page:
        page.locator("[name=divergence]").select_option("narrowed-to-32-bits")
        assert [layer.split()[0] for layer in layers(page)] == ["tokens"]
        expect(page.locator(".overview tbody tr:visible")).to_have_count(1)
        runtime = page.locator("[name=runtime]")
        runtime.select_option("extension")
        assert layers(page) == [], "only openvino shows this divergence"
        runtime.select_option("openvino")
        assert [layer.split()[0] for layer in layers(page)] == ["tokens"]
        assert page.url.endswith("?key=kept&divergence=narrowed-to-32-bits&runtime=openvino")
        page.reload()
        assert [layer.split()[0] for layer in layers(page)] == ["tokens"]
        for name in ("divergence", "runtime"):
            page.locator(f"[name={name}]").select_option("")
        assert page.url.endswith("?key=kept")
        page.locator("[name=file]").select_option("models/b.xml")
        assert [layer.split()[0] for layer in layers(page)] == ["huge", "rows"]
        page.locator("[name=file]").select_option("")
        page.locator("[name=operation]").select_option("GatherND-8")
        assert [layer.split()[0] for layer in layers(page)] == ["tokens"]


def test_an_address_with_unknown_values_shows_everything(opened, expect):
    with opened(render(everything()), "?file=nosuch.xml&outcome=%3Cscript%3E") as page:
        expect(page.locator("output")).to_have_text("4 of 4 shown")


def test_the_overview_leads_to_layers_that_a_filter_hides_too(opened, expect):
    with opened(render(many())) as page:
        grid = page.locator(".overview")
        assert grid.locator("thead th").all_inner_texts() == ["layer", "kernel", "openvino", "extension", "file", "why"]
        assert grid.locator("tr", has_text="tokens").locator("td").all_inner_texts() == [
            "✓ 1",
            "≈ 1",
            "– 1",
            "models/a.xml",
            "",
        ]
        assert (
            grid.locator("tr", has_text="pick")
            .locator("td")
            .all_inner_texts()[-1]
            .startswith("kernel, negative, bits: output[1,")
        )
        grid.get_by_role("link", name="rows 199").click()
        expect(page.locator("details[open] h4", has_text="rows 199")).to_be_in_viewport()
        page.locator("[name=outcome]").select_option("something failed")
        expect(page.locator("details.card:visible")).to_have_count(1)
        page.locator(".divergences a[href^='#']").first.click()
        expect(page.locator("details[open]:has(:target) h4")).to_contain_text("tokens")
        expect(page.locator("details[open]:has(:target)")).to_be_in_viewport()


def test_a_link_to_a_failure_that_is_packed_shows_it(opened, expect):
    with opened(render(report(*[replace(FAILED, layer=f"pick {i}") for i in range(120)])), "#failure-119-1") as page:
        expect(page.locator("details[open]:has(:target) h4")).to_contain_text("pick 119")
        expect(page.locator(":target")).to_be_in_viewport()
        expect(page.locator(":target pre")).to_contain_text("SIGSEGV")


@pytest.mark.parametrize("of", [everything(), many()], ids=["few", "many"])
def test_all_that_a_filter_shows_is_opened_and_closed(opened, expect, of):
    with opened(render(of)) as page:
        page.locator("[name=text]").fill("rows")
        count = page.locator("details.card:visible").count()
        button = page.get_by_role("button")
        button.click()
        expect(button).to_have_text("Collapse all")
        expect(page.locator("details[open]:visible tbody tr").filter(has_text="random")).to_have_count(count)
        button.click()
        expect(page.locator("details[open]:visible")).to_have_count(0)
        expect(button).to_have_text("Expand all")


def test_a_thousand_layers_are_a_small_page(opened, expect):
    """Size and number of elements are what the time to open it depends on."""
    noise = tuple(tuple((x * y % 7) / 7 for x in range(32)) for y in range(16))
    bad = replace(FAILED.cases[1].comparisons[0], difference=replace(DIFFERENCE, picture=noise))
    case = replace(FAILED.cases[1], comparisons=tuple(replace(bad, runtime=name) for name in ("kernel", "openvino", "a", "b")))
    failing = [replace(FAILED, layer=f"/model/layers.{i}/attention/pick", cases=(case,) * 16) for i in range(500)]
    others = [replace(EXPECTED, path=f"models/{i % 50}.xml", layer=f"tokens {i}") for i in range(500)]
    text = render(report(*failing, *others))
    assert len(text.encode()) < 2e6
    with opened(text) as page:
        expect(page.locator("output")).to_have_text("1000 of 1000 shown")
        assert page.evaluate("document.querySelectorAll('*').length") < 40_000


def test_the_headline_leads_to_what_failed(opened, expect):
    """From the sentence at the top to errors, a layer with another result, and one that was not executed."""
    with opened(render(everything())) as page:
        links = page.locator(".lead a")
        assert links.all_inner_texts() == ["1 error", "1 of 4 layers", "1 of 4 layers"]
        links.nth(0).click()
        expect(page.locator(":target")).to_contain_text("axis=3 is out of range")
        links.nth(2).click()
        expect(page.locator("details[open]:has(:target) summary .reason")).to_have_text(
            "inputs of 412 GiB do not fit into memory"
        )
        expect(page.locator("details[open]:has(:target)")).to_be_in_viewport()


def test_of_what_runtimes_really_do(opened, expect, copied, tmp_path):
    """The page shows a divergence that OpenVINO really has, and a difference planted in the expected outputs of a layer."""
    path = copied("divergent/negative-indices/onnx_page_3")
    (tmp_path / "onnx_page_3.expected.json").write_text('{"gather": [[7, 5, 3], [4, 99, 3]]}')
    result = ov_gather.cross_check(path)
    with opened(render(CheckReport([result]))) as page:
        expect(page.locator("h1")).to_have_text("✗ Failed")
        failure = page.locator(".failure").first
        for words in ("expected output", "output[1, 1]", "99", "2.0", "1 of 6 (16.7%)"):
            expect(failure).to_contain_text(words)
        expect(failure.get_by_role("img", name="in 1 of 6 fields")).to_be_visible()
        expect(page.get_by_role("img", name="indices of GatherElements 'gather' comes from Const 'indices'")).to_be_visible()
        expect(page.get_by_role("link", name="negative-indices").first).to_be_visible()
        headers = page.locator("details thead th").all_inner_texts()
        assert headers == ["case", "kernel", "openvino", "expected output", "threads", "shapes"]
        expect(page.locator(".facts").last).to_contain_text(result.environment.versions["openvino"])
