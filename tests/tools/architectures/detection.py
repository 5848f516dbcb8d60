"""Detection and segmentation of objects by queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers

from tools import real_models
from tools.architectures.architecture import BATCH, TRANSFORMER, Architecture, built, called, image, word_ids
from tools.architectures.vision import SIZES, TEXT, WINDOWS

DECODER = TRANSFORMER | {"num_queries": 20, "num_labels": 10}
BOXES = "logits pred_boxes"
_BASIC: dict[str, Any] = {"embedding_size": 16, "hidden_sizes": [16, 32, 64, 64], "depths": [1, 1, 1, 1], "layer_type": "basic"}
_LAST = transformers.ResNetConfig(**_BASIC, out_features=["stage4"])
_STAGES = ["stage2", "stage3", "stage4"]

# Boxes by queries.
detr = image("Detr ForObjectDetection", BOXES, 64, backbone_config=_LAST, **DECODER, attn_implementation="eager")

# Boxes by queries with reference points.
conditional_detr = image("ConditionalDetr ForObjectDetection", BOXES, 64, backbone_config=_LAST, **DECODER)

# Boxes by queries that are boxes.
dab_detr = image("DabDetr ForObjectDetection", BOXES, 64, backbone_config=_LAST, **DECODER | {"hidden_size": 64})

# Tables and their cells.
table_transformer = image("TableTransformer ForObjectDetection", BOXES, 64, backbone_config=_LAST, **DECODER)

# Two stages: the best proposals of the encoder become queries, and attention samples the image.
_TWO = {"two_stage": True, "with_box_refine": True, "two_stage_num_proposals": 20, "disable_custom_kernels": True}
deformable_detr = image(
    "DeformableDetr ForObjectDetection",
    BOXES,
    64,
    real_models.let_scores_differ,
    **DECODER | _TWO,
    backbone_config=transformers.ResNetConfig(**_BASIC, out_features=_STAGES),
    attn_implementation="eager",
)


def _rt_detr(kind: str) -> Callable[[], Architecture]:
    """A function that makes a model which gathers the best 30 anchors."""
    backbone = transformers.RTDetrResNetConfig(**_BASIC)
    backbone.out_features = _STAGES
    sizes = {name: DECODER[name] for name in DECODER if name != "encoder_layers"} | {"num_queries": 30}
    sizes |= {"encoder_in_channels": [32, 64, 64], "decoder_in_channels": [64, 64, 64], "encoder_hidden_dim": 64}
    sizes |= {"backbone_config": backbone, "anchor_image_size": None}
    return image(f"{kind} ForObjectDetection", BOXES, 96, real_models.let_scores_differ, **sizes)


rt_detr, rt_detr_v2 = _rt_detr("RTDetr"), _rt_detr("RTDetrV2")

# Masks by queries, with attention inside the last masks.
_SWIN = WINDOWS | {"depths": [1, 1, 1, 1], "num_heads": [1, 2, 2, 4], "image_size": 64}
mask2former = image(
    "Mask2Former ForUniversalSegmentation",
    "class_queries_logits masks_queries_logits",
    64,
    backbone_config=transformers.SwinConfig(**_SWIN, out_features=["stage1", *_STAGES]),
    **{"feature_size": 32, "mask_feature_size": 32, "hidden_dim": 32, "encoder_feedforward_dim": 64, "dim_feedforward": 64},
    **{"encoder_layers": 1, "decoder_layers": 3, "num_attention_heads": 4, "num_queries": 10, "num_labels": 10},
)


def owl_vit() -> Architecture:
    """Detection of what texts name."""
    text = TEXT | {"max_position_embeddings": 16}
    model = built("OwlViT ForObjectDetection", text_config=text, vision_config=SIZES, projection_dim=64)
    inputs = {"input_ids": word_ids(4, 16), "pixel_values": torch.randn(BATCH, 3, 32, 32)}
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    axes = {"input_ids": ("texts", None), "pixel_values": ("images",), "attention_mask": ("texts", None)}
    return called(model, inputs, axes, BOXES)
