"""Every rule finds its samples and nothing else does; findings tell the place, what would be right, and a fingerprint."""

import re
from collections import Counter
from importlib import import_module
from pkgutil import iter_modules

import pytest
from lxml import etree

from helpers.exported_again import export_again
from helpers.paths import SAMPLES
from ov_gather import rules, validate
from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.model import Model
from ov_gather.ir.reader import read_document
from ov_gather.rules import constants
from ov_gather.rules.base import Rule
from ov_gather.rules.findings import Severity
from ov_gather.rules.opsets import is_of_kind
from ov_gather.rules.register import RULES
from ov_gather.rules.targets import Targeted

# One fault after which other rules rightly speak, too.
WITH_CONSEQUENCES = {
    *("duplicate_id", "parameter_port", "open_shape", "constant", "twice_0", "no_port_map", "one_branch", "unknown_layer"),
    *("unknown_port", "four_columns", "shifted"),
}
DIVERGENT = {
    "negative-indices": "OVG701",
    "no-negative-indices": "OVG701",
    "narrowed-to-32-bits": "OVG702",
    "no-dynamic-rank": "OVG703",
    "rewritten-constants": "OVG704",
    "no-strings": "OVG705",
    "zeros-for-negative-indices": "OVG701",
    "zeros-out-of-bounds": "OVG602",
    "dies-of-empty-gathers": "OVG707",
}


def label(path):
    return f"{path.parent.name}/{path.stem}"


INVALID = sorted(SAMPLES.glob("invalid/*/*.xml"))


def test_invalid_samples():
    failures = [f"{label(path)}: {failure}" for path in INVALID for failure in failures_of_sample(path)]
    assert not failures, "\n".join(failures)


def failures_of_sample(path):
    """Yield what is wrong with the findings in a sample that violates the rule of its folder."""
    rule = path.parent.name
    # Only one rule asks OpenVINO, and three run only where a release is named.
    findings = validate(path, infer=rule == "OVG407", target="2024.6" if rule in ("OVG708", "OVG709", "OVG712") else "")
    found = {finding.rule for finding in findings}
    if rule not in found or (found != {rule} and path.stem not in WITH_CONSEQUENCES):
        yield f"violates {found}"
    for finding in findings:
        if finding.location.path != str(path) or finding.location.line <= 0:
            yield f"{finding} is at {finding.location}"
        if finding.severity is not RULES[finding.rule].severity:
            yield f"{finding} has the severity {finding.severity}"


@pytest.mark.parametrize(("folder", "rule"), DIVERGENT.items())
def test_divergent_samples(folder, rule):
    for path in (SAMPLES / "divergent" / folder).glob("*.xml"):
        assert {finding.rule for finding in validate(path)} == {rule}


def test_every_rule_has_a_sample_and_a_documentation():
    sampled = {path.name for path in (SAMPLES / "invalid").iterdir()} | set(DIVERGENT.values())
    # No file in a repository fails to open, or kills its checker: see the other tests.
    sampled |= {"OVG008", "OVG099"}
    assert sampled == set(RULES)
    assert all(len(rule.documentation) > 20 for rule in RULES.values())


def test_place_of_a_finding():
    path = SAMPLES / "invalid" / "OVG303" / "float_indices.xml"
    (finding,) = validate(path)
    place = finding.location
    assert (place.line, place.layer_id, place.layer_name, place.layer_type, place.port) == (
        32,
        2,
        "gather",
        "GatherElements",
        1,
    )
    assert finding.message == "indices has element type f32"
    assert "i32 or i64" in finding.hint


def test_first_bad_constant_index_is_named():
    (finding,) = validate(SAMPLES / "invalid" / "OVG601" / "too_large.xml")
    assert "indices[1, 1] = 3 is out of bounds for an axis of size 3" in finding.message


def test_misspelt_attribute():
    text = (SAMPLES / "valid" / "spec_layer.xml").read_text().replace('axis="1"', 'axsi="1"')
    missing, unknown = validate(text.encode())
    assert (missing.rule, unknown.rule) == ("OVG201", "OVG202")
    assert unknown.hint == "did you mean axis?"


