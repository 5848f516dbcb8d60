"""The table of operators names operators that exist, once each, and everything that a row says has a use."""

import re

import pytest
from onnx.defs import get_all_schemas_with_history

from ov_gather.ops import OPERATIONS, table
from ov_gather.ops.table import EITHER, ONNX, OPENVINO, UNKNOWN, OpKind, Selection, Trait, where
from ov_gather.ranges.rules import common, onnx, openvino
from ov_gather.rules.opset_table import TABLE

ROWS = [line.split() for line in table._TABLE.splitlines() if line and not line.endswith(":")]
NAMES_OF_NODES = {"Constant", "PRelu", "Relu", "Softmax"}
"""What `openvino.Node` calls Const, PReLU, ReLU and SoftMax of an IR."""
OF_THE_PLUGIN = {"RMS"}
"""Operations that OpenVINO's own passes insert."""


@pytest.mark.parametrize("column", [0, 1], ids=["ONNX", "OpenVINO"])
def test_each_name_has_one_row(column):
    names = [name for row in ROWS for name in row[column].split(",") if name != "."]
    assert sorted(names) == sorted(set(names))


def test_rows_of_a_kind_are_sorted():
    for rows in table._TABLE.split(":\n")[1:]:
        words = [line.split() for line in rows.splitlines() if line.startswith(" ")]
        names = [(row[1] if row[0] == "." else row[0]).lower() for row in words]
        assert names == sorted(names)


def test_names_exist_in_onnx():
    assert set(ONNX) <= {schema.name for schema in get_all_schemas_with_history() if schema.domain == ""}


def test_types_exist_in_openvino():
    known = set(re.findall(r"\b[A-Z]\w*", TABLE)) | {operation.type for operation in OPERATIONS}
    assert set(OPENVINO) - NAMES_OF_NODES - OF_THE_PLUGIN <= known


def test_each_row_says_something():
    for name, op in {**ONNX, **OPENVINO}.items():
        assert op.kind is not None, name
    assert UNKNOWN.kind is None
    assert UNKNOWN.meaning.computes
    assert ONNX["NoSuchOperator"] is UNKNOWN
    assert "NoSuchOperator" not in ONNX


@pytest.mark.parametrize("kind", OpKind)
def test_each_kind_has_rows(kind):
    assert where(EITHER, lambda op: op.kind is kind)


@pytest.mark.parametrize("trait", Trait)
def test_each_trait_has_rows(trait):
    assert where(EITHER, lambda op: trait in op.traits)


@pytest.mark.parametrize("word", table._MEANINGS)
def test_each_meaning_has_rows(word):
    assert word in {row[3] for row in ROWS}


def test_elements_of_moves_come_from_inputs():
    moves = where(EITHER, lambda op: op.kind in (OpKind.MOVE, OpKind.GATHER, OpKind.SCATTER))
    unknown = where(OPENVINO, lambda op: op.meaning.selection is Selection.COMPUTED)
    assert moves & unknown == {"BatchToSpace", "Reverse", "Roll", "ShuffleChannels", "SpaceToBatch"}


@pytest.mark.parametrize(("operators", "module"), [(ONNX, onnx), (OPENVINO, openvino)], ids=["ONNX", "OpenVINO"])
def test_each_rule_is_found_and_each_function_has_a_row(operators, module):
    rules = {op.rule for op in operators.values()} - {""}
    assert set(module._RULES) == {name for name, op in operators.items() if op.rule}
    bound = {name.removeprefix("bind_") for part in (module, common) for name in vars(part) if name.startswith("bind_")}
    assert bound <= rules


def test_a_name_in_both_vocabularies_means_the_same():
    for name in set(ONNX) & set(OPENVINO):
        one, other = ONNX[name], OPENVINO[name]
        assert (one.kind, one.symbol, one.meaning.selection) == (other.kind, other.symbol, other.meaning.selection)


def test_onnx_propagates_values_through_what_the_table_names():
    propagating = {schema.name for schema in get_all_schemas_with_history() if schema.has_data_propagation_function}
    assert propagating <= where(ONNX, lambda op: Trait.VALUES in op.traits or op.kind is OpKind.SHAPE)
