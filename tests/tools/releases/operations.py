"""A script that asks one release of OpenVINO what it has; `release_table.py` runs it. Question and answer are JSON.

{"opsets": {"opset1": [type, ...], ...}, "words": {"opset1 type": {attribute: [word, ...]}}, "element_types": [name, ...]} is
answered by {"operations": [[opset, type], ...], "attributes": {"opset1 type": [name, ...]}, "words": {"opset1 type attribute":
[word, ...]}, "element_types": [name, ...]}: those that the release has. Where it refuses to make a layer that has no inputs, or
crashes, there is no answer about attributes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import openvino
from openvino._pyopenvino import NodeFactory

MODEL = """<net name="model" version="11"><layers>
<layer id="0" name="layer" type="{type}" version="{version}">{data}<output><port id="0" precision="FP32"><dim>1</dim></port>
</output></layer><layer id="1" name="result" type="Result" version="opset1"><input><port id="0" precision="FP32"><dim>1</dim>
</port></input></layer></layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0" /></edges></net>"""
UNKNOWN = ("unsupported opset", "doesn't contain the operation")
CLASS_OF = {"ReLU": "Relu", "PReLU": "PRelu", "SoftMax": "Softmax"}  # IR writes these classes with other names


def main() -> None:
    question = json.load(sys.stdin)
    core = openvino.Core()
    wanted = [(version, layer_type) for version, types in question["opsets"].items() for layer_type in types]
    found = each_apart(lambda item: has_operation(core, *item), wanted)
    operations = [item for item, there in zip(wanted, found, strict=True) if there is not False]  # or it dies later
    attributes = each_apart(lambda item: list(node(*item).get_attributes()), operations)
    choices = [(*item, name) for item in operations for name in question["words"].get(" ".join(item), {})]
    words = each_apart(lambda choice: taken(choice, question["words"][" ".join(choice[:2])][choice[2]]), choices)
    read = each_apart(lambda name: has_element_type(core, name), question["element_types"])
    answer = {
        "operations": operations,
        "attributes": {" ".join(item): names for item, names in zip(operations, attributes, strict=True) if names is not None},
        "words": {" ".join(choice): given for choice, given in zip(choices, words, strict=True) if given is not None},
        "element_types": [name for name, there in zip(question["element_types"], read, strict=True) if there],
    }
    json.dump(answer, sys.stdout)


def node(version: str, layer_type: str) -> Any:
    return NodeFactory(version).create(CLASS_OF.get(layer_type, layer_type))


def has_operation(core: Any, version: str, layer_type: str) -> bool:
    """Whether the reader finds the operation, though it refuses a layer without inputs."""
    try:
        core.read_model(MODEL.format(type=layer_type, version=version, data="").encode(), b"")
    except RuntimeError as error:
        return not any(text in str(error) for text in UNKNOWN)
    return True


def has_element_type(core: Any, name: str) -> bool:
    data = f'<data shape="1" element_type="{name}" />'
    core.read_model(MODEL.format(type="Parameter", version="opset1", data=data).encode(), b"")
    return True


def taken(choice: tuple[str, str, str], words: list[str]) -> list[str]:
    """Select the words that an attribute may be."""
    *item, name = choice
    given = []
    for word in words:
        try:
            node(*item).set_attribute(name, word)
        except RuntimeError:
            continue
        given.append(word)
    return given


def each_apart(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """What a function returns for each item, in a forked process; None where OpenVINO refuses or the process dies."""
    results: list[Any] = []
    while len(results) < len(items):
        reader, writer = os.pipe()
        process = os.fork()
        if process == 0:
            with os.fdopen(writer, "w", buffering=1) as pipe:
                for item in items[len(results) :]:
                    try:
                        result = function(item)
                    except RuntimeError:
                        result = None
                    pipe.write(json.dumps(result) + "\n")
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            results += map(json.loads, pipe)
        os.waitpid(process, 0)
        if len(results) < len(items):
            results.append(None)
    return results


if __name__ == "__main__":
    main()