def test_an_output_may_declare_a_size_that_only_the_writer_knows():
    text = (SAMPLES / "valid" / "dynamic_shapes.xml").read_text()
    position = text.index("<output>", text.index("GatherElements"))

    def declared(size):
        return validate((text[:position] + text[position:].replace("<dim>-1</dim>", size)).encode(), select=["OVG403"])

    assert declared("<dim>8</dim>") == []
    (finding,) = declared("<dim>9</dim>")  # the first dimension is 2..8
    assert "gives [2..8,?,4..9]" in finding.message


def test_portability_is_no_error_unless_a_release_is_named():
    assert all((rule.severity is Severity.ERROR) == (rule.scope is Targeted) for rule in RULES.values() if rule.id >= "OVG7")


def test_every_rule_that_is_written_is_in_the_register_in_order():
    modules = (import_module(f"ov_gather.rules.{module.name}") for module in iter_modules(rules.__path__))
    written = {known.id: known for module in modules for known in vars(module).values() if isinstance(known, Rule)}
    assert list(RULES) == sorted(written)
    assert all(RULES[name] is written[name] for name in written)


def test_a_cheap_test_never_hides_a_violation():
    """A rule may have a cheap test that says that nothing is wrong; where it does, the full check must find nothing."""
    hidden = []
    for path in INVALID:
        model = read_document(path).model
        for _, graph in model.walk() if model else ():
            for known in RULES.values():
                is_passed_over = known.scope is Model and known.unless and known.unless(graph)
                if is_passed_over and not graph.is_fragment and list(known.check(graph)):
                    hidden.append(f"{label(path)}: {known.id}")
    assert not hidden, "\n".join(hidden)


def test_a_file_that_is_cut_off_meanwhile_has_no_odd_booleans(monkeypatch):
    """Validation starts again, and names what is wrong by then."""
    document = read_document(SAMPLES / "invalid" / "OVG508" / "seven.xml")

    def cut(*_):
        raise IRError(Fault.RANGE, "cut off")

    assert document.model
    assert len(list(constants.odd_booleans.check(document.model))) == 1
    monkeypatch.setattr(constants, "payload", cut)
    assert list(constants.odd_booleans.check(document.model)) == []


@pytest.mark.parametrize(("text", "is_one"), [("", True), ("1.5,2", True), ("1.5, x", False), ("x,1.5", False), ("x", False)])
def test_each_number_of_an_attribute_is_examined(text, is_one):
    assert is_of_kind(text, "floats") == is_one


def _with_dims_of_results(place: str) -> bytes:
    """Let Results of the sample with an If declare another rank; `place` says in which bodies."""
    text = (SAMPLES / "valid" / "if_bodies.xml").read_text()
    for body in ("then_body", "else_body"):
        before, start, inside = text.partition(f"<{body}>")
        inside, end, behind = inside.partition(f"</{body}>")
        if place in (body, "both"):
            layers, result, rest = inside.partition('type="Result"')
            inside = layers + result + rest.replace("<dim>6</dim>", "", 1)
        text = before + start + inside + end + behind
    return text.encode()


@pytest.mark.parametrize("body", ["then_body", "else_body"])
def test_an_output_of_if_has_the_dims_of_one_body(body):
    """OpenVINO writes such IRs itself, where it knows which body the condition chooses."""
    assert "OVG406" not in [finding.rule for finding in validate(_with_dims_of_results(body))]


def test_an_output_of_if_that_contradicts_both_bodies_is_wrong():
    assert [finding.rule for finding in validate(_with_dims_of_results("both"))].count("OVG406") == 2


def test_a_loop_without_a_body():
    text = (SAMPLES / "valid" / "loop.xml").read_text()
    without = re.sub("<(body|port_map|back_edges)>.*</\\1>", "", text, flags=re.DOTALL)
    found = [finding.message for finding in validate(without.encode()) if finding.rule == "OVG121"]
    assert found == ["<body> stands no times", "<port_map> stands no times"]


