"""How the tests bring our operations into OpenVINO: by an IR, on the CPU plugin, or evaluated without one."""

import numpy as np
import openvino as ov

from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import ELEMENT_TYPES, STRING
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import to_bytes

WHOLE_BYTES = [row for row in ELEMENT_TYPES if row.numpy_name and row.bits % 8 == 0]


def one_layer(kind, inputs, attributes, constants=None):
    """An IR of one of our layers behind Parameters (shape and type of each) and constants (array and type of each)."""
    builder = ModelBuilder("model")
    values = [builder.parameter(name, dtype, PartialShape.parse(shape)) for name, (shape, dtype) in inputs.items()]
    values += [builder.const(name, dtype, array) for name, (array, dtype) in (constants or {}).items()]
    text = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in attributes.items()}
    _, data_type = inputs["data"]
    (output,) = builder.layer(kind, "gather", "ov_gather", text, values, [(data_type, PartialShape(None))])
    builder.result("output", output)
    return builder.build()


def opsets(model, kind):
    """The opset of every operation of this kind."""
    return [op.get_type_info().version_id for op in model.get_ordered_ops() if op.get_type_name() == kind]


def read(core, model):
    xml, binary = to_bytes(model)
    return core.read_model(model=xml, weights=binary)


def inferred_shape(model):
    return PartialShape.parse(str(model.output(0).partial_shape).strip("[]"))


def compiled(core, model, threads=2):
    config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
    return core.compile_model(model, "CPU", config).create_infer_request()


def infer(request, *arrays):
    tensors = [ov.Tensor(array) for array in arrays]
    for i, tensor in enumerate(tensors):
        request.set_input_tensor(i, tensor)
    request.start_async()
    request.wait()
    output = request.get_output_tensor(0)
    return output.str_data if output.element_type == ov.Type.string else output.data.copy()


def as_tensor(data_type, array):
    """A tensor of any element type from an array whose elements have as many bits."""
    if data_type is STRING:
        return ov.Tensor(array.astype(str))
    carried = np.ascontiguousarray(array).view(f"u{array.itemsize}").reshape(array.shape)
    return ov.Tensor(carried, list(array.shape), getattr(ov.Type, data_type.name))


def evaluate(model, data_type, data, *others):
    """Evaluate the operation itself, without a plugin that converts types before; others are arrays or tensors."""
    output = ov.Tensor(getattr(ov.Type, data_type.name), ov.Shape([0]))
    tensors = [other if isinstance(other, ov.Tensor) else ov.Tensor(other) for other in others]
    assert model.evaluate([output], [as_tensor(data_type, data), *tensors])
    return np.array(output.str_data, object) if data_type is STRING else np.array(output.data).view(data.dtype)


def random_values(data_type, shape):
    """Any bytes, so that also NaNs and denormals are among them."""
    rng = np.random.default_rng(1)
    if data_type is STRING:
        return np.array(["", "a", "элементы", "x" * 100], object)[rng.integers(0, 4, shape)]
    data = np.frombuffer(rng.bytes(int(np.prod(shape)) * data_type.dtype.itemsize), data_type.dtype).reshape(shape)
    return data.view(np.uint8).astype(bool) if data_type.name == "boolean" else data


def same_bits(one, other):
    if one.dtype == object:
        return one.shape == other.shape and one.tolist() == other.tolist()
    return one.shape == other.shape and one.tobytes() == other.tobytes()
