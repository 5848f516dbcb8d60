"""An architecture: a model, its example inputs, and which of their dimensions may be open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch import Tensor, nn

BATCH = 2
"""Exporters take a dimension of 1 for a constant, even where it is open; so no example has a batch of 1."""
TOKENS = 32
WORDS = 1000

TRANSFORMER: dict[str, Any] = {
    "d_model": 64,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128,
}
"""Sizes of an encoder and a decoder."""

Axes = tuple[str | None, ...]
TOKEN_AXES: Axes = ("batch", "sequence")
IMAGE: Axes = ("batch",)


@dataclass(frozen=True)
class Architecture:
    """A module whose one variadic argument is `inputs`; `axes` names the dimensions of each that may be open."""

    model: nn.Module
    inputs: dict[str, Tensor]
    axes: Mapping[str, Axes]


class _Call(nn.Module):
    """A model that takes its inputs by name becomes one that takes them by position, and gives tensors alone."""

    def __init__(self, model: nn.Module, names: list[str], fixed: Mapping[str, Any], outputs: list[str]) -> None:
        super().__init__()
        self.model, self.names, self.fixed, self.outputs = model, names, fixed, outputs

    def forward(self, *given: Tensor) -> Tensor | tuple[Tensor, ...]:
        found = self.model(**dict(zip(self.names, given, strict=True)), **self.fixed)
        tensors = tuple(getattr(found, name) for name in self.outputs) or tuple(_tensors(found))
        return tensors if len(tensors) > 1 else tensors[0]


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        yield from _tensors(list(value.values()))
    elif isinstance(value, list | tuple):
        for element in value:
            yield from _tensors(element)


def called(
    model: nn.Module, inputs: dict[str, Tensor], axes: Mapping[str, Axes], outputs: str = "", **fixed: Any
) -> Architecture:
    """An architecture that calls `model` with `inputs` and `fixed` by name, and has the named outputs, or all."""
    return Architecture(_Call(model, list(inputs), fixed, outputs.split()), inputs, axes)


def built(kind: str, **config: Any) -> nn.Module:
    """A model of transformers with random weights: "Bert Model" is a BertModel of a BertConfig."""
    family, head = kind.split()
    return getattr(transformers, family + head)(getattr(transformers, f"{family}Config")(**config))


def image(
    kind: str, outputs: str, size: int = 32, prepare: Callable[[nn.Module, int], None] | None = None, **config: Any
) -> Callable[[], Architecture]:
    """A function that makes a model of a batch of square images; `prepare` changes its weights."""

    def make() -> Architecture:
        model = built(kind, **config)
        if prepare is not None:
            prepare(model, size)
        inputs = {"pixel_values": torch.randn(BATCH, 3, size, size)}
        return called(model, inputs, {"pixel_values": IMAGE}, outputs, return_dict=True)

    return make


class _Function(nn.Module):
    def __init__(self, call: Callable[..., Any]) -> None:
        super().__init__()
        self.call = call

    def forward(self, *given: Tensor) -> Any:
        return self.call(*given)


def plain(call: Callable[..., Any], axes: Mapping[str, Axes] | None = None, **inputs: Tensor) -> Architecture:
    """An architecture of a module or function that takes its inputs by position; where `axes` is not given, each has an open
    first dimension."""
    return Architecture(_Function(call), inputs, axes or dict.fromkeys(inputs, ("batch",)))


def word_ids(*shape: int, words: int = WORDS) -> Tensor:
    """Random ids of words, but not those below 4, which often mean the start, the end or nothing."""
    return torch.randint(4, words, shape)
