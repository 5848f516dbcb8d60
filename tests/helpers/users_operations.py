"""Operations of users: a small one as a library and in Python, and models with it."""

from pathlib import Path

import openvino
from onnx import TensorProto, helper

from helpers.compiling import compile_once
from ov_gather.extension.installed import find
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir

LAYER = Path(__file__).with_name("snake.cpp").read_text()
REGISTERED = "OPENVINO_CREATE_EXTENSIONS({std::make_shared<ov::OpExtension<Snake>>()});"
assert REGISTERED in LAYER
WITH_ONNX = """
#include <openvino/frontend/onnx/extension/conversion.hpp>
ov::OutputVector converted(const ov::frontend::NodeContext& node) {
    return std::make_shared<Snake>(node.get_input(0), node.get_attribute<float>("alpha", 1.0f))->outputs();
}
OPENVINO_CREATE_EXTENSIONS(std::vector<ov::Extension::Ptr>({
    std::make_shared<ov::OpExtension<Snake>>(),
    std::make_shared<ov::frontend::onnx::ConversionExtension>("Snake", "example", converted),
}));
"""
TWICE = REGISTERED.replace("({", "(std::vector<ov::Extension::Ptr>({").replace(
    "});", ", std::make_shared<ov::OpExtension<Snake>>()}));"
)

PYTHON = """
import numpy as np
import openvino as ov
from openvino.frontend.onnx import ConversionExtension


class Snake(ov.Op):
    class_type_info = ov.DiscreteTypeInfo("Snake", "example")

    def __init__(self, inputs=None, alpha=1.0):
        super().__init__(self)
        self.attributes = {"alpha": alpha}
        if inputs is not None:
            self.set_arguments(inputs)
            self.constructor_validate_and_infer_types()

    def get_type_info(self):
        return Snake.class_type_info

    def visit_attributes(self, visitor):
        visitor.on_attributes(self.attributes)
        return True

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    def clone_with_new_inputs(self, inputs):
        return Snake(inputs, **self.attributes)

    def has_evaluate(self):
        return True

    def evaluate(self, outputs, inputs):
        x, alpha = inputs[0].data, self.attributes["alpha"]
        outputs[0].shape = inputs[0].shape
        outputs[0].data[:] = x + np.sin(alpha * x) ** 2 / alpha
        return True


def convert(node):
    return Snake([node.get_input(0)], alpha=node.get_attribute("alpha")).outputs()


conversion = ConversionExtension("Snake", "example", convert)
plain = 5
"""


def build(source: str, library: Path, *linked: str) -> Path:
    """Compile a library against OpenVINO, which it finds again when it is loaded; `linked` replaces OpenVINO's libraries."""
    package = Path(openvino.__path__[0])
    libraries = [str(next((package / "libs").glob(f"{name}.so*"))) for name in ("libopenvino", "libopenvino_onnx_frontend")]
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={find().cxx11_abi}"  # as OpenVINO itself was compiled
    needed = linked or (*libraries, f"-Wl,-rpath,{package / 'libs'}")
    include = ["-isystem", str(package / "include")]
    return compile_once(source, library, abi, "-fPIC", "-shared", *include, *needed, "-Wl,-z,nodelete")


def write_model(path: Path, alpha: float = 0.5) -> Path:
    """Write an IR: y = GatherElements(Snake(x), i) on rows of 4."""
    builder = ModelBuilder("custom")
    rows, picked = PartialShape.of([6, 4]), PartialShape.of([6, 2])
    x, i = builder.parameter("x", F32, rows), builder.parameter("i", I64, picked)
    (s,) = builder.layer("Snake", "snake", "example", {"alpha": str(alpha)}, [x], [(F32, rows)])
    (y,) = builder.layer("GatherElements", "gather", "opset6", {"axis": "1"}, [s, i], [(F32, picked)], tensor="y")
    builder.result("y", y)
    write_ir(builder.build(), path)
    return path


def write_onnx(path: Path) -> Path:
    """Write the same model as ONNX."""
    nodes = [
        helper.make_node("Snake", ["x"], ["s"], "snake", domain="example", alpha=0.5),
        helper.make_node("GatherElements", ["s", "i"], ["y"], "gather", axis=1),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [6, 4])]
    inputs.append(helper.make_tensor_value_info("i", TensorProto.INT64, [6, 2]))
    graph = helper.make_graph(nodes, "custom", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, [6, 2])])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("example", 1)]
    path.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
    return path
