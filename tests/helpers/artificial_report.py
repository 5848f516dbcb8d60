"""What a check might come to, with one of everything, for the tests of its reports."""

from dataclasses import replace

from ov_gather.crosscheck.bisect.results import BisectResult, ComparedOutput, ComparedValue, Culprit
from ov_gather.crosscheck.results import (
    CaseResult,
    Comparison,
    CrossCheckResult,
    Difference,
    Environment,
    LayerResult,
    OutputResult,
    Status,
)
from ov_gather.graph.excerpts import Excerpt, ExcerptEdge, ExcerptNode
from ov_gather.graph.symbols import InputDim
from ov_gather.ir.location import Location
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.symbols import Elements
from ov_gather.ranges.proof import Proof
from ov_gather.ranges.terms import Condition
from ov_gather.ranges.witness import Witness
from ov_gather.report.check.report import CheckReport
from ov_gather.report.proofs.report import ProofReport, ProvedFile
from ov_gather.rules.findings import Finding, Severity

SHAPES = ((3, 40), (3, 40))
MAGNITUDES = (("1e-1 to 1e+0", 10), ("1e+0 to 1e+1", 30))
DIFFERENCE = Difference((1, 17), "-0.25", "8.5", 40, 120, ((0.0,) * 32, (1.0,) * 32, (0.0,) * 32), MAGNITUDES)
REPLAY = "ov-gather run failed/layer.xml --input data=failed/data.npy"
NARROWED = Difference((0,), "9007199254740993", "1", 1, 4, ((1.0, 0.0, 0.0, 0.0),))
PASSED = tuple(Comparison(name, Status.PASSED, seconds=seconds) for name, seconds in (("kernel", 1e-4), ("openvino", 4e-4)))
CRASHED = Comparison("openvino", Status.FAILED, "crashes: SIGSEGV\nno output")

SURROUNDINGS = Excerpt(
    (
        ExcerptNode("GatherElements", "/attention/pick", "FP32[3, 40]", "failed"),
        ExcerptNode("Parameter", "scores", "FP32[3, 40]"),
        ExcerptNode("Subtract", "distance", "I64[3, 40]", "passed"),
        ExcerptNode("Const", "c2p_pos", "[0, 1, 2]"),
    ),
    (ExcerptEdge(1, 0, "data"), ExcerptEdge(2, 0, "indices"), ExcerptEdge(3, 2)),
)

FAILED = LayerResult(
    "models/a.xml",
    "/attention/pick",
    "GatherElements-6",
    {"data": "f32", "indices": "i64"},
    {"axis": "1"},
    "native",
    (
        CaseResult("random, small", SHAPES, 1, PASSED),
        CaseResult(
            "negative, bits",
            SHAPES,
            2,
            (Comparison("kernel", Status.FAILED, str(DIFFERENCE), (), DIFFERENCE, 1e-4), PASSED[1]),
            REPLAY,
        ),
        CaseResult("reversed, bits", SHAPES, 2, (PASSED[0], CRASHED)),
    ),
    surroundings=SURROUNDINGS,
)
EXPECTED = LayerResult(
    "models/a.xml",
    "tokens",
    "GatherND-8",
    {"data": "i64", "indices": "i32"},
    {"batch_dims": "0"},
    "native",
    (
        CaseResult(
            "random, bits",
            ((4,), (4, 1)),
            0,
            (
                PASSED[0],
                Comparison("openvino", Status.EXPECTED, str(NARROWED), ("narrowed-to-32-bits",), NARROWED, 1e-4),
                Comparison("extension", Status.NOT_APPLICABLE, divergences=("no-strings",)),
            ),
        ),
    ),
)
GOOD = LayerResult(
    "models/b.xml", "rows", "Gather-8", {"data": "u8"}, {"axis": "0"}, "native", (CaseResult("random", SHAPES, 1, PASSED),)
)
UNTRIED = LayerResult("models/b.xml", "huge", "Gather-8", problem="inputs of 412 GiB do not fit into memory")
ENVIRONMENT = Environment({"openvino": "2026.4.1"}, "A CPU of 2 GHz", 2, "Linux 6 x86_64", "3.12.1")
FINDINGS = (
    Finding("OVG204", Severity.ERROR, "axis=3 is out of range", "it may be -2 to 1", Location("models/a.xml", 25)),
    Finding("OVG701", Severity.WARNING, "indices hold -1", "", Location("models/b.xml", 7)),
)


