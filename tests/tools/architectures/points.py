"""Graphs and clouds of points."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tools import real_models
from tools.architectures.architecture import Architecture, Axes, plain

GRAPH: dict[str, Axes] = {"x": ("nodes", None), "edges": (None, "edges")}
CLOUD: dict[str, Axes] = {"points": ("batch", "points", None)}


def gnn() -> Architecture:
    """A graph network by torch.gather."""
    model, inputs = real_models.gnn()
    return plain(model, GRAPH, **inputs)


def knn() -> Architecture:
    """Nearest neighbours, as in DGCNN."""
    model, _ = real_models.knn()
    return plain(model, CLOUD, points=torch.randn(2, 512, 3))


def _graph(nodes: int, edges: int, width: int) -> dict[str, Tensor]:
    return {"x": torch.randn(nodes, width), "edges": torch.randint(0, nodes, (2, edges))}


class _Layers(nn.Module):
    """Layers of PyTorch Geometric."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        for layer in self.layers:
            x = torch.relu(layer(x, edges))
        return x


def gat(nodes: int = 300, edges: int = 1500, width: int = 32) -> Architecture:
    """Graph attention: PyG's GATConv."""
    from torch_geometric.nn import GATConv

    layers = _Layers(GATConv(width, width // 2, heads=4), GATConv(2 * width, width))
    return plain(layers, GRAPH, **_graph(nodes, edges, width))


def gcn(nodes: int = 300, edges: int = 1500, width: int = 32) -> Architecture:
    """Graph convolution: PyG's GCNConv."""
    from torch_geometric.nn import GCNConv

    layers = _Layers(GCNConv(width, 2 * width), GCNConv(2 * width, width))
    return plain(layers, GRAPH, **_graph(nodes, edges, width))


def sage(nodes: int = 300, edges: int = 1500, width: int = 32, first: str = "max") -> Architecture:
    """The largest, or another aggregation, and the mean of the neighbours: PyG's SAGEConv."""
    from torch_geometric.nn import SAGEConv

    layers = _Layers(SAGEConv(width, 2 * width, aggr=first), SAGEConv(2 * width, width))
    return plain(layers, GRAPH, **_graph(nodes, edges, width))


def gin(nodes: int = 300, edges: int = 1500, width: int = 32) -> Architecture:
    """Graph isomorphism: PyG's GINConv."""
    from torch_geometric.nn import GINConv

    layers = _Layers(GINConv(nn.Linear(width, 2 * width)), GINConv(nn.Linear(2 * width, width)))
    return plain(layers, GRAPH, **_graph(nodes, edges, width))


def _rows(x: Tensor, index: Tensor) -> Tensor:
    """Rows of x [batch, n, width] by index [batch, ...], as implementations of PointNet++ write it."""
    batch = torch.arange(x.shape[0]).reshape(-1, *[1] * (index.dim() - 1)).expand_as(index)
    return x[batch, index]


def _farthest(points: Tensor, count: int) -> Tensor:
    """Places of points far from each other."""
    distance = torch.full_like(points[..., 0], 1e10)
    farthest = torch.zeros_like(points[:, 0, 0]).long()
    found = []
    for _ in range(count):
        found.append(farthest)
        center = _rows(points, farthest[:, None])
        distance = torch.minimum(distance, (points - center).square().sum(-1))
        farthest = distance.argmax(-1)
    return torch.stack(found, 1)


def _ball(points: Tensor, centers: Tensor, radius: float, count: int) -> Tensor:
    """Places of points within a radius of each center; places without a point repeat the first."""
    distance = (centers[:, :, None] - points[:, None]).square().sum(-1)
    size = points.shape[1]
    index = torch.arange(size).expand_as(distance)
    index = torch.where(distance > radius**2, size, index).sort(-1).values[..., :count]
    first = index[..., :1].expand_as(index)
    return torch.where(index == size, first, index)


class _PointNet(nn.Module):
    """PointNet++: set abstraction, then features return to all points from the three nearest centers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(3, 32), nn.Linear(35, 64)

    def forward(self, points: Tensor) -> Tensor:
        centers = _rows(points, _farthest(points, 16))
        inside = _ball(points, centers, 0.4, 8)
        local = _rows(points, inside) - centers[:, :, None]
        features = torch.cat([local, _rows(torch.relu(self.first(points)), inside)], -1)
        features = torch.relu(self.second(features)).amax(2)
        distance = (points[:, :, None] - centers[:, None]).square().sum(-1)
        near, index = distance.topk(3, largest=False)
        weight = (1 / (near + 1e-8)).softmax(-1)
        return (_rows(features, index) * weight[..., None]).sum(2)


def pointnet() -> Architecture:
    """256 points in the unit cube."""
    return plain(_PointNet(), CLOUD, points=torch.rand(2, 256, 3))


class _PointTransformer(nn.Module):
    """Attention of each point to its nearest neighbours."""

    def __init__(self) -> None:
        super().__init__()
        self.start = nn.Linear(3, 32)
        self.keys = nn.ModuleList(nn.Linear(32, 96) for _ in range(2))
        self.places = nn.ModuleList(nn.Linear(3, 32) for _ in range(2))

    def forward(self, points: Tensor) -> Tensor:
        x = self.start(points)
        index = torch.cdist(points, points).topk(16, largest=False).indices
        step = points[:, :, None] - self._near(points, index)
        for keys, places in zip(self.keys, self.places, strict=True):
            query, key, value = keys(x).chunk(3, -1)
            place = places(step)
            attention = (query[:, :, None] - self._near(key, index) + place).softmax(2)
            x = x + (attention * (self._near(value, index) + place)).sum(2)
        return x

    @staticmethod
    def _near(x: Tensor, index: Tensor) -> Tensor:
        batch, count, near = index.shape
        flat = index.reshape(batch, count * near, 1).expand(-1, -1, x.shape[-1])
        return x.gather(1, flat).reshape(batch, count, near, x.shape[-1])


def point_transformer() -> Architecture:
    """256 points with 16 neighbours each."""
    return plain(_PointTransformer(), CLOUD, points=torch.rand(2, 256, 3))


class _Voxels(nn.Module):
    """PointPillars: features of points are added up in the cells of a grid that they lie in."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.conv = nn.Linear(3, 16), nn.Conv2d(16, 16, 3, padding=1)

    def forward(self, points: Tensor) -> Tensor:
        cell = (points[..., :2] * 32).long().clamp(0, 31)
        flat = (cell[..., 0] * 32 + cell[..., 1])[..., None].expand(-1, -1, 16)
        grid = points.new_zeros(points.shape[0], 1024, 16).scatter_add(1, flat, self.linear(points))
        image = self.conv(grid.transpose(1, 2).reshape(-1, 16, 32, 32))
        return image.flatten(2).transpose(1, 2).gather(1, flat)


def voxels() -> Architecture:
    """500 points on a grid of 32 x 32."""
    return plain(_Voxels(), CLOUD, points=torch.rand(2, 500, 3))
