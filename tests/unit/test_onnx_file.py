"""ONNX files read without their weights: with these put back, the model is the one that protobuf parses."""

import random

import numpy as np
import onnx
import pytest
from google.protobuf.message import DecodeError
from onnx import helper, numpy_helper

from ov_gather.converters.onnx_file import SMALLEST, mapped, without_weights


def put_back(data: bytes) -> onnx.ModelProto:
    model, places = without_weights(data)
    for tensor, place in zip(model.graph.initializer, places, strict=True):
        if place is not None:
            assert place.stop - place.start >= SMALLEST
            tensor.raw_data = data[place]
    return model


def model_of(*sizes: int) -> onnx.ModelProto:
    """Return a model with initializers of so many bytes, and a body with one."""
    rng = np.random.default_rng(0)
    tensors = [numpy_helper.from_array(rng.integers(0, 256, size, np.uint8), f"w{i}") for i, size in enumerate(sizes)]
    body = helper.make_graph([], "body", [], [], [numpy_helper.from_array(np.ones(SMALLEST, np.uint8), "inside")])
    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)]
    return helper.make_model(helper.make_graph(nodes, "g", [], [], tensors), producer_name="p", doc_string="d")


@pytest.mark.parametrize(
    "sizes", [(), (0,), (SMALLEST - 1, SMALLEST), (1 << 14, 1, 1 << 21)], ids=lambda sizes: "-".join(map(str, sizes))
)
def test_with_its_weights_the_model_is_that_of_protobuf(sizes):
    data = model_of(*sizes).SerializeToString()
    light, places = without_weights(data)
    assert put_back(data) == onnx.ModelProto.FromString(data)
    assert [bool(place) for place in places] == [size >= SMALLEST for size in sizes]
    assert light.ByteSize() < len(data) - sum(size for size in sizes if size >= SMALLEST) + 1


def test_a_graph_in_two_parts_and_raw_data_given_twice_are_merged_as_protobuf_merges_them():
    model, more = model_of(2000, 10), onnx.ModelProto(graph=onnx.GraphProto(initializer=model_of(3000).graph.initializer))
    twice = (
        onnx.TensorProto(raw_data=b"a" * 5000).SerializeToString() + onnx.TensorProto(raw_data=b"b" * 20).SerializeToString()
    )
    field = onnx.GraphProto(initializer=[onnx.TensorProto.FromString(twice)]).SerializeToString()
    last = b"\x3a" + bytes([len(field)]) + field
    raw = b"\x2a" + bytes([len(twice) & 0x7F | 0x80, len(twice) >> 7]) + twice  # an initializer
    whole = b"\x3a" + bytes([len(raw) & 0x7F | 0x80, len(raw) >> 7]) + raw  # a graph
    data = model.SerializeToString() + more.SerializeToString() + last + whole
    assert put_back(data) == onnx.ModelProto.FromString(data)
    assert [place and place.stop - place.start for place in without_weights(data)[1]] == [2000, None, 3000, None, None]


@pytest.mark.parametrize("seed", range(4))
def test_altered_bytes_are_read_as_protobuf_reads_them_or_refused(seed):
    rng, valid = random.Random(seed), model_of(1100, 3, 1200).SerializeToString()
    for _ in range(400):
        data = bytearray(valid)
        for _ in range(rng.randint(1, 3)):
            position = rng.choice([rng.randrange(60), rng.randrange(len(data)), len(data) - rng.randrange(1, 60)])
            data[position % len(data)] = rng.randrange(256)
        data = bytes(data[: rng.choice([len(data), rng.randrange(len(data))])])
        try:
            expected = onnx.ModelProto.FromString(data)
        except DecodeError:
            with pytest.raises(DecodeError):
                put_back(data)
            continue
        try:
            assert put_back(data) == expected
        except DecodeError as error:  # unknown fields may be groups, and then nothing is moved
            assert "wire type" in str(error)


@pytest.mark.parametrize("data", [b"", b"\xff" * 5000, b"\x3a\xff\xff\xff\xff\x0f", b"\x3a"])
def test_files_that_are_empty_or_no_models(tmp_path, data):
    (tmp_path / "m.onnx").write_bytes(data)
    with mapped(tmp_path / "m.onnx") as found:
        if data:
            with pytest.raises(DecodeError):
                without_weights(found)
        else:
            assert without_weights(found) == (onnx.ModelProto(), [])
