# title: Gather of a quantised MatMul ends the process in compile_model
# component: OpenVINO, low-precision transformations
# expected: Gather-8: moves elements, quantised or not
# actual: a segmentation fault while it compiles, if the weights have one scale, and the activations a zero point
import numpy as np
import openvino as ov
from openvino import opset13 as op


def number(value):
    return op.constant(np.float32(value))


x = op.parameter([16, 32], np.float32)
quantised = op.convert(op.fake_quantize(x, number(-2.4), number(2.7), number(0), number(255), 256), "u8")
real = op.multiply(op.subtract(op.convert(quantised, "f32"), number(120)), number(0.02))
stored = np.random.default_rng(0).integers(-127, 127, (32, 32)).astype(np.int8)
weights = op.multiply(op.convert(op.constant(stored), "f32"), number(0.013))
product = op.matmul(real, weights, False, False)
gathered = op.gather(product, op.constant(np.array([0, 5])), op.constant(0))
compiled = ov.compile_model(ov.Model([gathered], [x]), "CPU")
assert compiled(np.zeros((16, 32), np.float32))[0].shape == (2, 32)
