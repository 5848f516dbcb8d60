"""Models that the converters refuse, since OpenVINO would end the process or not end at all."""

from __future__ import annotations

REFUSALS = {
    "strings-copied-as-bytes": (
        "OpenVINO's CPU plugin copies strings as bytes in most operators. Results are wrong, or memory is freed twice, which "
        "ends the process. Move strings by the operators that the message lists, or compute with them outside of the model."
    ),
    "strings-freed-twice": (
        "An output of strings that is an input, or another output, as it is, is freed twice by OpenVINO's CPU plugin, which "
        "ends the process. Leave this output out, and use the other value."
    ),
    "unique-of-nothing": (
        "OpenVINO's CPU plugin ends the process in Unique of a tensor without elements. Leave the node out, or do without the "
        "empty tensor."
    ),
    "recurrent-layer-of-nothing": (
        "OpenVINO compiles no recurrent layer of a static number of 0 sequences, or of 0 steps. Leave the layer out: its "
        "output has no elements, and its last states are the initial ones for ONNX, though zeros for onnxruntime."
    ),
    "nested-ifs": (
        "OpenVINO takes twice as long to compile for each further level of nested Ifs; more than 12 levels are refused. Join "
        "conditions, or compute both branches and choose by Where."
    ),
    "range-of-2^31": (
        "OpenVINO has no tensors of 2^31 elements or more, and inferring the shape of such a constant Range does not end. "
        "Check its limit and its delta."
    ),
}
"""What each refusal is about, and what to do, by the name that the error has."""
