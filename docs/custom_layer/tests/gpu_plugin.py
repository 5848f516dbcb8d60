"""Kernels, run as the GPU plugin of OpenVINO runs them, on any OpenCL device: its XML, its macros, a buffer for each tensor.

Source: custom_layer.cpp, custom.cpp, custom_primitive.cpp and custom_gpu_primitive.hpp in OpenVINO's src/plugins/intel_gpu.
"""

from functools import cache
from xml.etree import ElementTree

import numpy as np
import pyopencl as cl

TYPES = {"int8": "char", "uint8": "uchar", "int32": "int", "int64": "long", "float16": "half", "float32": "float"}


def run(config, layer, inputs, shape, attributes, padding=0):
    """Return the output of a layer, of the type of its first input. Raises AssertionError if the kernel writes outside of it.

    `padding` is the number of unused elements around the last two of the four dimensions, which the plugin may add.
    """
    roots = ElementTree.fromstring(f"<roots>{config.read_text()}</roots>")  # the plugin takes several root elements
    (custom,) = (root for root in roots if root.get("name") == layer)
    tensors = {f"INPUT{i}": _with_padding(array, padding) for i, array in enumerate(inputs)}
    tensors["OUTPUT0"] = _with_padding(np.zeros(shape, inputs[0].dtype), padding)
    sizes = dict(zip("BFYX", (*shape, 1, 1, 1, 1), strict=False))
    work = [eval(rule.replace("/", "//"), sizes) for rule in custom.find("WorkSizes").get("global").split(",")]
    macros = {"NUM_INPUTS": len(inputs), **_vector("GLOBAL_WORKSIZE", work, "ulong"), **_vector("LOCAL_WORKSIZE", [], "ulong")}
    for name, whole in tensors.items():
        around = [0, 0, padding, padding]
        macros |= _vector(f"{name}_DIMS", [size - 2 * unused for size, unused in zip(whole.shape, around, strict=True)])
        macros |= {f"{name}_TYPE": TYPES[whole.dtype.name], f"{name}_FORMAT_BFYX": ""}
        macros |= _vector(f"{name}_LOWER_PADDING", around) | _vector(f"{name}_UPPER_PADDING", around)
        pitches = [stride // whole.itemsize for stride in whole.strides]
        macros |= _vector(f"{name}_PITCHES", pitches) | {f"{name}_OFFSET": padding * (pitches[2] + pitches[3])}
    for define in custom.iter("Define"):
        value = attributes.get(define.get("param"), define.get("default"))
        macros[define.get("name")] = f"{value:f}" if isinstance(value, float) else int(value) if value in (True, False) else value
    sources = [f"#define {name} {value}" for name, value in macros.items()]
    sources += [(config.parent / source.get("filename")).read_text() for source in custom.iter("Source")]

    program, flags = _compiled("\n".join(sources)), cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = {name: cl.Buffer(program.context, flags, hostbuf=whole) for name, whole in tensors.items()}
    ports = sorted(custom.iter("Tensor"), key=lambda tensor: int(tensor.get("arg-index")))
    arguments = [buffers[tensor.get("type").upper() + tensor.get("port-index")] for tensor in ports]
    queue = cl.CommandQueue(program.context)
    getattr(program, custom.find("Kernel").get("entry"))(queue, work, None, *arguments)
    whole, before = np.empty_like(tensors["OUTPUT0"]), tensors["OUTPUT0"]
    cl.enqueue_copy(queue, whole, buffers["OUTPUT0"])
    inside = (..., *[slice(padding, size - padding) for size in whole.shape[2:]])
    output, whole[inside] = whole[inside].reshape(shape).copy(), before[inside]
    assert whole.tobytes() == before.tobytes(), f"{layer} writes outside of its output"
    return output


def _vector(name, values, kind="int"):
    return {f"{name}_SIZE": len(values), name: f"({kind} []){{ {''.join(f'{value},' for value in values)} }}"}


def _with_padding(array, padding):
    around = [(0, 0), (0, 0), (padding, padding), (padding, padding)]
    return np.pad(array.reshape(*array.shape, *[1] * (4 - array.ndim)), around, constant_values=77)


@cache
def _compiled(source):
    return cl.Program(cl.create_some_context(interactive=False), source).build()