def test_an_input_of_an_if_that_no_body_takes():
    text = (SAMPLES / "valid" / "if_bodies.xml").read_text()
    without = re.sub('<input external_port_id="1" [^>]*/>', "", text)
    (found,) = [
        finding for finding in validate(without.encode()) if "no entry of a port map uses this input" in finding.message
    ]
    assert found.location.port == 1


@pytest.mark.parametrize("shape", ["3", "", "4,1"])
def test_tuples_of_another_length_than_declared(shape, copied):
    """The payload has another shape than the port: the index rules say nothing of it, and do not fail."""
    change = ('element_type="i64" shape="2, 2"', f'element_type="i64" shape="{shape}"')
    rules = {finding.rule for finding in validate(copied("valid/gather_nd_8_page", changes=[change]))}
    assert rules
    assert not rules & {"OVG601", "OVG602"}


# Which one of two layers these name depends on the order of the layers.
_NAMES_THE_LATER = ("duplicate_id", "two_relus", "two_tops")


def _is_whole(path):
    try:
        tree = etree.parse(path)
        return tree.getroot().tag == "net" and all(layer.get("id", "").isdigit() for layer in tree.iter("layer"))
    except (etree.XMLSyntaxError, OSError):
        return False


FAULTY = [
    path
    for path in sorted([*SAMPLES.glob("divergent/*/*.xml"), *SAMPLES.glob("invalid/*/*.xml")])
    if path.stem not in (*_NAMES_THE_LATER, "edge_end") and _is_whole(path)
]


def fingerprints(path):
    return Counter((finding.rule, finding.fingerprint) for finding in validate(path))


def test_fingerprints_survive_another_export(tmp_path):
    assert len(FAULTY) > 100
    for path in FAULTY:
        export_again(path, tmp_path / path.name)
        assert fingerprints(path) == fingerprints(tmp_path / path.name), path


def test_all_fingerprints_of_a_file_differ():
    for path in FAULTY:
        assert set(fingerprints(path).values()) <= {1}, path


def fingerprint(name, axis):
    text = (SAMPLES / "invalid" / "OVG204" / "axis_3.xml").read_text()
    text = text.replace('name="gather"', f'name="{name}"').replace('axis="3"', f'axis="{axis}"')
    (finding,) = validate(text.encode(), select=["OVG204"])
    return finding.fingerprint


@pytest.mark.parametrize(
    ("name", "axis", "same"),
    [
        ("gather", "5", True),
        ("other", "5", False),
        ("gather", "6", False),
        ("GatherElements_17", "5", False),
    ],
)
def test_what_a_fingerprint_depends_on(name, axis, same):
    assert (fingerprint(name, axis) == fingerprint("gather", "5")) is same


def test_a_name_that_openvino_made_up_is_no_name():
    assert fingerprint("GatherElements_17", "5") == fingerprint("GatherElements_4711", "5") == fingerprint("", "5")


@pytest.mark.parametrize(("trips", "is_wrong"), [(0, True), (2, True), (3, False), (4, False), (-1, False)])
def test_a_loop_joins_no_more_slices_than_its_trip_count(trips, is_wrong):
    """The output has three slices of two rows. A Loop may end before its trip count."""
    path = SAMPLES / "valid" / "loop.xml"
    weights = trips.to_bytes(8, "little", signed=True) + path.with_suffix(".bin").read_bytes()[8:]
    assert [finding.rule for finding in validate(path, weights=weights, select=["OVG125"])] == ["OVG125"] * is_wrong


def test_a_tensor_iterator_without_slices():
    text = (SAMPLES / "valid" / "tensor_iterator.xml").read_text()
    empty = text.replace('shape="4,3"', 'shape="0,3"').replace("<dim>4</dim>", "<dim>0</dim>")
    assert {finding.rule for finding in validate(empty.encode())} == {"OVG125"}
