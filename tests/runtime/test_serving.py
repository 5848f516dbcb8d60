"""docs/serving/asgi_app.py: whatever a client sends, it gets its outputs or a 4xx answer with a message."""

import asyncio
import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np
import openvino
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openvino import opset13 as ops

from helpers.paths import ROOT

SERVING = ROOT / "docs" / "serving"
TABLE = np.arange(40, dtype=np.float32).reshape(10, 4)

pytestmark = pytest.mark.openvino


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Rows of a table by `ids` [?, 3], times `scale` [?, 1, 1]."""
    ids = ops.parameter(openvino.PartialShape([-1, 3]), np.int64, name="ids")
    scale = ops.parameter(openvino.PartialShape([-1, 1, 1]), np.float32, name="scale")
    rows = ops.multiply(ops.gather(ops.constant(TABLE), ids, ops.constant(0)), scale)
    rows.output(0).set_names({"rows"})
    for port in (ids, scale):
        port.output(0).set_names({port.get_friendly_name()})
    path = tmp_path_factory.mktemp("served") / "model.xml"
    openvino.save_model(openvino.Model([rows], [ids, scale], "recommender"), path, compress_to_fp16=False)
    return path


def load():
    """Return the module of the example."""
    spec = importlib.util.spec_from_file_location("asgi_app", SERVING / "asgi_app.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def served(model):
    module = load()
    assert module.app is None
    module.WORKERS = 3
    return module.Service(model)


async def call(app, body, method="POST", size=1 << 16):
    """Return status and JSON of the answer to a body, which arrives in parts of `size` bytes."""
    parts = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
    messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    messages[-1]["more_body"] = False
    sent = []

    async def receive():
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    await app({"type": "http", "method": method}, receive, send)
    start, *rest = sent
    assert (start["type"], dict(start["headers"])[b"content-type"]) == ("http.response.start", b"application/json")
    return start["status"], json.loads(b"".join(message["body"] for message in rest))


def post(app, value, **options):
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return asyncio.run(call(app, body, **options))


def good(*ids, scale=1.0):
    return {"ids": [list(ids)], "scale": [[[scale]]]}


def test_a_good_request_gets_its_outputs(served):
    status, answer = post(served, {"ids": [[1, -1, 9], [0, -10, 5]], "scale": [[[1]], [[2.5]]]})
    rows = TABLE[[[1, 9, 9], [0, 0, 5]]] * np.float32([[[1]], [[2.5]]])
    assert (status, answer) == (200, {"rows": rows.tolist()})
    assert post(served, json.dumps(good(1, 2, 3)).encode("utf-16"))[0] == 200


@pytest.mark.parametrize("bad", [10, -11, 2**31, -(2**31) - 1, 2**32, 2**32 + 1, 2**63 - 1, -(2**63)])
def test_a_bad_id_is_refused_by_name(served, bad):
    """2 ** 32 + 1 would be 1 to OpenVINO's CPU plugin."""
    status, answer = post(served, good(1, bad, 3))
    assert status == 422
    assert "ids[0, 1]" in answer["error"]
    assert str(bad) in answer["error"]
    assert "-10..9" in answer["error"]


