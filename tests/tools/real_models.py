"""Export real architectures with random weights to ONNX: `python tests/tools/real_models.py DIR [NAME...]`.

Models with gathers: attention with relative positions, graph networks, nearest neighbours, beam search, alignment losses,
object detection. Downloads nothing. Needs torch, transformers and onnxscript: `.[models]`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

Example = tuple[nn.Module, dict[str, Tensor]]


def deberta(tokens: int = 512) -> Example:
    """DeBERTa-v2, which gathers relative positions twice in each attention layer."""
    from transformers import DebertaV2Config, DebertaV2Model

    config = DebertaV2Config(
        vocab_size=1000,
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=6,
        intermediate_size=1536,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        position_buckets=256,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        max_position_embeddings=512,
    )
    ids = torch.randint(0, 1000, (1, tokens))
    return _OneOutput(DebertaV2Model(config)), {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


class _OneOutput(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return self.model(input_ids=input_ids, attention_mask=attention_mask)[0]


def funnel(tokens: int = 32) -> Example:
    """Funnel, which gathers constant embeddings of relative positions at constant indices."""
    from transformers import FunnelConfig, FunnelModel

    config = FunnelConfig(
        vocab_size=1000, block_sizes=[2, 2], num_decoder_layers=1, d_model=64, n_head=4, d_head=16, d_inner=128
    )
    ids = torch.randint(0, 1000, (1, tokens))
    return _OneOutput(FunnelModel(config)), {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


class _GNN(nn.Module):
    """Three layers that gather the rows at both ends of each edge and sum their messages."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linears = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(3))

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        for linear in self.linears:
            source, target = (index[:, None].expand(-1, x.shape[1]) for index in edges)
            message = torch.relu(linear(torch.cat([x.gather(0, source), x.gather(0, target)], 1)))
            x = x + torch.zeros_like(x).scatter_add(0, target, message)
        return x


def gnn() -> Example:
    """A graph network of 2,000 nodes and 16,000 edges, 128 wide."""
    return _GNN(128), {"x": torch.randn(2000, 128), "edges": torch.randint(0, 2000, (2, 16000))}


class _KNN(nn.Module):
    """Features of the nearest neighbours of each point, as in DGCNN."""

    def __init__(self, neighbours: int, width: int) -> None:
        super().__init__()
        self.neighbours = neighbours
        self.before, self.after = nn.Linear(3, width), nn.Linear(2 * width, width)

    def forward(self, points: Tensor) -> Tensor:
        x = self.before(points)
        batch, count, width = x.shape
        square = (points * points).sum(-1)
        distance = square[:, :, None] + square[:, None, :] - 2 * points @ points.transpose(1, 2)
        nearest = distance.topk(self.neighbours, largest=False).indices.reshape(batch, -1, 1)
        found = x.gather(1, nearest.expand(-1, -1, width)).reshape(batch, count, self.neighbours, width)
        center = x[:, :, None].expand_as(found)
        return self.after(torch.cat([found - center, center], -1)).amax(2)


def knn() -> Example:
    """16 nearest neighbours of each of 1,024 points."""
    return _KNN(16, 128), {"points": torch.randn(1, 1024, 3)}


class _BeamStep(nn.Module):
    """Selection of the best beams of [4, 5 x 1000] continuations, and of their caches."""

    def forward(self, logits: Tensor, scores: Tensor, sequences: Tensor, cache: Tensor) -> tuple[Tensor, ...]:
        batch, beams, words = logits.shape
        total = (logits.log_softmax(-1) + scores[:, :, None]).reshape(batch, beams * words)
        best, index = total.topk(beams)
        beam, word = index // words, index % words
        sequences = sequences.gather(1, beam[:, :, None].expand_as(sequences))
        cache = cache.gather(1, beam[:, :, None, None, None].expand_as(cache))
        return best, word, sequences, cache


def beam(words: int = 1000) -> Example:
    """A step of beam search with a cache of [4, 5, 8, 64, 64]."""
    inputs = {"logits": torch.randn(4, 5, words), "scores": torch.randn(4, 5)}
    inputs |= {"sequences": torch.randint(0, words, (4, 5, 64)), "cache": torch.randn(4, 5, 8, 64, 64)}
    return _BeamStep(), inputs


