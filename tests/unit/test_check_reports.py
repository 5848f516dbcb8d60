"""The reports of `ov-gather check`: what they say, and that no name can make them say something else."""

import json
import re
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from lxml import etree, html

import ov_gather
from helpers.artificial_report import (
    DIFFERENCE,
    EXPECTED,
    FAILED,
    FINDINGS,
    GOOD,
    OUTPUTS,
    REPLAY,
    SHAPES,
    UNTRIED,
    everything,
    hostile,
    report,
    whole,
)
from ov_gather.crosscheck.deviation import Deviation
from ov_gather.crosscheck.results import CaseResult, Comparison, CrossCheckResult, OutputResult, Status
from ov_gather.divergences.base import address
from ov_gather.divergences.register import DIVERGENCES
from ov_gather.report.check import html as check_html
from ov_gather.report.check import json as check_json
from ov_gather.report.check import junit as check_junit
from ov_gather.report.check.report import CheckReport
from ov_gather.report.check.text import summary

EVIL = "".join(map(chr, range(0x100)))
EVIL += "</style></script><script>alert(1)</script><!--]]></failure>\udcff\u202e\ufffe\U0001f600"


class Page:
    """Tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        page = html.document_fromstring(text)
        elements = [*page.iter(etree.Element)]
        self.tags = Counter(element.tag for element in elements)
        self.attributes = [pair for element in elements for pair in element.items()]
        self.text = page.text_content()

    def values(self, name: str) -> set[str]:
        return {value for key, value in self.attributes if key == name}


def test_the_verdict_takes_in_layers_and_findings():
    assert report(GOOD, EXPECTED, findings=FINDINGS[1:]).passed
    assert not report(GOOD, findings=FINDINGS).passed
    assert not report(GOOD, findings=tuple(ov_gather.validate("there/is/no.xml"))).passed
    assert not report(GOOD, UNTRIED).passed
    assert not report().passed
    assert not CheckReport([]).passed


def test_an_output_of_a_whole_model_that_differs_fails_in_every_format():
    assert whole(OUTPUTS[0]).passed
    differs = whole(*OUTPUTS)
    assert not differs.passed
    document = json.loads(check_json.render(differs))
    assert [(output["path"], output["name"], output["comparison"]["status"]) for output in document["outputs"]] == [
        ("models/b.xml", "logits", "passed"),
        ("models/b.xml", "boxes", "failed"),
    ]
    cases = ElementTree.fromstring(check_junit.render(differs))[1]
    assert [case.get("name") for case in cases if case.find("failure") is not None] == ["output 'boxes'"]
    text = Page(check_html.render(differs)).text
    assert str(DIFFERENCE) in text
    assert "1 of 2 outputs of whole models failed" in text


def test_what_was_not_run_whole_is_said():
    only_layers = whole(not_run="MatMul refuses")
    assert only_layers.passed
    assert json.loads(check_json.render(only_layers))["not_run"] == {"models/b.xml": "MatMul refuses"}
    assert "models/b.xml: not run as a whole: MatMul refuses" in Page(check_html.render(only_layers)).text
    assert "whole models: 1, outputs: 0, passed: 0, failed: 0, not run: 1" in summary(only_layers.results)


def test_a_model_that_fails_as_a_whole_is_a_model_and_no_layer():
    lost, problem = "i64 is computed as i32: input 'i'", "openvino does not execute the result: no kernel"
    result = CrossCheckResult((GOOD,), 2026, original="models/a.onnx", problem=problem, inexactness=(lost,))
    failed = CheckReport(
        [result, CrossCheckResult((GOOD,), 2026)], (), "ov-gather check 'a b.onnx'", "2026-07-01 12:00:00+02:00"
    )
    assert not failed.passed
    document = json.loads(check_json.render(failed))
    assert (document["passed"], document["problems"], len(document["layers"])) == (False, {"models/a.onnx": problem}, 2)
    cases = ElementTree.fromstring(check_junit.render(failed))[1]
    assert [(case.get("name"), case.get("file")) for case in cases if case.find("failure") is not None] == [
        ("the whole model", "models/a.onnx")
    ]
    text = Page(check_html.render(failed)).text
    assert f"1 of 2 models failed as a whole: {problem}. There were 2 cases and 4 comparisons with the reference." in text
    assert f"models/a.onnx: {problem}" in text
    assert f"models/a.onnx: not as ONNX says: {lost}" in text
    assert all(part in text for part in (failed.command, failed.date))


def test_a_model_without_a_gather_passes_with_its_outputs():
    right, wrong = (CheckReport([CrossCheckResult((), 2026, outputs=(output,), original="a.onnx")]) for output in OUTPUTS)
    assert (right.passed, wrong.passed) == (True, False)
    assert "Passed" in Page(check_html.render(right)).text
    assert "a.onnx" in check_json.render(right)


@pytest.mark.parametrize("original", ["", "a.onnx"])
def test_what_a_result_needs_to_pass(original):
    """An IR passes only if a layer was compared, an ONNX model only if an output was, and nothing may have failed."""

    def result(layers=(GOOD,), outputs=OUTPUTS[:1], **more):
        return CrossCheckResult(layers, 2026, outputs=outputs, original=original, **more)

    assert result().passed
    assert result(outputs=()).passed == (not original)
    assert result(layers=()).passed == bool(original)
    assert not result(layers=(), outputs=()).passed
    assert not result(layers=(GOOD, FAILED)).passed
    assert not result(outputs=OUTPUTS).passed
    assert not result(problem="openvino does not execute the result").passed


def test_a_result_has_a_table_and_names_the_divergences_of_layers_and_outputs():
    near = OutputResult("where", "int64", (3,), Comparison("openvino", Status.EXPECTED, "they differ", ("near-ties",)))
    of_ir, of_onnx = (CrossCheckResult((GOOD, EXPECTED), 2026, outputs=(near,), original=path) for path in ("", "a.onnx"))
    assert of_ir.divergences == of_onnx.divergences == ("narrowed-to-32-bits", "no-strings", "near-ties")
    assert [column.header for column in of_ir.table().columns][:2] == ["layer", "cases"]
    assert [column.header for column in of_onnx.table().columns] == ["output or gather", "shapes", "result"]
    assert (of_ir.path, of_onnx.path) == ("models/b.xml", "a.onnx")


def test_json():
    document = json.loads(check_json.render(everything()))
    assert document["passed"] is False
    assert document["counts"] == {"passed": 7, "expected": 1, "not applicable": 1, "failed": 2}
    assert [layer["outcome"] for layer in document["layers"]] == ["passed", "failed", "expected", "failed"]
    assert [layer["problem"] for layer in document["layers"]] == ["", "", "", UNTRIED.problem]
    case = document["layers"][1]["cases"][1]
    assert (case["name"], case["shapes"], case["threads"], case["replay"]) == ("negative, bits", [[3, 40], [3, 40]], 2, REPLAY)
    assert case["comparisons"][0] == {
        "runtime": "kernel",
        "status": "failed",
        "detail": "output[1, 17]: expected -0.25, here 8.5; 40 of 120 differ",
        "divergences": [],
        "difference": {
            "position": [1, 17],
            "expected": "-0.25",
            "found": "8.5",
            "count": 40,
            "size": 120,
            "histogram": [["1e-1 to 1e+0", 10], ["1e+0 to 1e+1", 30]],
        },
        "seconds": 1e-4,
        "stale": [],
        "deviation": None,
        "tolerance": None,
    }
    assert set(document["divergences"]) == {"narrowed-to-32-bits", "no-strings"}
    assert "64-bit" in document["divergences"]["narrowed-to-32-bits"]
    assert [finding["rule"] for finding in document["findings"]] == ["OVG204", "OVG701"]
    assert (document["seed"], document["environment"]["versions"]) == (2026, {"openvino": "2026.4.1"})


def test_junit():
    root = ElementTree.fromstring(check_junit.render(everything()))
    validation, layers = root
    assert (root.get("tests"), root.get("failures")) == ("6", "3")
    assert (validation.get("name"), validation.get("tests"), validation.get("failures")) == ("ov-gather validate", "2", "1")
    assert (layers.get("name"), layers.get("tests"), layers.get("failures")) == ("ov-gather check", "4", "2")
    good, failed, expected, untried = layers
    assert (good.get("classname"), good.get("name")) == ("models/b.xml", "Gather-8 'rows'")
    assert (good.get("time"), len(good)) == ("0.000500", 0)
    first, again, second = failed.find("failure").text.splitlines()
    assert failed.find("failure").get("message") == first
    assert first.endswith(f"case 'negative, bits' of [3, 40], [3, 40]: kernel: FAILED ({DIFFERENCE})")
    assert again.endswith(REPLAY)
    assert second.endswith("openvino: FAILED (crashes: SIGSEGV\\nno output)")
    assert expected.find("failure") is None
    assert expected.find("system-out").text.splitlines() == [
        "openvino: expected: narrowed-to-32-bits, 1 times",
        "extension: not applicable: no-strings, 1 times",
    ]
    assert untried.find("failure").get("message").endswith(UNTRIED.problem)


def test_html_says_what_was_tried_and_what_came_out():
    page = Page(check_html.render(everything()))
    assert (
        f"1 error found by the validation; 1 of 4 layers gave another result than the reference; "
        f"1 of 4 layers could not be executed: {UNTRIED.problem}. There were 5 cases and 11 comparisons with the reference."
    ) in page.text
    for words in ("output[1, 17]", "-0.25", "8.5", "40 of 120 (33.3%)", REPLAY, "crashes: SIGSEGV\nno output", UNTRIED.problem):
        assert words in page.text
    for words in ("[3, 40] [3, 40]", "A CPU of 2 GHz", "2026.4.1", "axis=3 is out of range", "models/a.xml:25"):
        assert words in page.text
    assert "Median of 1 call," in page.text, "not of the first with each number of threads"
    assert "for example: output[0]: expected 9007199254740993, here 1; 1 of 4 differ" in page.text


def test_html_shows_times_without_first_calls():
    """The model is loaded for the first case with a number of threads, which takes most of the time of all cases."""

    def case(threads, kernel, openvino):
        times = {"kernel": kernel, "openvino": openvino}
        return CaseResult("random", SHAPES, threads, tuple(Comparison(n, Status.PASSED, seconds=s) for n, s in times.items()))

    cases = (case(1, 59e-3, 1), case(1, 2e-3, 1e-3), case(2, 1, 1), case(2, 4e-3, 9e-3), case(2, 3e-3, 2e-3))
    page = html.document_fromstring(check_html.render(report(replace(GOOD, cases=cases))))
    (table,) = page.find_class("times")
    assert [row.text_content() for row in table.iter("tr")] == ["kernel3 ms", "openvino2 ms"]
    assert "Median of 3 calls" in table.text_content()


def test_html_shows_how_far_off_and_what_feeds_a_layer_that_failed():
    case = FAILED.cases[1]
    off = replace(case.comparisons[0], deviation=Deviation(120, 40, max_abs=8.75, max_rel=35.0))
    layer = replace(FAILED, cases=(replace(case, comparisons=(off,)),))
    page = html.document_fromstring(check_html.render(report(layer)))
    assert "max abs 8.75, max rel 35" in page.find_class("values")[0].text_content()
    (histogram,) = page.find_class("histogram")
    assert [row.text_content() for row in histogram.iter("tr")] == ["1e-1 to 1e+010", "1e+0 to 1e+130"]
    (graph,) = page.find_class("graph")
    assert graph.get("aria-label") == (
        "data of GatherElements '/attention/pick' comes from Parameter 'scores': FP32[3, 40]; "
        "indices of GatherElements '/attention/pick' comes from Subtract 'distance': I64[3, 40]; "
        "an operand of Subtract 'distance' comes from Const 'c2p_pos': [0, 1, 2]"
    )
    left = {node.find("text[2]").text: float(node.get("x")) for node in graph.find_class("node")}
    assert left["c2p_pos"] < left["distance"] == left["scores"] < left["/attention/pick"]


def test_html_of_a_check_that_passed_and_of_nothing():
    assert "All 2 layers passed, in 2 cases and 5 comparisons" in Page(check_html.render(report(GOOD, EXPECTED))).text
    assert "1 layer passed, in 1 case and 2 comparisons" in Page(check_html.render(report(GOOD))).text
    nothing = Page(check_html.render(CheckReport([]))).text
    assert "Failed" in nothing
    assert "There was no layer to check." in nothing


def test_html_counts_what_was_not_executed_and_shows_errors_first():
    """No comparison failed: that 11 layers have no result is counted, too."""
    none = "there is no case: its inputs have no valid value"
    page = Page(check_html.render(report(*[GOOD] * 62, *[replace(UNTRIED, problem=none)] * 11)))
    assert "11 of 73 layers could not be executed: its inputs have no valid value. There were 62 cases" in page.text
    assert re.search(r"failed\s*0.*layers without one\s*11", page.text, re.DOTALL)
    assert "#card-62" in page.values("href")
    assert _headings(everything())[:2] == ["Layers by outcome", "Comparisons"]
    assert _headings(everything())[2] == "Findings of the validation"
    assert _headings(report(GOOD, findings=FINDINGS[1:]))[-2:] == ["Findings of the validation", "Environment"]


def test_html_names_the_most_frequent_reasons_in_its_first_sentence():
    failed = [replace(UNTRIED, problem=f"not executed: axis={axis}") for axis in (9, 8, 7, 7, 6, 5)]
    page = Page(check_html.render(report(*failed)))
    assert (
        "2 of 6 layers could not be executed: axis=7; 1 of 6 layers could not be executed: axis=9; "
        "1 of 6 layers could not be executed: axis=8; 2 of 6 layers failed for other reasons. There were 0 cases"
    ) in page.text
    assert "#card-4" in page.values("href")


def _headings(of):
    return [heading.text for heading in html.document_fromstring(check_html.render(of)).iter("h2")]


def test_html_links_lead_somewhere_on_the_page():
    page = Page(check_html.render(everything()))
    targets = {f"#{name}" for name in page.values("id")}
    issues = {address(issue) for known in DIVERGENCES for issue in known.upstream}
    assert page.values("href") <= targets | issues
    assert address("openvinotoolkit/openvino#16499") in page.values("href")
    assert {"#divergence-narrowed-to-32-bits", "#failure-1-0", "#failure-1-1", "#card-2"} <= page.values("href")
    assert not page.values("src")


@pytest.mark.parametrize("render", [check_html.render, check_json.render, check_junit.render])
def test_hostile_text_stays_text(render):
    text = render(hostile(EVIL))
    text.encode()
    assert not {chr(code) for code in range(0x20)} - {"\n"} & set(text)
    if render is check_html.render:
        assert "<script>alert" not in text
        harmless = Page(render(hostile("harmless")))
        page = Page(text)
        assert page.tags == harmless.tags
        assert [name for name, _ in page.attributes] == [name for name, _ in harmless.attributes]
        assert "<script>alert(1)</script>" in page.text
        assert "\\u202e" in page.text
    elif render is check_json.render:
        assert json.loads(text)["layers"][0]["layer"] == EVIL
    else:
        ElementTree.fromstring(text)


@pytest.mark.exhaustive
@pytest.mark.parametrize("failing", [False, True])
def test_html_of_ten_thousand_cases_is_of_a_size_that_opens(failing):
    noise = tuple(tuple((x * y % 7) / 7 for x in range(32)) for y in range(16))
    bad = Comparison("", Status.FAILED, str(DIFFERENCE), (), replace(DIFFERENCE, picture=noise), 1e-4)
    one = bad if failing else Comparison("", Status.PASSED, seconds=1e-4)
    comparisons = tuple(replace(one, runtime=name) for name in ("kernel", "openvino", "extension", "onnxruntime"))
    case = CaseResult("random", GOOD.cases[0].shapes, 1, comparisons)
    page = check_html.render(report(*[replace(FAILED, cases=(case,) * 16)] * 625))
    assert len(page) < 2e6
    assert len(re.findall(r"<details[^>]* open", page)) == (10 if failing else 0)
    assert page.count('class="picture"') == (10 if failing else 0), "one for each layer that failed and is open"


def test_divergences_that_do_not_show_are_told_in_one_line():
    stale = (
        Comparison("openvino", Status.PASSED, stale=("quieted-nan", "saturated-to-32-bits")),
        Comparison("extension", Status.PASSED, stale=("quieted-nan",)),
    )
    layer = replace(GOOD, cases=(CaseResult("random", SHAPES, 1, stale), CaseResult("negative", SHAPES, 1, stale[:1])))
    (line,) = (line for line in summary(report(layer).ir_results) if line.startswith("out of date"))
    assert line.endswith("quieted-nan of openvino in 2, saturated-to-32-bits of openvino in 2, quieted-nan of extension in 1")


def test_a_release_that_is_not_known_is_said():
    known = report(GOOD).ir_results
    newer = [replace(known[0], environment=replace(known[0].environment, versions={"openvino": "2031.1.0"}))]
    assert not any("newer" in line for line in summary(known))
    assert any(line.startswith("OpenVINO 2031.1.0 is newer than 20") for line in summary(newer))
