"""Models of images and videos, some with text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers
from torch import nn

from tools.architectures.architecture import BATCH, IMAGE, TOKEN_AXES, WORDS, Architecture, built, called, image, word_ids

SIZES: dict[str, Any] = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "image_size": 32,
    "patch_size": 8,
    "attn_implementation": "eager",
}
WINDOWS: dict[str, Any] = {"embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4, "image_size": 32}
WINDOWS |= {"patch_size": 2, "attn_implementation": "eager"}


# Attention in shifted windows, with relative positions.
swin = image("Swin Model", "last_hidden_state", **WINDOWS)

# Relative positions of windows by a small network.
swinv2 = image("Swinv2 Model", "last_hidden_state", **WINDOWS)

# Tokens are put in the order of their mask units.
_UNITS: dict[str, Any] = {"depths": [1, 1, 1, 1], "num_heads": [1, 2, 4, 4], "masked_unit_size": [8, 8]}
hiera = image("Hiera Model", "last_hidden_state", embed_dim=16, image_size=[32, 32], query_stride=[2, 2], **_UNITS)

# Relative positions by a table of constant indices.
beit = image("Beit Model", "last_hidden_state", **SIZES, use_relative_position_bias=True, vocab_size=100)

# A segmentation by a pyramid, resized.
_PYRAMID: dict[str, Any] = {"depths": [1, 1, 1, 1], "hidden_sizes": [8, 16, 32, 32], "num_attention_heads": [1, 1, 2, 2]}
segformer = image("Segformer ForSemanticSegmentation", "logits", 64, **_PYRAMID, decoder_hidden_size=32, num_labels=10)

_DECODER = {"decoder_hidden_size": 32, "decoder_num_hidden_layers": 1, "decoder_num_attention_heads": 2}


def vit_mae() -> Architecture:
    """A masked autoencoder: tokens are shuffled by noise, most are dropped, and later all return to their places."""
    inputs = {"pixel_values": torch.randn(BATCH, 3, 32, 32), "noise": torch.rand(BATCH, 16)}
    axes = {"pixel_values": IMAGE, "noise": IMAGE}
    return called(
        built("ViTMAE ForPreTraining", **SIZES, **_DECODER, decoder_intermediate_size=64), inputs, axes, "logits mask"
    )


def video_mae() -> Architecture:
    """A masked autoencoder of videos: the tokens that a mask leaves, by boolean indexing."""
    more = _DECODER | {"decoder_intermediate_size": 64, "num_frames": 4, "tubelet_size": 2}
    masked = torch.zeros(BATCH, 32, dtype=torch.bool)
    masked[:, torch.randperm(32)[:24]] = True
    inputs = {"pixel_values": torch.randn(BATCH, 4, 3, 32, 32), "bool_masked_pos": masked}
    axes = {"pixel_values": IMAGE, "bool_masked_pos": IMAGE}
    return called(built("VideoMAE ForPreTraining", **SIZES, **more), inputs, axes, "logits")


def donut() -> Architecture:
    """Documents: a Swin encoder, and a decoder of text."""
    encoder = transformers.DonutSwinConfig(**WINDOWS)
    sizes = {"encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4}
    decoder = transformers.MBartConfig(
        vocab_size=WORDS, d_model=32, decoder_ffn_dim=64, max_position_embeddings=64, attn_implementation="eager", **sizes
    )
    config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    inputs = {"pixel_values": torch.randn(BATCH, 3, 32, 32), "decoder_input_ids": word_ids(BATCH, 8)}
    axes = {"pixel_values": IMAGE, "decoder_input_ids": TOKEN_AXES}
    return called(transformers.VisionEncoderDecoderModel(config=config), inputs, axes, "logits", use_cache=False)


TEXT: dict[str, Any] = {"vocab_size": WORDS, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
TEXT |= {"intermediate_size": 128, "max_position_embeddings": 32, "eos_token_id": WORDS - 1, "attn_implementation": "eager"}


def _pair(kind: str, vision: dict[str, Any], **more: Any) -> Callable[[], Architecture]:
    """A function that makes a model of images and texts; the vector of a text is that of its last word."""

    def make() -> Architecture:
        model = built(kind, text_config=TEXT, vision_config=vision, projection_dim=32, **more)
        ids = word_ids(BATCH, 16, words=WORDS - 1)
        ids[:, 12] = WORDS - 1
        inputs = {"input_ids": ids, "pixel_values": torch.randn(BATCH, 3, 32, 32), "attention_mask": torch.ones_like(ids)}
        axes = {"input_ids": ("texts", "sequence"), "pixel_values": ("images",), "attention_mask": ("texts", "sequence")}
        return called(model, inputs, axes, "logits_per_image text_embeds")

    return make


# Texts and images side by side.
clip = _pair("CLIP Model", SIZES)

# Tokens of images come together in groups: each is given to the group with the largest score.
_GROUPS = {"depths": [1, 1, 1], "num_hidden_layers": 3, "num_group_tokens": [8, 4, 0], "num_output_groups": [8, 4, 0]}
group_vit = _pair("GroupViT Model", SIZES | _GROUPS, projection_intermediate_dim=64)


def layout_lm() -> Architecture:
    """LayoutLMv3: words, their boxes on the page, and the page; relative positions in buckets in two dimensions."""
    sizes = {key: value for key, value in SIZES.items() if key != "image_size"} | {"vocab_size": WORDS, "input_size": 32}
    sizes |= {"coordinate_size": 11, "shape_size": 10, "max_position_embeddings": 130, "max_2d_position_embeddings": 1024}
    corner = torch.randint(0, 500, (BATCH, 24, 2))
    inputs = {"input_ids": word_ids(BATCH, 24), "bbox": torch.cat([corner, corner + torch.randint(1, 500, (BATCH, 24, 2))], 2)}
    inputs |= {"attention_mask": torch.ones(BATCH, 24, dtype=torch.int64), "pixel_values": torch.randn(BATCH, 3, 32, 32)}
    axes = dict.fromkeys(inputs, TOKEN_AXES) | {"pixel_values": IMAGE}
    return called(built("LayoutLMv3 Model", **sizes), inputs, axes, "last_hidden_state")


class _SamDecoder(nn.Module):
    """The masks that points and their labels ask for, of an image that is encoded already."""

    def __init__(self) -> None:
        super().__init__()
        vision = {key: SIZES[key] for key in ("hidden_size", "num_hidden_layers", "num_attention_heads", "patch_size")}
        vision |= {"image_size": 128, "output_channels": 32, "mlp_dim": 64, "global_attn_indexes": [1], "window_size": 4}
        vision |= {"num_pos_feats": 16}
        prompt = {"hidden_size": 32, "image_size": 128, "patch_size": 8, "mask_input_channels": 4, "image_embedding_size": 16}
        decoder = {"hidden_size": 32, "mlp_dim": 64, "num_attention_heads": 4, "iou_head_hidden_dim": 32}
        config = transformers.SamConfig(vision_config=vision, prompt_encoder_config=prompt, mask_decoder_config=decoder)
        self.model = transformers.SamModel(config)

    def forward(self, image_embeddings: torch.Tensor, input_points: torch.Tensor, input_labels: torch.Tensor) -> Any:
        found = self.model(image_embeddings=image_embeddings, input_points=input_points, input_labels=input_labels)
        return found.pred_masks, found.iou_scores


def sam_decoder() -> Architecture:
    """Two prompts of three points for each image."""
    inputs = {
        "image_embeddings": torch.randn(BATCH, 32, 16, 16),
        "input_points": torch.rand(BATCH, 2, 3, 2) * 128,
        "input_labels": torch.tensor([[[1, 0, 1], [1, 1, -1]]] * BATCH),
    }
    axes = {
        "image_embeddings": IMAGE,
        "input_points": ("batch", "prompts", "points"),
        "input_labels": ("batch", "prompts", "points"),
    }
    return called(_SamDecoder(), inputs, axes)


def perceiver() -> Architecture:
    """Words through a small number of latent vectors."""
    sizes = {"vocab_size": WORDS, "max_position_embeddings": 64, "d_model": 64, "d_latents": 64, "num_latents": 16}
    sizes |= {"num_self_attends_per_block": 2, "num_self_attention_heads": 4, "num_cross_attention_heads": 4}
    inputs = {"inputs": word_ids(BATCH, 64), "attention_mask": torch.ones(BATCH, 64, dtype=torch.int64)}
    model = built("Perceiver ForMaskedLM", **sizes, qk_channels=32, v_channels=64)
    return called(model, inputs, dict.fromkeys(inputs, IMAGE), "logits")
