"""Write a model with one Snake layer, with OpenVINO alone: python make_model.py [snake.xml]."""

import sys

import openvino as ov
import snake

try:
    from openvino import opset13
    from openvino.utils.node_factory import NodeFactory
except ImportError:  # before OpenVINO 2025.0
    from openvino.runtime import opset13
    from openvino.runtime.utils.node_factory import NodeFactory


def make_model(shape=(-1, 2, -1), channels=2, element_type="f32", axis=1, epsilon=1e-9):
    """Return y = Snake(x, alpha); -1 leaves a dimension open."""
    factory = NodeFactory()
    factory.add_extension(snake.LIBRARY)
    x = opset13.parameter(list(shape), getattr(ov.Type, element_type), name="x")
    alpha = opset13.parameter([channels], getattr(ov.Type, element_type), name="alpha")
    layer = factory.create("Snake", [x, alpha], {"axis": axis, "epsilon": epsilon})
    for output, name in ((x.output(0), "x"), (alpha.output(0), "alpha"), (layer.output(0), "y")):
        output.get_tensor().set_names({name})
    layer.set_friendly_name("activation")
    return ov.Model([layer.output(0)], [x, alpha], "uses_snake")


if __name__ == "__main__":
    ov.save_model(make_model(), sys.argv[1] if sys.argv[1:] else "snake.xml", compress_to_fp16=False)