REFUSED = {
    "no body": (b"", 400, "JSON"),
    "no JSON": (b"{", 400, "JSON"),
    "no text": (b"\xff\xfe\xfd", 400, "JSON"),
    "NaN": (b'{"ids": [[1, 2, 3]], "scale": [[[NaN]]]}', 400, "NaN"),
    "infinity": (b'{"ids": [[1, 2, 3]], "scale": [[[-Infinity]]]}', 400, "-Infinity"),
    "a number beyond f32": (b'{"ids": [[1, 2, 3]], "scale": [[[1e999]]]}', 422, "scale has a number that does not fit float32"),
    "a name given twice": (b'{"ids": [[99, 2, 3]], "ids": [[1, 2, 3]], "scale": [[[1]]]}', 400, "the same name twice"),
    "thousands of digits": (b'{"ids": [[' + b"1" * 5000 + b"]]}", 400, "JSON"),
    "nested JSON": (b"[" * 500_000, 400, "JSON"),
    "nested inputs": (b'{"scale": [[[1]]], "ids": ' + b"[" * 200 + b"]" * 200 + b"}", 422, "ids"),
    "a list": ([[1, 2, 3]], 422, "ids, scale"),
    "nothing": ({}, 422, "input 'ids' is missing"),
    "a missing input": ({"ids": [[1, 2, 3]]}, 422, "input 'scale' is missing"),
    "one input too many": (good(1, 2, 3) | {"x": 1}, 422, "the model has no input 'x'"),
    "another name": ({"id": [[1, 2, 3]], "scale": [[[1]]]}, 422, "the model has no input 'id': did you mean 'ids'?"),
    "no list": ({"ids": 1, "scale": [[[1]]]}, 422, "input 'ids' has shape ()"),
    "null": (good(1, None, 3), 422, "ids must be a list of int64"),
    "text": (good(1, "2", 3), 422, "ids must be a list of int64"),
    "a fraction": (good(1, 2.5, 3), 422, "ids must be a list of int64"),
    "truth": (good(True, False, True), 422, "ids must be a list of int64"),
    "truth among numbers": (good(1, True, 3), 422, "ids must be a list of int64 numbers, not of true or false"),
    "truth among fractions": ({"ids": [[1, 2, 3]] * 2, "scale": [[[True]], [[2.5]]]}, 422, "scale must be a list of float32"),
    "an object": (good(1, {"a": 1}, 3), 422, "ids must be a list of int64"),
    "2 ** 63": (good(2**63, 2**63, 2**63), 422, "does not fit int64"),
    "2 ** 100": (good(1, 2**100, 3), 422, "ids must be a list of int64"),
    "a text as a factor": (good(1, 2, 3, scale="1"), 422, "scale must be a list of float32"),
    "beyond float64": (json.dumps(good(1, 2, 3)).replace("1.0", "1e999").encode(), 422, "does not fit float32"),
    "beyond float32": (good(1, 2, 3, scale=1e39), 422, "does not fit float32"),
    "an infinite result": (good(9, 9, 9, scale=3e38), 422, "output rows is not finite"),
    "ragged rows": ({"ids": [[1, 2, 3], [1]], "scale": [[[1]]]}, 422, "ids"),
    "rows too long": ({"ids": [[1, 2, 3, 4]], "scale": [[[1]]]}, 422, "input 'ids' has shape (1, 4)"),
    "one dimension too few": ({"ids": [1, 2, 3], "scale": [[[1]]]}, 422, "input 'ids' has shape (3,)"),
    "one dimension too many": ({"ids": [[[1, 2, 3]]], "scale": [[[1]]]}, 422, "input 'ids' has shape (1, 1, 3)"),
    "batches that differ": ({"ids": [[1, 2, 3]] * 2, "scale": [[[1]]] * 3}, 422, "as many rows, not [2, 3]"),
    "an empty batch": ({"ids": [], "scale": []}, 422, "ids is empty"),
    "empty rows": ({"ids": [[], []], "scale": [[[1]]] * 2}, 422, "ids is empty"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_bad_requests_are_refused(served, name):
    value, expected, message = REFUSED[name]
    status, answer = post(served, value)
    assert (status, list(answer)) == (expected, ["error"])
    assert answer["error"]
    assert message in answer["error"]
    assert post(served, good(1, 2, 3)) == (200, {"rows": [TABLE[[1, 2, 3]].tolist()]})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**65), 2**65) | st.integers(-12, 12) | st.floats(width=32) | st.text(max_size=3),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.sampled_from(["ids", "scale", "x"]), part, max_size=3),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.fixed_dictionaries({"ids": VALUES, "scale": VALUES}) | VALUES)
def test_any_json_gets_an_answer(served, value):
    status, answer = post(served, value)
    assert (status, list(answer)) == (200, ["rows"]) or (status in (400, 422) and list(answer) == ["error"])


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.binary(max_size=20), st.integers(0, 45), st.integers(0, 5))
def test_any_bytes_get_an_answer(served, other, at, cut):
    body = json.dumps(good(1, 2, 3)).encode()
    assert post(served, body[:at] + other + body[at + cut :])[0] in (200, 400, 422)


