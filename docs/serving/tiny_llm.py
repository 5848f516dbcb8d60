"""Write a language model with random weights to a folder, as exporters do: `python tiny_llm.py FOLDER`.

A token is a byte. There are embeddings for 128 tokens and 64 positions: text that is longer or not ASCII reads past them.
"""

import json
import sys
from pathlib import Path

import numpy as np
import openvino
from openvino import PartialShape, Type
from openvino import opset15 as ops
from openvino.op.util import Variable, VariableInfo

VOCABULARY, POSITIONS, WIDTH, HEADS = 128, 64, 32, 2
HEAD = WIDTH // HEADS
SPLIT, SWAP, JOIN = (np.array(one) for one in ([0, 0, HEADS, HEAD], [0, 2, 1, 3], [0, 0, WIDTH]))


def language_model():
    """Return the model with its cache of keys and values in states, as optimum-intel exports it."""
    random = np.random.default_rng(0)
    ids, mask, positions = (
        named(ops.parameter([-1, -1], Type.i64), name) for name in ("input_ids", "attention_mask", "position_ids")
    )
    beams = named(ops.parameter([-1], Type.i32), "beam_idx")

    def weight(rows, columns):
        return ops.constant(random.normal(0, 0.3, (rows, columns)).astype(np.float32))

    def projected():
        return ops.transpose(ops.reshape(ops.matmul(x, weight(WIDTH, WIDTH), False, False), SPLIT, True), SWAP)

    def cached(new, name):
        info = VariableInfo()
        info.variable_id, info.data_type, info.data_shape = name, Type.f32, PartialShape([-1, HEADS, -1, HEAD])
        variable = Variable(info)
        nothing = ops.broadcast(np.float32(0), ops.concat([size(ids, 0), np.array([HEADS, 0, HEAD])], 0))
        whole = ops.concat([ops.gather(ops.read_value(nothing, variable), beams, 0), new], 2)
        written.append(ops.assign(whole, variable))
        return whole

    written = []
    tokens = ops.gather(weight(VOCABULARY, WIDTH), ids, 0, name="tokens")
    x = ops.add(tokens, ops.gather(weight(POSITIONS, WIDTH), positions, 0, name="positions"))
    query, keys, values = projected(), cached(projected(), "keys"), cached(projected(), "values")
    times = ops.range(np.int64(0), ops.squeeze(size(mask, 1)), np.int64(1), "i64")
    is_past = ops.less_equal(times, ops.unsqueeze(positions, np.array([1, 3])))
    attention = ops.scaled_dot_product_attention(query, keys, values, ops.select(is_past, np.float32(0), np.float32(-1e9)))
    x = ops.add(x, ops.matmul(ops.reshape(ops.transpose(attention, SWAP), JOIN, True), weight(WIDTH, WIDTH), False, False))
    logits = named(ops.matmul(x, weight(WIDTH, VOCABULARY), False, False), "logits")
    return openvino.Model([ops.result(logits)], written, [ids, mask, positions, beams])


def tokenizer():
    """Return the model that makes the ids of one text: its bytes."""
    text = named(ops.parameter([-1], Type.string), "string_input")
    ids = ops.unsqueeze(ops.convert(ops.string_tensor_unpack(text).output(2), "i64"), 0)
    mask = ops.broadcast(np.int64(1), ops.shape_of(ids))
    return openvino.Model([named(ids, "input_ids"), named(mask, "attention_mask")], [text])


def detokenizer():
    """Return the model that makes one text of ids."""
    ids = named(ops.parameter([-1, -1], Type.i64), "ids")
    text = ops.reshape(ops.convert(ids, "u8"), np.array([-1]), False)
    packed = ops.string_tensor_pack(np.array([0], np.int32), ops.convert(size(ids, 1), "i32"), text)
    return openvino.Model([named(packed, "string_output")], [ids])


def named(node, name):
    """Name a tensor."""
    node.output(0).set_names({name})
    node.set_friendly_name(name)
    return node


def size(node, axis):
    """Return the size of an axis, as a vector of one element."""
    return ops.gather(ops.shape_of(node), np.array([axis]), 0)


def write(folder):
    """Write the three models and their configurations to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in (("model", language_model()), ("tokenizer", tokenizer()), ("detokenizer", detokenizer())):
        openvino.save_model(model, folder / f"openvino_{name}.xml", compress_to_fp16=False)
    (folder / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": 0}))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
