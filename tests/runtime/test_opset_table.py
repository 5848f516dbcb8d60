"""The table of operations against the installed OpenVINO."""

import importlib

import pytest

from ov_gather.rules.opsets import is_of_kind, operations, opsets_of

openvino = pytest.importorskip("openvino")

# The Python modules of the opsets hold these names, which are no operations.
NOT_OPERATIONS = {"ops", "absolute", "ceil", "ifop", "constant"}
# IR writes these classes with other names.
CLASS_OF = {"ReLU": "Relu", "PReLU": "PRelu", "SoftMax": "Softmax"}
# The reader looks these up in opset2.
READ_AS_OPSET2 = {"MVN", "ROIPooling", "ReorgYolo"}


@pytest.mark.parametrize("number", range(1, 18))
def test_each_opset_holds_what_the_table_says(number):
    factory = openvino._pyopenvino.NodeFactory(f"opset{number}")
    for layer_type, opsets in operations().items():
        if layer_type == "Const" or (number == 1 and layer_type in READ_AS_OPSET2):
            continue
        name = CLASS_OF.get(layer_type, layer_type)
        if f"opset{number}" not in opsets:
            with pytest.raises(RuntimeError):
                factory.create(name)
            continue
        node = factory.create(name)
        if layer_type in ("Assign", "ReadValue") and number >= 6:
            continue  # asking one without a variable for its attributes crashes the process
        given, kinds = node.get_attributes(), opsets[f"opset{number}"]
        assert list(given) == list(kinds), layer_type
        for attribute, value in given.items():
            if value not in ("", []):
                text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
                assert is_of_kind(text, kinds[attribute]), (layer_type, attribute, value)


def test_a_row_is_one_version_of_an_operation():
    """OpenVINO tells in which opset a version of an operation was new."""
    for layer_type in operations():
        if layer_type == "Const":
            continue
        versions: dict[str, set[str]] = {}
        for opset, first in opsets_of(layer_type).items():
            if opset == "opset1" and layer_type in READ_AS_OPSET2:
                continue
            node = openvino._pyopenvino.NodeFactory(opset).create(CLASS_OF.get(layer_type, layer_type))
            versions.setdefault(node.get_type_info().version_id, set()).add(first)
        firsts = [first for group in versions.values() for first in group]
        assert len(firsts) == len(versions) == len(set(firsts)), (layer_type, versions)


def test_the_table_has_every_operation_of_the_python_opsets():
    known = {layer_type.lower() for layer_type in operations()}
    for number in range(1, 18):
        module = importlib.import_module(f"openvino.opset{number}")
        names = {name.replace("_", "").lower() for name in dir(module) if not name.startswith("_")}
        assert names - known <= NOT_OPERATIONS
