"""Models with gathers of a few elements for each row of a batch, where calling an operation costs more than computing it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tools.architectures.architecture import BATCH, WORDS, Architecture, Axes, plain

STEPS, TAGS = 16, 9
ROW: Axes = ("batch", None)


def _backtrack(pointers: Tensor, tag: Tensor) -> Tensor:
    for _ in range(STEPS):
        tag = pointers.gather(1, tag)
    return tag


def backtrack() -> Architecture:
    """A chain of sixteen GatherElements, [n, 9] by [n, 1], as a Viterbi decoder goes back."""
    inputs = {"pointers": torch.randint(0, TAGS, (BATCH, TAGS)), "tag": torch.randint(0, TAGS, (BATCH, 1))}
    return plain(_backtrack, dict.fromkeys(inputs, ROW), **inputs)


def _picks(index: Tensor, *data: Tensor) -> tuple[Tensor, ...]:
    return tuple(each.gather(1, index) for each in data)


def picks() -> Architecture:
    """Sixteen GatherElements, [n, 9] by [n, 1], that share their indices."""
    inputs = {"index": torch.randint(0, TAGS, (BATCH, 1))} | {f"x{i}": torch.randn(BATCH, TAGS) for i in range(STEPS)}
    return plain(_picks, dict.fromkeys(inputs, ROW), **inputs)


def _experts(logits: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    scores = logits.sigmoid()
    chosen = (scores + bias).topk(2).indices
    weights = scores.gather(1, chosen)
    return weights / weights.sum(1, keepdim=True), chosen


def experts() -> Architecture:
    """A router that chooses two of eight experts by biased scores, and weighs them by unbiased ones, as in DeepSeek-V3."""
    return plain(_experts, {"logits": ROW, "bias": (None,)}, logits=torch.randn(BATCH, 8), bias=torch.randn(8))


def _labels(logits: Tensor, labels: Tensor) -> Tensor:
    return logits.log_softmax(1).gather(1, labels)


def labels() -> Architecture:
    """The log-probabilities of five labels of 1,000."""
    inputs = {"logits": torch.randn(BATCH, WORDS), "labels": torch.randint(0, WORDS, (BATCH, 5))}
    return plain(_labels, dict.fromkeys(inputs, ROW), **inputs)


def _best(logits: Tensor) -> Tensor:
    return logits.log_softmax(1).gather(1, logits.topk(5).indices)


def best() -> Architecture:
    """The log-probabilities of the best five of 1,000 words: the batch of indices and logits is known to be the same."""
    return plain(_best, {"logits": ROW}, logits=torch.randn(BATCH, WORDS))


class _History(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(WORDS, 16)

    def forward(self, visited: Tensor, lengths: Tensor) -> Tensor:
        return self.table(visited)[torch.arange(visited.shape[0]), lengths.clamp(1, 20) - 1]


def history() -> Architecture:
    """The embedding of the last of 20 visited pages: Gather, then GatherND."""
    inputs = {"visited": torch.randint(0, WORDS, (BATCH, 20)), "lengths": torch.randint(1, 21, (BATCH,))}
    return plain(_History(), {"visited": ROW, "lengths": ("batch",)}, **inputs)


class _Crosses(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.bias = nn.Parameter(torch.randn(50, 20, 16)), nn.Parameter(torch.randn(50, 20))

    def forward(self, user: Tensor, item: Tensor) -> tuple[Tensor, Tensor]:
        user, item = user.remainder(50), item.remainder(20)
        return self.table[user, item], self.bias[user, item]


def crosses() -> Architecture:
    """A row and a number for each pair of hashed features: GatherND by two coordinates."""
    inputs = {name: torch.randint(0, 10**6, (BATCH,)) for name in ("user", "item")}
    return plain(_Crosses(), **inputs)


def _sample(logits: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    best, order = logits.topk(50)
    scores = best.softmax(1)
    kept = torch.where(scores.cumsum(1) - scores < 0.9, scores, 0.0)
    chosen = ((kept / kept.sum(1, keepdim=True)).cumsum(1) < noise).sum(1, keepdim=True).clamp(max=49)
    return order.gather(1, chosen), best.gather(1, chosen)


def sampler() -> Architecture:
    """Sampling of the next word among the best 50 of 1,000 with at most 90% of the probability; `noise` is uniform."""
    inputs = {"logits": 3 * torch.randn(BATCH, WORDS), "noise": torch.rand(BATCH, 1)}
    return plain(_sample, dict.fromkeys(inputs, ROW), **inputs)


class _Interests(nn.Module):
    """A deep interest network: a candidate attends to what a user visited before."""

    def __init__(self) -> None:
        super().__init__()
        self.items, self.users = nn.Embedding(WORDS, 16), nn.Embedding(200, 16)
        self.weigh = nn.Sequential(nn.Linear(64, 32), nn.Sigmoid(), nn.Linear(32, 1))
        self.top = nn.Sequential(nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, user: Tensor, item: Tensor, visited: Tensor) -> Tensor:
        wanted, past = self.items(item), self.items(visited)
        query = wanted[:, None].expand_as(past)
        weights = self.weigh(torch.cat([query, past, query - past, query * past], 2)).squeeze(2)
        interest = (torch.where(visited > 0, weights, 0.0)[..., None] * past).sum(1)
        last = past[torch.arange(visited.shape[0]), (visited > 0).sum(1).clamp(1, 20) - 1]
        return self.top(torch.cat([self.users(user), wanted * last, interest], 1)).sigmoid()


def interests() -> Architecture:
    """Users, candidates, and 20 visited items of each user."""
    inputs = {"user": torch.randint(0, 200, (BATCH,)), "item": torch.randint(1, WORDS, (BATCH,))}
    inputs["visited"] = torch.randint(1, WORDS, (BATCH, 20))
    return plain(_Interests(), {"user": ("batch",), "item": ("batch",), "visited": ROW}, **inputs)