OUTPUTS = (
    OutputResult("logits", "float32", (4, 3), PASSED[0]),
    OutputResult("boxes", "float32", (3, 40), Comparison("accelerated", Status.FAILED, str(DIFFERENCE), (), DIFFERENCE)),
)


def whole(*outputs: OutputResult, not_run: str = "") -> CheckReport:
    """A report of one whole model whose layer passed."""
    return CheckReport([CrossCheckResult((GOOD,), 2026, ENVIRONMENT, outputs, not_run)])


def report(*layers: LayerResult, findings: tuple[Finding, ...] = ()) -> CheckReport:
    """A report of one source with these layers."""
    return CheckReport([CrossCheckResult(layers, 2026, ENVIRONMENT)], findings)


def everything() -> CheckReport:
    """A report with each outcome, and findings."""
    return report(GOOD, FAILED, EXPECTED, UNTRIED, findings=FINDINGS)


def hostile(text: str) -> CheckReport:
    """A report with this text wherever a file, a document or a runtime may put any."""
    difference = replace(DIFFERENCE, expected=text, found=text)
    comparisons = (
        Comparison(text, Status.FAILED, text, (), difference),
        Comparison("openvino", Status.FAILED, text),
        Comparison("extension", Status.EXPECTED, text, (text,)),
    )
    cases = (CaseResult(text, SHAPES, 1, comparisons, text),)
    layer = LayerResult(text, text, text, {text: text}, {text: text}, text, cases, (text,), text, text, around(text))
    finding = Finding("OVG204", Severity.ERROR, text, text, Location(text, 1, 1, text, text, 0, (text,)))
    output = OutputResult(text, text, (1,), comparisons[0])
    environment = Environment({text: text}, text, 1, text, text)
    return CheckReport([CrossCheckResult((layer,), 1, environment, (output,), text)], [finding])


def around(text: str) -> Excerpt:
    """A graph with this text everywhere."""
    return Excerpt((ExcerptNode(text, text, text, "failed"), ExcerptNode(text, text, text)), (ExcerptEdge(1, 0, text),))


def bisection(text: str = "") -> BisectResult:
    """A bisection that found a node; with a text, it stands wherever a file or a document may put any."""
    given = ComparedValue(text or "a", text or "a", text or "float32[3, 40]", text or "name", text or "equal")
    difference = replace(DIFFERENCE, found=text) if text else DIFFERENCE
    output = ComparedValue(text or "c", text or "c", text or "float32[3, 40]", text or "name", text or "differs", difference)
    node = text or "Subtract 'node_c'"
    surroundings = around(text) if text else SURROUNDINGS
    culprit = Culprit("node", node, (node,), node, (given, given), output, (text or "k",), text, text, text, surroundings)
    outputs = (ComparedOutput(text or "y", text or "differs", text),)
    notes, shapes = (text or "output 'z' is not compared",), {text or "x": text or "float32[3, 40]"}
    return BisectResult(
        text or "m.onnx", text or "m.xml", (culprit,), outputs, 4, 5, notes, "", ENVIRONMENT, text or "openvino", 1, shapes
    )


def proofs(text: str = "") -> ProofReport:
    """Proofs of each status, and a file with an error; a text stands wherever a file or a document may put any."""
    layer, bound, path = text or "look_up", text or "dim(x, 1) - 1", around(text) if text else SURROUNDINGS
    needed = (Condition(Elements(text or "ids"), (0,), (Polynomial.symbol(InputDim(text or "x", 1)) - 1,)),)
    found = (
        Proof(layer, text or "Gather", 9, "refuted", 0, 5, (5, 9), text or "out of bounds", {}, Witness(5, 5, bound), path),
        Proof(layer, text or "GatherND", 9, "conditional", 0, bound, (None, None), bound, needed, path=path),
        Proof(layer, text or "Gather", 9, "unknown", None, None, (None, bound), text or "nothing is known", path=path),
        Proof(layer, text or "Gather", 0, "proved", 0, 5, (0, 4), "every index is in bounds", path=path),
    )
    error = Finding("OVG204", Severity.ERROR, text or "axis=3 is out of range", text, Location(text or "models/c.xml", 25))
    return ProofReport([ProvedFile(text or "models/a.xml", found), ProvedFile(text or "models/c.xml", (), (error,))])
