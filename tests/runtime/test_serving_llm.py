"""docs/serving/llm.py and tiny_llm.py: a hardened language model generates the same text, and refuses unknown tokens."""

import os
import subprocess
import sys

import numpy as np
import openvino
import pytest

import ov_gather
from helpers.paths import ROOT

SERVING = ROOT / "docs" / "serving"
PROMPTS = ["hello", "a", "x" * 55]
TOO_LONG = "x" * 65

pytestmark = pytest.mark.openvino


def run(script, *arguments):
    """Run a script as a user does."""
    command = [sys.executable, SERVING / script, *arguments]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, check=False, env=os.environ)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("llm") / "exported"
    done = run("tiny_llm.py", folder)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return folder


@pytest.fixture(scope="module")
def core():
    return ov_gather.register(openvino.Core())


def orders_of_caches(model):
    """The gathers that reorder a cache."""
    gathers = [node for node in model.get_ops() if node.get_type_name() == "Gather"]
    return [node for node in gathers if node.input_value(0).get_node().get_type_name() == "ReadValue"]


def test_a_hardened_cache_is_reordered_by_a_stock_gather(core, exported):
    """GenAI removes this gather for paged attention, if it is stock. Its indices are checked before it."""
    model = core.read_model(exported / "openvino_model.xml")
    ov_gather.harden(model, policy="raise")
    assert [node.get_type_info().version_id for node in orders_of_caches(model)] == ["opset8"] * 2
    request = core.compile_model(model, "CPU").create_infer_request()
    feed = {name: np.zeros((2, 1), np.int64) for name in ("input_ids", "attention_mask", "position_ids")}
    for beams, is_in_bounds in (([0, 0], True), ([-1, 1], True), ([0, 2], False), ([1, 0], True), ([-3, 0], False)):
        request.start_async(feed | {"beam_idx": np.int32(beams)})
        if is_in_bounds:
            request.wait()
        else:
            with pytest.raises(RuntimeError, match=r"out of bounds for axis 0 of size 2"):
                request.wait()


@pytest.fixture(scope="module")
def genai():
    return pytest.importorskip("openvino_genai")


@pytest.fixture(scope="module")
def hardened(genai, exported):
    """The folder that docs/serving/llm.py makes. It prints the text that the model generated before."""
    folder = exported.with_name("hardened")
    done = run("llm.py", exported, folder, PROMPTS[0])
    assert done.returncode == 0, done.stderr
    assert done.stdout == genai.LLMPipeline(exported, "CPU").generate(PROMPTS[0], max_new_tokens=20) + "\n"
    return folder


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("caf\xe9", "input_ids[0, 3] = 195 is out of bounds (valid -128..127): Gather 'tokens' needs input_ids in -128..127"),
        (
            "x" * 46,
            "position_ids[0, 64] = 64 is out of bounds (valid -64..63): Gather 'positions' needs position_ids in -64..63",
        ),
    ],
)
def test_the_guard_refuses_a_prompt(genai, exported, tmp_path, prompt, message):
    done = run("llm.py", exported, tmp_path / "hardened", prompt)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"refused: {message}\n")


@pytest.fixture(scope="module", params=[{}, {"ATTENTION_BACKEND": "PA"}, {"ATTENTION_BACKEND": "SDPA"}], ids=str)
def pipelines(request, genai, exported, hardened):
    """A pipeline before hardening, and one after it, with an attention of GenAI; paged attention is its default."""
    extensions = [ov_gather.extension_path()]
    return (
        genai.LLMPipeline(exported, "CPU", **request.param),
        genai.LLMPipeline(hardened, "CPU", extensions=extensions, **request.param),
    )


@pytest.mark.sampled(1)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_it_generates_the_same_text(pipelines, prompt):
    stock, safe = (pipeline.generate(prompt, max_new_tokens=8) for pipeline in pipelines)
    assert len(stock) == 8
    assert safe == stock


def test_bad_requests_are_refused_and_leave_no_trace(genai, pipelines):
    stock, safe = pipelines
    right = stock.generate(PROMPTS[0], max_new_tokens=8)
    for ids in ([1, 128, 3], [1, 2, -129], [2**40 + 500, 1, 2]):
        tokens = genai.TokenizedInputs(openvino.Tensor(np.int64([ids])), openvino.Tensor(np.ones((1, 3), np.int64)))
        with pytest.raises(
            RuntimeError, match=r"Gather 'tokens': indices\[.*\] = -?\d+ is out of bounds for axis 0 of size 128"
        ):
            safe.generate(tokens, max_new_tokens=2)
        assert safe.generate(PROMPTS[0], max_new_tokens=8) == right
    for prompt, new in ((TOO_LONG, 1), ("x" * 60, 8)):
        with pytest.raises(
            RuntimeError, match=r"Gather 'positions': indices\[.*\] = 64 is out of bounds for axis 0 of size 64"
        ):
            safe.generate(prompt, max_new_tokens=new)
        assert safe.generate(PROMPTS[0], max_new_tokens=8) == right
    with pytest.raises(RuntimeError, match="Gather 'tokens'"):
        safe.generate("caf\xe9", max_new_tokens=2)
