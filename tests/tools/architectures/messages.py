"""Graph networks that pass messages along edges, in plain torch, as PyTorch Geometric computes them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tools.architectures.architecture import Architecture, Axes, plain

GRAPH: dict[str, Axes] = {"x": ("nodes", None), "edges": (None, "edges")}
TYPED: dict[str, Axes] = GRAPH | {"kinds": ("edges",)}
MOLECULE: dict[str, Axes] = {"atoms": ("nodes",), "places": ("nodes", None), "edges": (None, "edges")}
WIDTH, NODES, EDGES = 32, 300, 1500


def _sum(messages: Tensor, target: Tensor, like: Tensor) -> Tensor:
    """The sums of the messages to each node of `like`."""
    return messages.new_zeros(like.shape[0], messages.shape[1]).scatter_add(0, _rows(target, messages), messages)


def _rows(index: Tensor, like: Tensor) -> Tensor:
    return index[:, None].expand_as(like)


def _extreme(messages: Tensor, target: Tensor, like: Tensor, which: str) -> Tensor:
    empty = messages.new_zeros(like.shape[0], messages.shape[1])
    return empty.scatter_reduce(0, _rows(target, messages), messages, which, include_self=False)


def _softmax(scores: Tensor, target: Tensor, like: Tensor) -> Tensor:
    """The softmax of scores over the edges to the same node."""
    scores = (scores - _extreme(scores, target, like, "amax").index_select(0, target)).exp()
    return scores / (_sum(scores, target, like).index_select(0, target) + 1e-16)


class _PNA(nn.Module):
    """Principal neighbourhood aggregation: four aggregators, each with three scalers by the degree."""

    def __init__(self) -> None:
        super().__init__()
        self.before = nn.ModuleList(nn.Linear(2 * WIDTH, WIDTH) for _ in range(2))
        self.after = nn.ModuleList(nn.Linear(13 * WIDTH, WIDTH) for _ in range(2))

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        source, target = edges[0], edges[1]
        degree = _sum(torch.ones_like(target, dtype=x.dtype)[:, None], target, x).clamp(min=1)
        for before, after in zip(self.before, self.after, strict=True):
            messages = before(torch.cat([x.index_select(0, target), x.index_select(0, source)], 1))
            mean = _sum(messages, target, x) / degree
            variance = _sum(messages * messages, target, x) / degree - mean * mean
            extremes = [_extreme(messages, target, x, which) for which in ("amin", "amax")]
            found = torch.cat([mean, *extremes, variance.clamp(min=1e-5).sqrt()], 1)
            scale = (degree + 1).log() / 1.8
            x = torch.relu(after(torch.cat([x, found, found * scale, found / scale], 1)))
        return x


def _graph() -> dict[str, Tensor]:
    return {"x": torch.randn(NODES, WIDTH), "edges": torch.randint(0, NODES, (2, EDGES))}


def pna() -> Architecture:
    """300 nodes and 1,500 edges."""
    return plain(_PNA(), GRAPH, **_graph())


class _GATv2(nn.Module):
    """Graph attention whose scores depend on the target, too; four heads."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = (nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(2)) for _ in range(2))
        self.attention = nn.Parameter(torch.randn(2, 4, WIDTH // 4))

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        source, target = edges[0], edges[1]
        for left, right, attention in zip(self.left, self.right, self.attention, strict=True):
            sent = left(x).index_select(0, source).reshape(-1, 4, WIDTH // 4)
            both = sent + right(x).index_select(0, target).reshape(-1, 4, WIDTH // 4)
            scores = (nn.functional.leaky_relu(both, 0.2) * attention).sum(-1)
            weights = _softmax(scores, target, x)
            x = torch.relu(_sum((sent * weights[..., None]).reshape(-1, WIDTH), target, x))
        return x


def gatv2() -> Architecture:
    """300 nodes and 1,500 edges."""
    return plain(_GATv2(), GRAPH, **_graph())


class _Relations(nn.Module):
    """A relational graph network: the edges of each of four kinds have weights of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.weights, self.root = nn.Parameter(torch.randn(4, WIDTH, WIDTH) / 6), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor, edges: Tensor, kinds: Tensor) -> Tensor:
        found = self.root(x)
        for kind, weights in enumerate(self.weights):
            chosen = (kinds == kind).to(x.dtype)[:, None]
            count = _sum(chosen, edges[1], x).clamp(min=1)
            found = found + _sum(x.index_select(0, edges[0]) * chosen, edges[1], x) / count @ weights
        return torch.relu(found)


def rgcn() -> Architecture:
    """300 nodes and 1,500 edges of four kinds."""
    return plain(_Relations(), TYPED, **_graph(), kinds=torch.randint(0, 4, (EDGES,)))


class _SchNet(nn.Module):
    """Continuous filters: each message is weighted by a function of the distance of two atoms."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(20, width)
        self.filters = nn.ModuleList(
            nn.Sequential(nn.Linear(25, width), nn.Softplus(), nn.Linear(width, width)) for _ in range(3)
        )
        self.linears = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.centers = nn.Parameter(torch.linspace(0, 10, 25))

    def forward(self, atoms: Tensor, places: Tensor, edges: Tensor) -> Tensor:
        x, source, target = self.table(atoms), edges[0], edges[1]
        distance = (places.index_select(0, source) - places.index_select(0, target)).square().sum(1, keepdim=True).sqrt()
        smeared = (-3 * (distance - self.centers).square()).exp()
        for weigh, linear in zip(self.filters, self.linears, strict=True):
            x = x + _sum(linear(x).index_select(0, source) * weigh(smeared), target, x)
        return x.sum(1)


def schnet(nodes: int = NODES, edges: int = EDGES, width: int = WIDTH) -> Architecture:
    """Atoms and pairs of neighbours."""
    atoms, places = torch.randint(1, 20, (nodes,)), 3 * torch.randn(nodes, 3)
    return plain(_SchNet(width), MOLECULE, atoms=atoms, places=places, edges=torch.randint(0, nodes, (2, edges)))


class _BlockSparse(nn.Module):
    """Attention of each block of queries to four blocks of keys that are chosen by their means."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(64, 192)

    def forward(self, x: Tensor) -> Tensor:
        blocks = x.reshape(x.shape[0], -1, 16, 64)
        query, key, value = self.project(blocks).chunk(3, -1)
        scores = query.mean(2) @ key.mean(2).transpose(1, 2)
        chosen = scores.topk(4).indices
        keys, values = self._taken(key, chosen), self._taken(value, chosen)
        weights = (query @ keys.transpose(2, 3) / 8).softmax(-1)
        return (weights @ values).reshape(x.shape)

    @staticmethod
    def _taken(blocks: Tensor, chosen: Tensor) -> Tensor:
        batch, count, size, width = blocks.shape
        index = chosen.reshape(batch, -1, 1, 1).expand(-1, -1, size, width)
        return blocks.gather(1, index).reshape(batch, count, -1, width)


def block_sparse() -> Architecture:
    """256 tokens in blocks of 16."""
    return plain(_BlockSparse(), {"x": ("batch", None, None)}, x=torch.randn(2, 256, 64))


def _sample(image: Tensor, grid: Tensor) -> Tensor:
    batch, channels, height, width = image.shape
    place = (grid + 1) / 2 * torch.tensor([width - 1, height - 1])
    low = place.floor()
    part, flat = (place - low)[:, None], image.flatten(2)
    found = torch.zeros(batch, channels, grid.shape[1])
    for right in (0, 1):
        for down in (0, 1):
            x, y = (low[..., 0].long() + right).clamp(0, width - 1), (low[..., 1].long() + down).clamp(0, height - 1)
            weight = (part[..., 0] if right else 1 - part[..., 0]) * (part[..., 1] if down else 1 - part[..., 1])
            found = found + weight * flat.gather(2, (y * width + x)[:, None].expand(-1, channels, -1))
    return found


def grid_gather() -> Architecture:
    """Bilinear samples of an image at 2,000 places by gathers, as written where GridSample is not supported."""
    axes: dict[str, Axes] = {"image": ("batch", None, None, None), "grid": ("batch", None, None)}
    return plain(_sample, axes, image=torch.randn(2, 16, 32, 32), grid=torch.rand(2, 2000, 2) * 2 - 1)