class _Loss(nn.Module):
    """Selection of the labels' scores in each frame, as in CTC and RNNT losses."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(256, 1000)

    def forward(self, features: Tensor, labels: Tensor) -> Tensor:
        scores = self.linear(features).log_softmax(-1)
        return scores.gather(2, labels[:, None, :].expand(-1, scores.shape[1], -1))


def ctc() -> Example:
    """Scores [4, 400, 1000] of 60 labels."""
    return _Loss(), {"features": torch.randn(4, 400, 256), "labels": torch.randint(0, 1000, (4, 60))}


class _LastFrame(nn.Module):
    """Selection of the last valid frame of each sequence."""

    def forward(self, features: Tensor, lengths: Tensor) -> Tensor:
        return features.gather(1, (lengths - 1)[:, None, None].expand(-1, 1, features.shape[2]))


def last_frame() -> Example:
    """One frame of [4, 400, 256] for each sequence."""
    return _LastFrame(), {"features": torch.randn(4, 400, 256), "lengths": torch.randint(1, 401, (4,))}


class _FewerRows(nn.Module):
    """`x.gather(2, t[..., None])` with fewer rows than x: valid in torch and ONNX, refused by stock OpenVINO."""

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        return x.gather(2, t[..., None])


def fewer_rows() -> Example:
    """[4, 400, 1000] by [4, 60, 1]."""
    return _FewerRows(), {"x": torch.randn(4, 400, 1000), "t": torch.randint(0, 1000, (4, 60))}


class _Detections(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, pixel_values: Tensor) -> tuple[Tensor, Tensor]:
        found = self.model(pixel_values=pixel_values)
        return found.logits, found.pred_boxes


def let_scores_differ(model: nn.Module, size: int) -> None:
    """Initialise an object detector so that scores differ; with random weights alone they are equal, and TopK finds ties."""
    model.train()
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.kaiming_normal_(module.weight)
        elif isinstance(module, nn.BatchNorm2d):
            module.momentum = None  # None makes the running statistics the mean over all batches seen
        elif isinstance(module, nn.Dropout):
            module.eval()
    with torch.no_grad():
        for _ in range(5):
            model(pixel_values=torch.randn(2, 3, size, size))


def rtdetr(size: int = 320) -> Example:
    """RT-DETR, which gathers the best 300 anchors."""
    from transformers import RTDetrConfig, RTDetrForObjectDetection, RTDetrResNetConfig

    backbone = RTDetrResNetConfig(depths=[2, 2, 2, 2], hidden_sizes=[64, 128, 256, 512], layer_type="basic")
    backbone.out_features = ["stage2", "stage3", "stage4"]
    config = RTDetrConfig(
        backbone_config=backbone,
        encoder_in_channels=[128, 256, 512],
        decoder_layers=3,
        anchor_image_size=None,
        num_labels=80,
    )
    model = RTDetrForObjectDetection(config)
    let_scores_differ(model, size)
    return _Detections(model), {"pixel_values": torch.randn(1, 3, size, size)}


MODELS: dict[str, Callable[[], Example]] = {
    make.__name__: make for make in (deberta, funnel, gnn, knn, beam, ctc, last_frame, fewer_rows, rtdetr)
}


def export(name: str, directory: Path) -> Path:
    """Write a model of MODELS to `directory`; return the path of its .onnx."""
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    path = directory / f"{name}.onnx"
    torch.onnx.export(
        model.eval(), (), path, kwargs=inputs, input_names=list(inputs), dynamo=True, external_data=False, verbose=False
    )
    return path


def main() -> None:
    """Export the named models, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*", choices=[[], *MODELS], metavar="NAME", help=f"of {', '.join(MODELS)}")
    arguments = parser.parse_args()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or MODELS:
        path = export(name, arguments.directory)
        print(f"{path}: {path.stat().st_size / 2**20:.1f} MiB", file=sys.stdout, flush=True)


if __name__ == "__main__":
    main()
