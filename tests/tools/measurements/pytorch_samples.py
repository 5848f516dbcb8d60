"""Convert PyTorch's own samples of operators that index, by OpenVINO alone and by ours for both targets.

The samples are those that PyTorch tests the operators with. Each becomes a program, is converted and executed in a worker
process, so that a crash is an outcome, and is compared with PyTorch: shape, type, and numbers within a thousandth. Samples that
differ only in their numbers share a program. Those that PyTorch does not export are left out. `--verbose` lists all that do not
pass through ours, with the reason. Fails if ours is wrong without a LossyConversionWarning, crashes, or does not pass what
OpenVINO alone passes. Needs torch and expecttest.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track

from helpers.worker_process import DiedError, Worker

from .onnx_backend import OUTCOMES, Outcome

OPERATORS = (
    *("gather", "index_add", "index_copy", "index_fill", "index_put", "index_reduce", "index_select", "__getitem__"),
    *("masked_select", "nn.functional.embedding", "nn.functional.embedding_bag", "nn.functional.one_hot", "nonzero"),
    *("scatter", "scatter_add", "scatter_reduce", "take", "take_along_dim", "topk", "unique", "unique_consecutive"),
)
TYPES = ("float32", "float16", "int64", "int32", "uint8", "bool")
WAYS = ("OpenVINO alone", "target stock", "target extension")
COLUMNS = ("operator", "samples", *WAYS)
LIMIT = 120.0
"""Seconds for the samples of a program."""
EXACT = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
ELSEWHERE = ("i64 is computed as i32", "an index")
"""Losses of numbers beyond 32 bits and of indices out of bounds, which samples do not have: they explain nothing."""
Array = np.ndarray[Any, Any]


class Group(NamedTuple):
    """Samples of one program: the number of an operator in PyTorch's list, an element type, the numbers of the samples."""

    operator: int
    kind: str
    numbers: tuple[int, ...]


def measure(*operators: str, verbose: bool = False) -> Iterator[tuple[str, ...] | str]:
    worker: Worker[tuple[Group, Sequence[str]], dict[str, list[Outcome]]] = Worker(judge, daemon=True)
    told, bad = list[str](), 0
    for name in operators or OPERATORS:
        counts: dict[str, Counter[str]] = {way: Counter() for way in WAYS}
        for group in track(list(groups_of(name)), name, console=Console(stderr=True)):
            try:
                outcomes = worker.call((group, WAYS), LIMIT)
            except DiedError:
                outcomes = {way: _alone(worker, group, way) for way in WAYS}
            for way, found in outcomes.items():
                counts[way].update(what for what, _ in found)
            for position, (stock, *ours) in enumerate(zip(*outcomes.values(), strict=True)):
                is_bad = any(what in ("wrong", "crash") or (stock[0] == "passed" and what != "passed") for what, _ in ours)
                bad += is_bad
                if is_bad or (verbose and any(what != "passed" for what, _ in ours)):
                    told.append(f"{_told_group(group, position)}: {stock}, {', '.join(map(str, ours))}")
        cells = [", ".join(f"{found[what]:,} {what}" for what in OUTCOMES if found[what]) for found in counts.values()]
        yield name, f"{counts[WAYS[0]].total():,}", *cells
    yield from told
    if bad:
        sys.exit(f"wrong in silence, crashed, or not passed although OpenVINO alone passes: {bad}")


def groups_of(name: str) -> Iterator[Group]:
    """Yield the samples of an operator, by program."""
    for operator, info in enumerate(_operators()):
        for kind in TYPES if info.name == name else ():
            alike: dict[str, list[int]] = {}
            for number, sample in enumerate(_samples(operator, kind)):
                alike.setdefault(str([_form(given) for given in _arguments(sample)]), []).append(number)
            yield from (Group(operator, kind, tuple(numbers)) for numbers in alike.values())


def judge(call: tuple[Group, Sequence[str]]) -> dict[str, list[Outcome]]:
    """Return what ways of conversion made of the samples of a group; nothing if PyTorch does not export them."""
    import torch

    sys.argv[1:] = []  # convert_model of OpenVINO prints much if --verbose is there,
    os.environ["CI"] = "true"  # and reports each call to its vendor unless this is set
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable()
    group, ways = call
    drawn = _samples(group.operator, group.kind)
    samples = [drawn[number] for number in group.numbers]
    program = _program(_operators()[group.operator].op, samples[0])
    feeds = [[given for _, given in _arguments(sample) if isinstance(given, torch.Tensor)] for sample in samples]
    try:
        exported = torch.export.export(program, tuple(given.clone() for given in feeds[0]))
        results = [program(*(given.clone() for given in tensors)) for tensors in feeds]
    except Exception:  # PyTorch raises errors without a common base
        return {way: [] for way in ways}
    expected = [[one.numpy() for one in (found if isinstance(found, tuple | list) else [found])] for found in results]
    axis = next((given for name, given in _arguments(samples[0])[2:] if name in ("", "dim")), -1)
    axis = axis if _operators()[group.operator].name == "topk" else None
    arrays = [[given.numpy() for given in tensors] for tensors in feeds]
    calls = frozenset(str(node.target) for node in exported.graph.nodes if node.op == "call_function")
    if calls not in _unknown:
        exported = _decomposed(exported)
        found = {way: _outcomes(way, exported, arrays, expected, axis) for way in ways}
        is_unknown = any(UNKNOWN in outcomes[0][1] for outcomes in found.values())
        if not is_unknown or any(outcome[0] != "refused" for outcomes in found.values() for outcome in outcomes):
            return found
        _unknown[calls] = {way: outcomes[0] for way, outcomes in found.items()}
    return {way: [_unknown[calls][way]] * len(samples) for way in ways}


