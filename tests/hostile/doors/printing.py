"""Every command that prints, in every format, with hostile names of files, models, layers and tensors."""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

from helpers.command_server import CommandServer
from helpers.hostile_names import NAMES, check_characters, check_format, check_lines
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir

TRIALS = 32
SECONDS = 120
IR_COMMANDS = (
    *(("validate", "{ir}", "--statistics", "--format", name) for name in ("text", "concise", "json")),
    *(("validate", "{ir}", "--verbose", "--format", name) for name in ("sarif", "junit", "github", "markdown")),
    ("validate", "{ir}", "-o", "{out}.json", "--format", "json"),
    ("fix", "{ir}", "--diff", "--unsafe"),
    ("fix", "{ir}", "--unsafe"),
    ("oldest", "{ir}"),
    ("validate", "{ir}", "--baseline", "{out}.base", "--write-baseline"),
    ("validate", "{ir}.none"),
    *(("prove", "{ir}", "--format", name) for name in ("text", "json", "sarif", "github")),
    ("prove", "{ir}", "--verbose"),
    ("prove", "{ir}", "--assume", "{name}=0..3"),
    *(("diff", "{ir}", "{other}", "--format", name) for name in ("text", "json", "github")),
    *(("check", "{ir}", "--cases", "2", "--report", "{out}.html", "--format", name) for name in ("text", "json", "junit")),
    *(("bisect", "{ir}", "{other}", "-o", "{out}", "--report", "{out}.html", "--format", name) for name in ("text", "json")),
    ("accelerate", "{ir}", "-o", "{out}.xml"),
    ("harden", "{ir}", "-o", "{out}.xml", "--policy", "clamp"),
    ("run", "{ir}", "--input", "{name}={out}.npy", "-o", "{out}.npy"),
    ("explain", "{name}"),
    ("{name}",),
)
ONNX_COMMANDS = (
    ("convert", "{onnx}", "-o", "{out}.xml"),
    ("convert", "{onnx}", "-o", "{out}.xml", "--verify"),
    ("convert", "{onnx}", "-o", "{out}.xml", "--target", "extension", "--strict"),
    ("legalize", "{onnx}", "-o", "{out}.onnx"),
    ("extract", "{onnx}", "-o", "{out}"),
    ("convert", "{onnx}", "{onnx}", "-o", "{out}"),
    ("check", "{onnx}", "--cases", "2", "--report", "{out}.html"),
    ("prove", "{onnx}"),
)


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Run one command on models and files with random hostile names; check everything that it prints and writes."""
    name, file = (NAMES[rng.integers(len(NAMES))] for _ in range(2))
    stem = file.translate({0: None, ord("/"): "_"}) if rng.integers(2) else "model"
    paths = {"ir": f"{stem}.xml", "other": "other.xml", "onnx": f"{stem}.onnx", "out": "made", "name": name.replace("\0", "")}
    commands = IR_COMMANDS if rng.integers(3) else ONNX_COMMANDS
    command = [word.format(**paths) for word in commands[rng.integers(len(commands))]]
    if commands is IR_COMMANDS:
        for path in (paths["ir"], paths["other"]):
            _write_ir(rng, folder / path)
    else:
        _write_onnx(rng, folder / paths["onnx"])
    done = _server().run(command, cwd=folder)
    where = f"{command}: exit {done.returncode}"
    assert done.returncode in (0, 1, 2), f"{where}\n{done.stderr}"
    assert "Traceback" not in done.stderr, f"{where}\n{done.stderr}"
    assert done.returncode or done.stdout or done.stderr, where
    format_ = command[command.index("--format") + 1] if "--format" in command and "-o" not in command[:3] else "text"
    if done.returncode != 2:
        check_format(done.stdout, format_, where)
    for text in (done.stdout, done.stderr):
        check_lines(text, where)
    for path, written in ((folder / "made.html", "html"), (folder / "made.json", "json"), (folder / "made.xml", "junit")):
        if path.exists():
            check_format(path.read_text(), written, f"{where}: {path.name}")
            if written != "junit":  # this is an IR, with the names unchanged
                check_characters(path.read_text(), f"{where}: {path.name}")


@cache
def _server() -> CommandServer:
    server = CommandServer().__enter__()
    atexit.register(server.__exit__)
    return server


def _names(rng: np.random.Generator, count: int) -> list[str]:
    return [f"{NAMES[rng.integers(len(NAMES))]}{i}" for i in range(count)]


def _write_ir(rng: np.random.Generator, path: Path) -> None:
    """Write a gather; sometimes break a size, an edge or an attribute."""
    model, data, indices, axis, layer, output = _names(rng, 6)
    builder = ModelBuilder(model)
    inputs = [
        builder.parameter(data, F32, PartialShape.of((5, 3))),
        builder.const(indices, I64, np.array(rng.integers(-6, 7, 2))),
        builder.const(axis, I64, np.array(0)),
    ]
    shape = PartialShape.of((2, 3))
    (value,) = builder.layer("Gather", layer, "opset8", {"batch_dims": "0"}, inputs, [(F32, shape)], tensor=output)
    builder.result(output, value)
    write_ir(builder.build(), path)
    breaks = (("<dim>2</dim>", "<dim>4</dim>"), ('to-port="1"', 'to-port="9"'), ('batch_dims="0"', 'batch_dims="7"'), ("", ""))
    old, new = breaks[rng.integers(len(breaks))]
    path.write_text(path.read_text().replace(old, new, 1))


def _write_onnx(rng: np.random.Generator, path: Path) -> None:
    """Write a gather whose indices are an input, or constant and possibly out of bounds; or a node of an unknown operator."""
    graph, data, indices, first, second, output = _names(rng, 6)
    if rng.integers(2):
        data, indices, output = "data", "indices", "output"
    nodes = [
        helper.make_node("Gather", [data, indices], [first], name=second, axis=0),
        helper.make_node("Neg" if rng.integers(4) else "Unknown", [first], [output], name=first),
    ]
    given = [helper.make_tensor_value_info(data, TensorProto.FLOAT, [5, 3])]
    constant = [helper.make_tensor(indices, TensorProto.INT64, [2], rng.integers(-6, 7, 2))]
    if rng.integers(2):
        given, constant = [*given, helper.make_tensor_value_info(indices, TensorProto.INT64, [2])], []
    made = [helper.make_tensor_value_info(output, TensorProto.FLOAT, [2, 3])]
    proto = helper.make_graph(nodes, graph, given, made, constant)
    model = helper.make_model(proto, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path.write_bytes(model.SerializeToString())