def test_a_body_has_a_limit(served):
    body = json.dumps(good(1, 2, 3)).encode()
    assert post(served, body.ljust(1 << 20))[0] == 200
    status, answer = post(served, body.ljust((1 << 20) + 1))
    assert (status, answer["error"]) == (413, "the body has more than 1048576 bytes")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD"])
def test_other_methods_are_refused(served, method):
    assert post(served, good(1, 2, 3), method=method)[0] == 405


def test_other_protocols_are_not_supported(served):
    for kind in ("lifespan", "websocket"):
        with pytest.raises(NotImplementedError, match=kind):
            asyncio.run(served({"type": kind}, None, None))


def test_a_client_that_leaves_costs_no_inference(served):
    async def leave():
        messages = iter([{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}])

        async def receive():
            return next(messages)

        async def send(message):
            sent.append(message)

        sent = []
        await served({"type": "http", "method": "POST"}, receive, send)
        return sent[0]["status"]

    assert asyncio.run(leave()) == 400


def test_concurrent_requests_get_their_own_answers(served):
    """Every third is bad; a refused one leaves no trace in others."""

    async def all_at_once():
        values = [good(at % 10, 10 if at % 3 == 0 else at % 7, 1, scale=at) for at in range(300)]
        return await asyncio.gather(*(call(served, json.dumps(value).encode(), size=7) for value in values))

    for at, (status, answer) in enumerate(asyncio.run(all_at_once())):
        if at % 3 == 0:
            assert status == 422
            assert "ids[0, 1]" in answer["error"]
        else:
            assert (status, answer) == (200, {"rows": [(TABLE[[at % 10, at % 7, 1]] * np.float32(at)).tolist()]})


def test_a_cancelled_request_gives_its_place_back(served):
    async def cancel_some():
        tasks = [asyncio.create_task(call(served, json.dumps(good(1, 2, 3)).encode())) for _ in range(50)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    done = asyncio.run(cancel_some())
    assert all(one == (200, {"rows": [TABLE[[1, 2, 3]].tolist()]}) for one in done[1::2])
    assert post(served, good(1, 2, 3))[0] == 200


def test_an_inference_that_fails_does_not_change_later_answers(tmp_path):
    """OpenVINO 2026.4.1 keeps sizes of what failed: without a new compiled model, later answers have a column from nowhere."""
    ids = ops.parameter(openvino.PartialShape([-1, -1]), np.int32, name="ids")
    scale = ops.parameter(openvino.PartialShape([-1, -1, 1]), np.float32, name="scale")
    rows = ops.multiply(ops.gather(ops.constant(TABLE), ids, ops.constant(0)), scale)
    for port in (ids, scale, rows):
        port.output(0).set_names({"rows" if port is rows else port.get_friendly_name()})
    openvino.save_model(openvino.Model([rows], [ids, scale], "m"), tmp_path / "m.xml", compress_to_fp16=False)
    served = load().Service(tmp_path / "m.xml")
    first, right = {"ids": [[1]], "scale": [[[1]]]}, (200, {"rows": [[TABLE[1].tolist()]]})
    assert post(served, first) == right
    status, answer = post(served, {"ids": [[1, 2]], "scale": [[[1], [1], [1]]]})
    assert (status, "mismatch" in answer["error"]) == (422, True)
    assert [post(served, first) for _ in range(3)] == [right] * 3


@pytest.fixture
def address(model):
    """The address of uvicorn with the application, in a process of its own."""
    pytest.importorskip("uvicorn")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "--app-dir", SERVING, "--port", str(port), "asgi_app:app"]
    with subprocess.Popen(command, env={**os.environ, "MODEL": str(model)}) as process:
        try:
            for _ in range(600):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert process.poll() is None
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()


def test_over_a_socket(address):
    def answer(body):
        try:
            with urllib.request.urlopen(address, body, timeout=60) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    status, found = answer(json.dumps(good(1, 10, 3)).encode())
    assert (status, "ids[0, 1]" in found["error"]) == (422, True)
    assert answer(b"{")[0] == 400
    assert answer(json.dumps(good(1, 2, 3)).encode()) == (200, {"rows": [TABLE[[1, 2, 3]].tolist()]})