UNKNOWN = "No conversion rule found"
_unknown: dict[frozenset[str], dict[str, Outcome]] = {}
"""Outcomes of programs with an operator that OpenVINO does not know, by their operators: it does not look at the rest."""


def _decomposed(exported: Any) -> Any:
    """Decompose a program as OpenVINO does, once for all ways: PyTorch takes 0.2 s for the smallest program."""
    from openvino.frontend.pytorch.fx_decoder import TorchFXPythonDecoder

    try:
        if TorchFXPythonDecoder._decomp_table is None:
            TorchFXPythonDecoder.from_exported_program(exported)
        found = exported.run_decompositions(TorchFXPythonDecoder._decomp_table)
    except Exception:  # PyTorch raises errors without a common base; each way meets them again
        return exported
    found.run_decompositions = lambda _: found
    return found


def _outcomes(
    way: str, exported: Any, feeds: list[list[Array]], expected: list[list[Array]], axis: int | None
) -> list[Outcome]:
    import openvino

    import ov_gather
    from ov_gather.converters import LossyConversionWarning, convert_model

    convert: Mapping[str, Callable[[Any], openvino.Model]] = {
        "OpenVINO alone": openvino.convert_model,
        "target stock": convert_model,
        "target extension": lambda program: convert_model(program, target="extension"),
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LossyConversionWarning)
        try:
            model = convert[way](exported)
            compiled = ov_gather.register(openvino.Core()).compile_model(model, "CPU", EXACT)
        except Exception as error:  # any error is a refusal
            return [("refused", _line(error))] * len(feeds)
    told = [str(each.message) for each in caught if issubclass(each.category, LossyConversionWarning)]
    losses = " ".join(text for text in told if not text.startswith(ELSEWHERE))
    return [_outcome(compiled, *each, axis, losses) for each in zip(feeds, expected, strict=True)]


def _outcome(compiled: Any, feeds: list[Array], expected: list[Array], axis: int | None, losses: str) -> Outcome:
    try:
        request = compiled.create_infer_request()
        request.start_async(feeds[: len(compiled.inputs)])
        request.wait()
    except (RuntimeError, TypeError) as error:
        return "refused", _line(error)
    found = [tensor.data for tensor in request.output_tensors]
    if axis is not None:
        found, expected = [*_without_ties(feeds[0], found, axis)], [*_without_ties(feeds[0], expected, axis)]
    if len(found) == len(expected) and all(map(_is_close, found, expected)):
        return "passed", ""
    reason = f"{_told(found)} instead of {_told(expected)}"
    return ("warned", f"{losses} ({reason})") if losses else ("wrong", reason)


def _without_ties(data: Array, results: list[Array], axis: int) -> Iterator[Array]:
    """Yield what is defined of the results of topk: values, the elements at the indices, and whether these differ.

    PyTorch leaves it open which of equal elements are meant.
    """
    values, indices = results
    yield values
    if data.ndim == 0:
        yield indices
        return
    yield np.take_along_axis(data, indices, axis)
    yield np.all(np.diff(np.sort(indices, axis), axis=axis) > 0, keepdims=True)


def _is_close(found: Array, expected: Array) -> bool:
    is_alike = found.shape == expected.shape and found.dtype == expected.dtype
    return is_alike and bool(np.allclose(found.astype(float), expected.astype(float), 1e-3, 1e-5, True))


def _alone(worker: Worker[tuple[Group, Sequence[str]], dict[str, list[Outcome]]], group: Group, way: str) -> list[Outcome]:
    try:
        return worker.call((group, (way,)), LIMIT)[way]
    except DiedError as death:
        return [("crash", str(death))] * len(group.numbers)


def _program(call: Callable[..., Any], sample: Any) -> Any:
    """Return a call of an operator as a program: its tensors are inputs, all else is constant."""
    import torch

    class Program(torch.nn.Module):  # type: ignore[misc]
        def forward(self, *tensors: Any) -> Any:
            left = iter(tensors)
            given = [(name, next(left) if isinstance(one, torch.Tensor) else one) for name, one in _arguments(sample)]
            return call(*(one for name, one in given if not name), **{name: one for name, one in given if name})

    return Program()


def _arguments(sample: Any) -> list[tuple[str, Any]]:
    return [*(("", given) for given in (sample.input, *sample.args)), *sample.kwargs.items()]


def _form(named: tuple[str, Any]) -> str:
    """Return what a program knows of an argument: of a tensor, its sizes and type."""
    name, given = named
    return f"{name}={(tuple(given.shape), given.dtype) if hasattr(given, 'dtype') else given}"


def _operators() -> Sequence[Any]:
    from torch.testing._internal.common_methods_invocations import op_db

    return op_db  # type: ignore[no-any-return]


def _told_group(group: Group, position: int) -> str:
    info = _operators()[group.operator]
    return f"{info.name} {info.variant_test_name} {group.kind} {group.numbers[position]}"


def _samples(operator: int, kind: str) -> list[Any]:
    """Return the samples of an operator, the same ones each time."""
    import torch

    info, element_type = _operators()[operator], getattr(torch, kind)
    torch.manual_seed(0)
    return list(info.sample_inputs("cpu", element_type)) if element_type in info.dtypes else []


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:1000]}"


def _told(arrays: list[Array]) -> str:
    return " ".join(", ".join(f"{one.dtype}{[*one.shape]} {one.ravel()[:4].tolist()}" for one in arrays).split())
