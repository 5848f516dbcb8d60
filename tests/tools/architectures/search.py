"""Search, losses, tables and caches, written by hand as their publications do."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tools import real_models
from tools.architectures.architecture import WORDS, Architecture, plain


def beam() -> Architecture:
    """A step of beam search."""
    model, inputs = real_models.beam()
    return plain(model, **inputs)


def ctc() -> Architecture:
    """The scores of the labels in each frame."""
    model, inputs = real_models.ctc()
    return plain(model, {"features": ("batch", "frames"), "labels": ("batch", "labels")}, **inputs)


def last_frame() -> Architecture:
    """The last valid frame of each sequence."""
    model, inputs = real_models.last_frame()
    return plain(model, {"features": ("batch", "frames"), "lengths": ("batch",)}, **inputs)


class _RNNT(nn.Module):
    """The scores of blank and of the next label at each place of the lattice, as the RNNT loss starts."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.linear = nn.Embedding(100, 32), nn.Linear(32, 100)

    def forward(self, features: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        blank = torch.zeros_like(labels[:, :1])
        joint = features[:, :, None] + self.table(torch.cat([blank, labels], 1))[:, None]
        scores = self.linear(torch.tanh(joint)).log_softmax(-1)
        following = torch.cat([labels, blank], 1)[:, None, :, None].expand(-1, features.shape[1], -1, 1)
        return scores[..., 0], scores.gather(3, following).squeeze(3)


def rnnt() -> Architecture:
    """The lattice of 50 frames and 12 labels."""
    axes = {"features": ("batch", "frames", None), "labels": ("batch", "labels")}
    return plain(_RNNT(), axes, features=torch.randn(2, 50, 32), labels=torch.randint(1, 100, (2, 12)))


def _viterbi(emissions: Tensor, transitions: Tensor) -> Tensor:
    score, back = emissions[:, 0], []
    for position in range(1, emissions.shape[1]):
        best, index = (score[:, :, None] + transitions).max(1)
        score, back = best + emissions[:, position], [*back, index]
    tags = [score.argmax(1, keepdim=True)]
    for index in reversed(back):
        tags.append(index.gather(1, tags[-1]))
    return torch.cat(tags[::-1], 1)


def crf() -> Architecture:
    """The best tags of a conditional random field: each step back gathers the tag that the last one came from."""
    axes = {"emissions": ("batch", None, None), "transitions": (None, None)}
    return plain(_viterbi, axes, emissions=torch.randn(2, 10, 9), transitions=torch.randn(9, 9))


class _CrossEntropy(nn.Module):
    """A classifier of words and the loss of each, where -100 means that there is no label."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.linear = nn.Linear(64, words)

    def forward(self, features: Tensor, labels: Tensor) -> Tensor:
        scores = self.linear(features).log_softmax(-1)
        found = scores.gather(2, labels.clamp(min=0)[..., None]).squeeze(2)
        return torch.where(labels == -100, 0.0, -found)


def cross_entropy(batch: int = 2, length: int = 40, words: int = WORDS) -> Architecture:
    """Losses of labels, the last quarter of which is missing."""
    labels = torch.randint(0, words, (batch, length))
    labels[:, length * 3 // 4 :] = -100
    axes = {"features": ("batch", "sequence", None), "labels": ("batch", "sequence")}
    return plain(_CrossEntropy(words), axes, features=torch.randn(batch, length, 64), labels=labels)


class _LookupTable(nn.Module):
    """A colour table of 17 x 17 x 17, read at the eight corners around each pixel's colour."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.rand(17, 17, 17, 3))

    def forward(self, image: Tensor) -> Tensor:
        place = image.clamp(0, 1) * 16
        low = place.floor().clamp(max=15).long()
        part = place - low
        total = torch.zeros_like(image)
        for corner in range(8):
            step = torch.tensor([corner >> 2 & 1, corner >> 1 & 1, corner & 1])
            weight = torch.where(step.bool(), part, 1 - part).prod(-1, keepdim=True)
            red, green, blue = (low + step).unbind(-1)
            total = total + weight * self.table[red, green, blue]
        return total


def lookup_table(height: int = 48, width: int = 64) -> Architecture:
    """Two images."""
    return plain(_LookupTable(), {"image": ("batch", "height", "width", None)}, image=torch.rand(2, height, width, 3))


class _HashGrid(nn.Module):
    """Features of hashed cells at several resolutions, as in Instant NGP."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.Parameter(torch.randn(3, 4096, 2))

    def forward(self, points: Tensor) -> Tensor:
        found = []
        for level, table in enumerate(self.tables):
            cell = (points * (16 << level)).floor().long()
            key = (cell[:, 0] ^ cell[:, 1] * 19349 ^ cell[:, 2] * 8349).remainder(4096)
            found.append(table[key])
        return torch.cat(found, 1)


def hash_grid() -> Architecture:
    """1,000 points in the unit cube."""
    return plain(_HashGrid(), points=torch.rand(1000, 3))


class _Recommender(nn.Module):
    """A DLRM: each categorical feature has a table, the first hashed by a remainder, and the last is a bag."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(size, 16) for size in (1000, 50, 7))
        self.bag, self.top = nn.Embedding(200, 16, padding_idx=0), nn.Linear(16 * 5, 1)
        self.dense = nn.Linear(13, 16)

    def forward(self, dense: Tensor, categories: Tensor, visited: Tensor) -> Tensor:
        hashed = [categories[:, 0].remainder(1000), categories[:, 1], categories[:, 2].clamp(0, 6)]
        rows = [table(index) for table, index in zip(self.tables, hashed, strict=True)]
        rows.append((self.bag(visited) * (visited > 0)[..., None]).sum(1))
        return self.top(torch.cat([self.dense(dense), *rows], 1)).sigmoid()


def recommender(users: int = 16) -> Architecture:
    """Users of 13 numbers, three categories and ten visited pages."""
    inputs = {"dense": torch.randn(users, 13), "visited": torch.randint(0, 200, (users, 10))}
    categories = torch.stack([torch.randint(0, size, (users,)) for size in (10**6, 50, 7)], 1)
    return plain(_Recommender(), dense=inputs["dense"], categories=categories, visited=inputs["visited"])


class _PagedCache(nn.Module):
    """New keys are written to the slots of a paged cache, and each request reads the blocks of its table."""

    def forward(self, cache: Tensor, keys: Tensor, slots: Tensor, blocks: Tensor) -> tuple[Tensor, Tensor]:
        flat = cache.reshape(-1, cache.shape[2]).index_copy(0, slots, keys)
        cache = flat.reshape(cache.shape)
        return cache, cache[blocks]


def paged_cache() -> Architecture:
    """32 blocks of 8 keys; 2 requests with 4 blocks each."""
    axes = {"cache": ("all", None, None), "keys": ("new", None), "slots": ("new",), "blocks": ("batch", "blocks")}
    inputs = {"cache": torch.randn(32, 8, 64), "keys": torch.randn(6, 64), "slots": torch.randperm(256)[:6]}
    return plain(_PagedCache(), axes, **inputs, blocks=torch.randint(0, 32, (2, 4)))


class _Quantizer(nn.Module):
    """Each vector becomes the nearest of a codebook, and the rest goes to the next, as in residual vector quantisation."""

    def __init__(self) -> None:
        super().__init__()
        self.books = nn.Parameter(torch.randn(4, 64, 32))

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        rest, codes = features, []
        for book in self.books:
            distance = rest.square().sum(-1, keepdim=True) - 2 * rest @ book.T + book.square().sum(-1)
            codes.append(distance.argmin(-1))
            rest = rest - book[codes[-1]]
        return torch.stack(codes), features - rest


def quantizer() -> Architecture:
    """50 frames of width 32."""
    return plain(_Quantizer(), {"features": ("batch", "frames", None)}, features=torch.randn(2, 50, 32))


class _Depths(nn.Module):
    """A mixture of depths: only the best quarter of the tokens goes through the layer, and returns to its places."""

    def __init__(self) -> None:
        super().__init__()
        self.router, self.layer = nn.Linear(64, 1), nn.Linear(64, 64)

    def forward(self, x: Tensor) -> Tensor:
        weight, place = self.router(x).squeeze(2).topk(16, sorted=False)
        place, order = place.sort(1)
        index = place[..., None].expand(-1, -1, x.shape[2])
        chosen = self.layer(x.gather(1, index)) * weight.gather(1, order)[..., None]
        return x.scatter_add(1, index, chosen)


def mixture_of_depths() -> Architecture:
    """64 tokens of width 64."""
    return plain(_Depths(), {"x": ("batch", "sequence", None)}, x=torch.randn(2, 64, 64))


def _spans(start: Tensor, end: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
    count = start.shape[1]
    both = start[:, :, None] + end[:, None, :]
    score, best = both.triu().reshape(start.shape[0], -1).max(1)
    first, last = best // count, best % count
    inside = torch.arange(8)[None] + first[:, None]
    return score, words.gather(1, torch.minimum(inside, last[:, None]))


def answer_spans() -> Architecture:
    """The best span of an answer: the largest of all pairs of a start and an end, and the words in it."""
    inputs = {"start": torch.randn(2, 32), "end": torch.randn(2, 32), "words": torch.randint(0, WORDS, (2, 32))}
    return plain(_spans, dict.fromkeys(inputs, ("batch", "sequence")), **inputs)
