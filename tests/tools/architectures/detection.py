"""Detection and segmentation of objects by queries."""

from __future__ import annotations

from typing import Any

import torch
import transformers

from tools.architectures.architecture import BATCH, Architecture, called, word_ids
from tools.architectures.vision import SIZES, TEXT, WINDOWS, image
from tools.real_models import let_scores_differ

DECODER: dict[str, Any] = {
    "d_model": 64,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128,
    "num_queries": 20,
    "num_labels": 10,
}


def _resnet(*stages: str) -> Any:
    sizes = {"embedding_size": 16, "hidden_sizes": [16, 32, 64, 64], "depths": [1, 1, 1, 1], "layer_type": "basic"}
    return transformers.ResNetConfig(**sizes, out_features=list(stages))


def detr() -> Architecture:
    """Boxes by queries."""
    config = transformers.DetrConfig(backbone_config=_resnet("stage4"), **DECODER, attn_implementation="eager")
    return image(transformers.DetrForObjectDetection(config), "logits pred_boxes", 64)


def conditional_detr() -> Architecture:
    """Boxes by queries with reference points."""
    config = transformers.ConditionalDetrConfig(backbone_config=_resnet("stage4"), **DECODER)
    return image(transformers.ConditionalDetrForObjectDetection(config), "logits pred_boxes", 64)


def table_transformer() -> Architecture:
    """Tables and their cells."""
    config = transformers.TableTransformerConfig(backbone_config=_resnet("stage4"), **DECODER)
    return image(transformers.TableTransformerForObjectDetection(config), "logits pred_boxes", 64)


def deformable_detr() -> Architecture:
    """Two stages: the best proposals of the encoder become queries, and attention samples the image."""
    more = {"two_stage": True, "with_box_refine": True, "two_stage_num_proposals": 20, "disable_custom_kernels": True}
    backbone = _resnet("stage2", "stage3", "stage4")
    config = transformers.DeformableDetrConfig(backbone_config=backbone, **DECODER, **more, attn_implementation="eager")
    model = transformers.DeformableDetrForObjectDetection(config)
    let_scores_differ(model, 64)
    return image(model, "logits pred_boxes", 64)


def _rt_detr(kind: str) -> Architecture:
    backbone = transformers.RTDetrResNetConfig(
        embedding_size=16, hidden_sizes=[16, 32, 64, 64], depths=[1, 1, 1, 1], layer_type="basic"
    )
    backbone.out_features = ["stage2", "stage3", "stage4"]
    config = getattr(transformers, f"{kind}Config")(
        backbone_config=backbone,
        encoder_in_channels=[32, 64, 64],
        encoder_hidden_dim=64,
        encoder_ffn_dim=128,
        encoder_attention_heads=4,
        decoder_in_channels=[64, 64, 64],
        decoder_attention_heads=4,
        decoder_ffn_dim=128,
        decoder_layers=2,
        d_model=64,
        num_queries=30,
        num_labels=10,
        anchor_image_size=None,
    )
    model = getattr(transformers, f"{kind}ForObjectDetection")(config)
    let_scores_differ(model, 96)
    return image(model, "logits pred_boxes", 96)


def rt_detr() -> Architecture:
    """The best 30 anchors are gathered."""
    return _rt_detr("RTDetr")


def rt_detr_v2() -> Architecture:
    """The best 30 anchors are gathered."""
    return _rt_detr("RTDetrV2")


def mask2former() -> Architecture:
    """Masks by queries, with attention inside the last masks."""
    backbone = transformers.SwinConfig(
        **WINDOWS | {"depths": [1, 1, 1, 1], "num_heads": [1, 2, 2, 4], "image_size": 64},
        out_features=["stage1", "stage2", "stage3", "stage4"],
    )
    config = transformers.Mask2FormerConfig(
        backbone_config=backbone,
        feature_size=32,
        mask_feature_size=32,
        hidden_dim=32,
        encoder_feedforward_dim=64,
        encoder_layers=1,
        decoder_layers=3,
        num_attention_heads=4,
        dim_feedforward=64,
        num_queries=10,
        num_labels=10,
    )
    model = transformers.Mask2FormerForUniversalSegmentation(config)
    return image(model, "class_queries_logits masks_queries_logits", 64)


def owl_vit() -> Architecture:
    """Detection of what texts name."""
    config = transformers.OwlViTConfig(
        text_config=TEXT | {"max_position_embeddings": 16}, vision_config=SIZES, projection_dim=64
    )
    inputs = {"input_ids": word_ids(4, 16), "pixel_values": torch.randn(BATCH, 3, 32, 32)}
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    axes = {"input_ids": ("texts", None), "pixel_values": ("images",), "attention_mask": ("texts", None)}
    return called(transformers.OwlViTForObjectDetection(config), inputs, axes, "logits pred_boxes")


ARCHITECTURES = [
    detr,
    conditional_detr,
    table_transformer,
    deformable_detr,
    rt_detr,
    rt_detr_v2,
    mask2former,
    owl_vit,
]
