"""An If of OpenVINO whose branches are functions of the same operands."""

import openvino as ov
from openvino import opset13 as ops


def if_of(condition, operands, *branches, name="if"):
    """The outputs of an If; each of two branches is a function of what stands for the operands, and returns nodes."""
    node, bodies = ops.if_op(condition), []
    for branch in branches:
        given = [ops.parameter(value.get_output_partial_shape(0), value.get_output_element_type(0)) for value in operands]
        bodies.append(ov.Model(branch(*given), given, "body"))
    node.set_friendly_name(name)
    node.set_then_body(bodies[0])
    node.set_else_body(bodies[1])
    for position, value in enumerate(operands):
        node.set_input(value.output(0), *(body.get_parameters()[position] for body in bodies))
    return [node.set_output(*results) for results in zip(*(body.results for body in bodies), strict=True)]
