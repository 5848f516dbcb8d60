"""A server for one OpenVINO model that refuses bad requests: `MODEL=model.xml uvicorn asgi_app:app`.

A request is a JSON object of inputs, such as {"ids": [[1, 2]]}. The answer is an object of outputs, or {"error": message}.
"""

import asyncio
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import openvino

import ov_gather

MAX_BODY = 1 << 20  # bytes
WORKERS = 1  # threads that execute requests, each with a compiled model of its own


class RefusedError(Exception):
    """A request that gets no outputs. The arguments are the HTTP status and a message."""


class Service:
    """An ASGI application around a guarded model."""

    def __init__(self, path):
        self.core = ov_gather.register(openvino.Core())
        self.model = self.core.read_model(path)
        self.guard = ov_gather.guard(self.model)
        ov_gather.harden(self.model, guarded=True)  # only what the guard cannot check
        self.types = {port.any_name: port.element_type.to_dtype() for port in self.model.inputs}
        self.threads = ThreadPoolExecutor(WORKERS)
        self.own = threading.local()
        self.threads.submit(self.request).result()

    def request(self):
        """Return the inference request of this thread, the only one of its compiled model."""
        if not hasattr(self.own, "request"):
            settings = {"NUM_STREAMS": 1, "INFERENCE_NUM_THREADS": max(1, (os.cpu_count() or 1) // WORKERS)}
            self.own.request = self.core.compile_model(self.model, "CPU", settings).create_infer_request()
        return self.own.request

    async def __call__(self, scope, receive, send):
        """Answer one request."""
        if scope["type"] != "http":
            raise NotImplementedError(f"no {scope['type']} here")  # a server takes this as "not supported"
        try:
            if scope["method"] != "POST":
                raise RefusedError(405, "send a POST with a JSON object of inputs")
            text = await body(receive)
            status, answer = 200, await asyncio.get_running_loop().run_in_executor(self.threads, self.outputs, text)
        except RefusedError as refused:
            status, answer = refused.args[0], json.dumps({"error": refused.args[1]})
        headers = [(b"content-type", b"application/json"), *[(b"allow", b"POST")] * (status == 405)]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.encode()})

    def outputs(self, text):
        """Return the answer to a body. Runs in a thread: parsing, the guard and the model let the event loop go on."""
        feed = self.feed(text)
        try:
            self.guard(feed)
        except ValueError as error:
            raise RefusedError(422, str(error)) from None
        rows = {len(value) for value in feed.values() if value.ndim}
        if len(rows) > 1:
            raise RefusedError(422, f"all inputs must have as many rows, not {sorted(rows)}")
        request = self.request()
        try:
            request.start_async(feed)  # infer() on one thread would swallow errors
            request.wait()
        except RuntimeError as error:
            del self.own.request  # after an error, OpenVINO's CPU plugin may answer the next requests with wrong numbers
            raise RefusedError(422, str(error).strip().splitlines()[-1]) from None
        return json.dumps({port.any_name: numbers(request, port) for port in request.model_outputs})

    def feed(self, text):
        """Return the arrays of a body, in the types of the model: a number that would change is refused."""
        try:
            values = json.loads(text, parse_constant=refuse_constant, object_pairs_hook=unique)
        except (ValueError, RecursionError) as error:
            raise RefusedError(400, f"the body is no JSON: {error}") from None
        if not isinstance(values, dict):
            raise RefusedError(422, f"the body must be a JSON object of the inputs {', '.join(self.types)}")
        return {name: array(name, value, self.types[name]) if name in self.types else value for name, value in values.items()}


async def body(receive):
    """Return the body of a request of at most MAX_BODY bytes."""
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RefusedError(400, "the client has gone")
        parts.append(message.get("body", b""))
        size, more = size + len(parts[-1]), message.get("more_body", False)
        if size > MAX_BODY:
            raise RefusedError(413, f"the body has more than {MAX_BODY} bytes")
    return b"".join(parts)


def array(name, value, kind):
    """Return a nested list as an array of a type."""
    try:
        given = np.array(value)
    except (ValueError, OverflowError, RecursionError) as error:
        raise RefusedError(422, f"{name}: {error}") from None
    if given.size == 0:
        raise RefusedError(422, f"{name} is empty: its shape is {list(given.shape)}")
    accepted = {"b": "b", "i": "iu", "u": "iu"}.get(kind.kind, "iuf")
    if given.dtype.kind not in accepted:
        raise RefusedError(422, f"{name} must be a list of {kind} numbers, not {given.dtype}")
    if accepted != "b" and any(isinstance(one, bool) for one in np.array(value, object).flat):  # NumPy takes true as 1
        raise RefusedError(422, f"{name} must be a list of {kind} numbers, not of true or false")
    with np.errstate(over="ignore"):
        converted = given.astype(kind)
    if not np.isfinite(converted).all() or (accepted != "iuf" and (converted != given).any()):
        raise RefusedError(422, f"{name} has a number that does not fit {kind}")
    return converted


def numbers(request, port):
    """Return an output as a nested list."""
    found = request.get_tensor(port).data
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise RefusedError(422, f"output {port.any_name} is not finite for this request")
    return found.tolist()


def unique(pairs):
    """Return an object. Refuse one with a name given twice: others before this server may have read the other value."""
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("an object has the same name twice")
    return found


def refuse_constant(name):
    """Refuse NaN and Infinity, which Python would accept."""
    raise ValueError(f"{name} is no number")


app = Service(os.environ["MODEL"]) if "MODEL" in os.environ else None
