"""Harden a model that was exported for OpenVINO GenAI, and generate text: `python llm.py EXPORTED HARDENED PROMPT`."""

import shutil
import sys
from pathlib import Path

import numpy as np
import openvino
import openvino_genai

import ov_gather


def harden(exported, hardened):
    """Copy the folder of a model and its tokenizer; in the copy, an index out of bounds raises.

    All gathers are hardened, also those that the guard protects: the pipeline feeds tokens that no guard has seen.
    """
    shutil.copytree(exported, hardened)
    model = ov_gather.register(openvino.Core()).read_model(Path(exported) / "openvino_model.xml")
    ov_gather.harden(model, policy="raise")
    openvino.save_model(model, Path(hardened) / "openvino_model.xml", compress_to_fp16=False)


def load(folder):
    """Return a pipeline that knows the operations of ov-gather. After an error of `generate`, load it again."""
    return openvino_genai.LLMPipeline(folder, "CPU", extensions=[ov_gather.extension_path()])


def check(guard, pipeline, prompt, new_tokens):
    """Raise ValueError if the model lacks a token of a prompt, or a position for one of the new tokens."""
    tokens = pipeline.get_tokenizer().encode(prompt).input_ids
    fed = np.arange(tokens.shape[1] + new_tokens - 1)[None]  # the last token is not fed back
    guard({"input_ids": tokens, "position_ids": fed, "attention_mask": np.ones_like(fed), "beam_idx": np.zeros(1, np.int32)})


def main(exported, hardened, prompt, new_tokens=20):
    """Harden once, then answer one request."""
    harden(exported, hardened)
    guard, pipeline = ov_gather.guard(Path(exported) / "openvino_model.xml"), load(hardened)
    try:
        check(guard, pipeline, prompt, new_tokens)
    except ValueError as error:
        sys.exit(f"refused: {error}")
    print(pipeline.generate(prompt, max_new_tokens=new_tokens))


if __name__ == "__main__":
    main(*sys.argv[1:])
