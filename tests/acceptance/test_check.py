"""`ov-gather check`, as a user runs it."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import openvino as ov
import pytest
from openvino import opset13

from helpers.paths import SAMPLES
from ov_gather import read_ir
from ov_gather.ops import OPERATIONS
from ov_gather.ops.layer_view import family_layers
from ov_gather.ops.spec import CUSTOM_OPSET

pytestmark = pytest.mark.openvino


def rows_of(output):
    """The rows of the table of layers: two lines each, the cells below the names of the runtimes."""
    table = re.split(r"^(?:output |Compared bit)", output, flags=re.MULTILINE)[0]
    head, *lines = (line for line in table.splitlines() if line.strip())
    names = head.split()
    starts = [head.index(name) for name in names]
    ends = [*starts[1:], None]
    return [
        {name: line[start:end].strip() for name, start, end in zip(names, starts, ends, strict=True)}
        for line in lines
        if ".xml" in line
    ]


@pytest.mark.exhaustive
def test_valid_samples(cli, samples):
    done = cli("check", "ir_samples/valid", "--verbose", code=0)
    rows = rows_of(done.stdout)
    files = list((samples / "valid").glob("*.xml"))
    layers = sum(1 for file in files for _, graph in read_ir(file).walk() for _ in family_layers(graph))
    assert len(rows) == layers > 30
    assert all(int(row["kernel"]) == int(row["cases"]) > 1 for row in rows)
    assert sum(row["openvino"][0].isdigit() for row in rows) == layers
    assert sum(row["expected"] != "-" for row in rows) == len(list((samples / "valid").glob("*.expected.json")))
    assert "seed 2026" in done.stdout
    assert re.search(r"whole models: \d+, outputs: (\d+), passed: \1, failed: 0", done.stdout)
    assert "spec_layer_fragment.xml: assumed, as the fragment does not say: opset6, f32 data, i64 indices" in done.stdout
    cases = sum(int(row["cases"]) for row in rows)
    assert f"files: {len(files)}, layers: {layers}, cases: {cases}, passed: {layers}, failed: 0" in done.stdout


def test_valid_samples_hold_every_operation_of_openvino(samples):
    found = {
        view.operation.name
        for file in (samples / "valid").glob("*.xml")
        for _, graph in read_ir(file).walk()
        for view in family_layers(graph)
    }
    assert found == {operation.name for operation in OPERATIONS if CUSTOM_OPSET not in operation.opsets}


@pytest.fixture(scope="module")
def divergent(cli):
    """The layers of all divergent samples, from one run."""
    done = cli("check", "ir_samples/divergent", "--format", "json", code=0)
    return json.loads(done.stdout)["layers"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", sorted(path.name for path in (SAMPLES / "divergent").iterdir()))
def test_divergent_samples_name_their_divergence(divergent, name):
    layers = [layer for layer in divergent if layer["path"].startswith(f"ir_samples/divergent/{name}/")]
    assert {layer["outcome"] for layer in layers} <= {"passed", "expected"}
    comparisons = [comparison for layer in layers for case in layer["cases"] for comparison in case["comparisons"]]
    named = [one for one in comparisons if one["runtime"] == "openvino" and name in one["divergences"]]
    assert {one["status"] for one in named} in ({"expected"}, {"not applicable"})


def test_what_a_runtime_does_not_have_is_not_applicable(cli):
    done = cli("check", "ir_samples/divergent/custom-operation", code=0)
    assert [row["openvino"] for row in rows_of(done.stdout)] == ["-"] * 9
    assert "not applicable custom-operation (openvino): operations of the opset ov_gather need our extension" in done.stdout
    assert "layers: 9, cases: 18, passed: 9, failed: 0, not applicable: 24, errors found: 0" in done.stdout


def test_a_layer_that_nothing_else_can_execute_is_a_failure(cli, copied):
    done = cli("check", copied("valid/spec_layer", changes=[("FP32", "U2"), ('"f32"', '"u2"')]), code=1)
    assert "not applicable unsafe-small-types (openvino)" in done.stdout
    assert "not applicable no-elements-below-a-byte (extension)" in done.stdout
    assert "nothing to compare with: no other runtime can execute this" in done.stdout
    assert "passed: 0, failed: 1" in done.stdout


def test_a_wrong_expected_output_is_a_failure(cli, copied, tmp_path):
    copied("valid/onnx_page_1")
    (tmp_path / "onnx_page_1.expected.json").write_text('{"gather": [[1, 1], [4, 5]]}')
    done = cli("check", tmp_path, code=1)
    assert "expected output: FAILED (output[1, 1]: expected 5.0, here 3.0; 1 of 4 differ)" in done.stdout
    assert "failed: 1" in done.stdout


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("OVG402/off_axis", ("error OVG402", "not executed: dimension 0 is 3 in data")),
        ("OVG601/too_large", ("error OVG601",)),
    ],
)
def test_a_layer_that_cannot_be_executed_is_a_failure(cli, name, texts):
    done = cli("check", f"ir_samples/invalid/{name}.xml", code=1)
    assert all(text in done.stdout for text in texts)


def test_an_unreadable_file_does_not_stop_the_others(cli, copied, tmp_path):
    copied("invalid/OVG001/truncated", stem="a")
    copied("valid/spec_layer", stem="b")
    done = cli("check", tmp_path, code=2)
    assert done.stderr.startswith(
        f"{tmp_path}/a.xml:37: error OVG001: GatherElements 'gather' (layer 2): not well-formed XML: unclosed token, column 4\n"
    )
    assert rows_of(done.stdout)[0]["openvino"] == "13, 3 expected"


def test_reports(cli, copied, tmp_path):
    copied("valid/onnx_page_1")
    (tmp_path / "onnx_page_1.expected.json").write_text('{"gather": [[1, 1], [4, 7]]}')
    (tmp_path / "broken.xml").write_text("<net")
    page = tmp_path / "r.html"
    done = cli("check", tmp_path, "--format", "json", "--report", page, code=2)
    told = json.loads(done.stdout)
    assert not told["passed"]
    assert [layer["outcome"] for layer in told["layers"]] == ["failed"]
    difference, *_ = [
        comparison["difference"]
        for case in told["layers"][0]["cases"]
        for comparison in case["comparisons"]
        if comparison["difference"]
    ]
    assert (difference["position"], difference["expected"], difference["found"]) == ([1, 1], "7.0", "3.0")
    assert [finding["rule"] for finding in told["findings"]] == ["OVG001"]
    text = page.read_text()
    assert all(part in text for part in ("onnx_page_1.xml", "7.0", "OVG001", "<html"))

    done = cli("check", tmp_path, "--format", "junit")
    suites = ElementTree.fromstring(done.stdout)
    assert [(suite.get("name"), suite.get("failures")) for suite in suites] == [
        ("ov-gather validate", "1"),
        ("ov-gather check", "1"),
    ]
    done = cli("check", tmp_path, "--report", tmp_path / "missing" / "r.html")
    assert (done.returncode, done.stdout) == (2, "")


def test_more_data_than_memory_holds_is_refused_with_its_size(cli, copied):
    changes = [("<dim>7</dim>", f"<dim>{1 << 44}</dim>")]
    done = cli("check", copied("valid/spec_layer_fragment", changes=changes), code=1)
    assert re.search(
        r"not executed: GatherElements .*: a case takes 10555\d{2}\.\d GB, and 8 times that; .* GB are free", done.stdout
    )


def test_nothing_to_do(cli, tmp_path):
    cli("check", tmp_path, code=2)
    (tmp_path / "empty.xml").write_text('<net name="n" version="11"><layers/></net>')
    done = cli("check", tmp_path, code=2)
    assert "no gather-family layer" in done.stderr


@pytest.fixture
def two_tables(tmp_path):
    """A model of two gathers, by one input of ids, with an array of ids beside it."""
    ids = opset13.parameter([-1], np.int64, name="ids")
    tables = [opset13.parameter([size, 2], np.float32, name=f"table{size}") for size in (5, 7)]
    sums = opset13.concat([opset13.gather(table, ids, opset13.constant(0)) for table in tables], 1)
    ov.save_model(ov.Model([sums], [ids, *tables]), tmp_path / "m.xml", compress_to_fp16=False)
    np.save(tmp_path / "ids.npy", np.array([4, 0, 3]))
    return tmp_path / "m.xml", tmp_path / "ids.npy"


def test_inputs_of_a_whole_model_have_the_names_of_the_model(cli, two_tables):
    model, ids = two_tables
    document = json.loads(cli("check", model, "--input", f"ids={ids}", "--format", "json", code=0).stdout)
    assert [layer["cases"][0]["shapes"][1] for layer in document["layers"]] == [[3], [3]]
    assert [output["shape"] for output in document["outputs"]] == [[3, 4]]
    done = cli("check", model, "--input", f"indices={ids}", code=2)
    assert "write NAME=FILE.npy with NAME one of ids, table5, table7" in done.stderr


def test_the_only_layer_takes_its_own_names_or_those_of_the_model(cli, tmp_path):
    ids, table = opset13.parameter([-1], np.int64, name="ids"), opset13.parameter([5, 2], np.float32, name="table")
    gather = opset13.gather(opset13.relu(table), ids, opset13.constant(0))
    ov.save_model(ov.Model([gather], [ids, table]), tmp_path / "m.xml", compress_to_fp16=False)
    np.save(tmp_path / "ids.npy", np.array([4, 0, 3]))
    np.save(tmp_path / "table.npy", np.ones((5, 2), np.float32))
    of_layer = [f"--input={name}={tmp_path / file}.npy" for name, file in (("data", "table"), ("indices", "ids"))]
    assert "layers: 1, cases: 2, passed: 1" in cli("check", tmp_path / "m.xml", *of_layer, code=0).stdout
    done = cli("check", tmp_path / "m.xml", f"--input=ids={tmp_path / 'ids.npy'}", code=0)
    assert "whole models: 1, outputs: 1, passed: 1" in done.stdout


def test_inputs_of_an_onnx_model_are_for_convert(cli, tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"")
    done = cli("check", tmp_path / "m.onnx", f"--input=x={tmp_path / 'm.onnx'}", code=2)
    assert "`convert --verify` takes inputs of an ONNX model" in done.stderr


def test_seed_changes_the_inputs_and_is_printed(cli):
    by_seed = [
        cli("check", "ir_samples/divergent/narrowed-to-32-bits", "--runtimes", "kernel,openvino", "--seed", seed).stdout
        for seed in (7, 8)
    ]
    assert "seed 7" in by_seed[0]
    assert by_seed[0] != by_seed[1].replace("8", "7")


def test_a_layer_that_the_kernel_refuses_ends_nothing(cli, samples, tmp_path):
    refused, right = samples / "invalid" / "OVG303" / "custom_u4_data.xml", samples / "valid" / "gather_8.xml"
    done = cli("check", refused, right, "--cases", "2", "--failures", tmp_path / "failures", code=1)
    assert "kernel: FAILED (refuses: GatherElements 'gather' (layer 2): data must be" in done.stdout
    assert "files: 2, layers: 2, cases: 4, passed: 1, failed: 1" in done.stdout


def test_a_constant_index_out_of_bounds_is_no_plain_success(cli, tmp_path):
    x = opset13.parameter([4, 6], np.float32)
    gather = opset13.gather(x, opset13.constant(np.array([1, 9])), opset13.constant(0))
    ov.save_model(ov.Model([gather], [x]), tmp_path / "m.xml", compress_to_fp16=False)
    cli("check", tmp_path / "m.xml", "--cases", "2", "--report", tmp_path / "page.html", code=0)
    assert "Passed, with known divergences</h1>" in (tmp_path / "page.html").read_text()


def test_layers_that_pass_alike_are_one_row(cli, tmp_path):
    """--verbose lists each."""
    x = opset13.parameter([4, 6], np.float32)
    rows = opset13.parameter([3], np.int64)
    made = [opset13.gather(x, rows, opset13.constant(0)) for _ in range(12)]
    ov.save_model(ov.Model(made, [x, rows]), tmp_path / "m.xml", compress_to_fp16=False)
    short = cli("check", tmp_path / "m.xml", code=0).stdout
    whole = cli("check", tmp_path / "m.xml", "--verbose", code=0).stdout
    assert re.findall(r"^  Gather-8 '\w+'(.*)$", short, re.M) == [" and 11 others"]
    assert len(re.findall(r"^  Gather-8 '", whole, re.M)) == 12


def test_what_plainly_passes_is_counted_and_listed_with_verbose(cli, samples):
    given = sorted((samples / "valid").glob("gather_*.xml"))
    short = cli("check", *given, "--cases", "1", code=0).stdout
    whole = cli("check", *given, "--cases", "1", "--verbose", code=0).stdout
    (count,) = re.findall(r"^(\d+) layers passed, without a divergence: --verbose lists them$", short, re.M)
    assert int(count) == len(re.findall(r"^  \w+-\w+ '", whole, re.M)) > 3
    assert "without a divergence" not in whole
