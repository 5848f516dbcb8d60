"""Models of sound and of time series."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from tools.architectures.architecture import (
    BATCH,
    TOKEN_AXES,
    TRANSFORMER,
    WORDS,
    Architecture,
    Axes,
    built,
    called,
    plain,
    word_ids,
)

SOUND: Axes = ("batch",)


def whisper() -> Architecture:
    """Speech to text."""
    sizes = TRANSFORMER | {"vocab_size": WORDS, "num_mel_bins": 16, "max_source_positions": 40, "max_target_positions": 32}
    tokens = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1, "decoder_start_token_id": 2}
    inputs = {"input_features": torch.randn(BATCH, 16, 80), "decoder_input_ids": word_ids(BATCH, 8)}
    axes = {"input_features": SOUND, "decoder_input_ids": TOKEN_AXES}
    model = built("Whisper ForConditionalGeneration", **sizes, **tokens, attn_implementation="eager")
    return called(model, inputs, axes, "logits", use_cache=False)


def wav2vec2() -> Architecture:
    """Speech to characters, with a mask of samples."""
    sizes = {"vocab_size": 32, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    layers = {"conv_dim": [16, 16, 16], "conv_kernel": [10, 3, 3], "conv_stride": [5, 2, 2], "num_feat_extract_layers": 3}
    places = {"num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2}
    mask = torch.ones(BATCH, 1600, dtype=torch.int64)
    mask[1, 1200:] = 0
    inputs = {"input_values": torch.randn(BATCH, 1600), "attention_mask": mask}
    axes = dict.fromkeys(inputs, ("batch", "samples"))
    model = built("Wav2Vec2 ForCTC", **sizes, **layers, **places, feat_extract_norm="layer", attn_implementation="eager")
    return called(model, inputs, axes, "logits")


def vits() -> Architecture:
    """Text to speech: each sound lasts as long as the duration that is predicted for it."""
    sizes = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "ffn_dim": 64}
    sound = {"flow_size": 32, "spectrogram_bins": 33, "upsample_initial_channel": 32, "upsample_rates": [4, 4]}
    kernels = {"upsample_kernel_sizes": [8, 8], "resblock_kernel_sizes": [3], "resblock_dilation_sizes": [[1, 3]]}
    depths = {"depth_separable_num_layers": 1, "prior_encoder_num_wavenet_layers": 1}
    depths |= {"duration_predictor_num_flows": 1, "prior_encoder_num_flows": 1}
    model = built("Vits Model", **sizes, **sound, **kernels, **depths)
    inputs = {"input_ids": word_ids(BATCH, 16, words=40)}
    return called(model, inputs, {"input_ids": TOKEN_AXES}, "waveform")


class _LengthRegulator(nn.Module):
    """FastSpeech: each sound is repeated as often as its duration says, as an index that is a sum of what is passed."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.linear = nn.Embedding(40, 32), nn.Linear(32, 16)

    def forward(self, phonemes: Tensor, durations: Tensor) -> Tensor:
        ends = durations.cumsum(1)
        frame = torch.arange(64)[None].expand(phonemes.shape[0], -1)
        index = (frame[:, :, None] >= ends[:, None, :]).long().sum(2).clamp(max=phonemes.shape[1] - 1)
        x = self.table(phonemes)
        return self.linear(x.gather(1, index[..., None].expand(-1, -1, x.shape[2])))


def length_regulator() -> Architecture:
    """16 sounds become 64 frames."""
    inputs = {"phonemes": torch.randint(0, 40, (BATCH, 16)), "durations": torch.randint(1, 5, (BATCH, 16))}
    axes = dict.fromkeys(inputs, TOKEN_AXES)
    return plain(_LengthRegulator(), axes, **inputs)


def encodec() -> Architecture:
    """Sound to codes and back."""
    config = transformers.EncodecConfig(
        hidden_size=16, num_filters=4, upsampling_ratios=[4, 2], codebook_size=64, codebook_dim=16, num_lstm_layers=1
    )
    config.target_bandwidths = [24.0]
    model = transformers.EncodecModel(config)
    inputs = {"input_values": torch.randn(BATCH, 1, 640)}
    return called(model, inputs, {"input_values": SOUND}, "audio_codes audio_values", return_dict=True)


def _series(kind: str, **more: Any) -> Callable[[], Architecture]:
    """A function that makes a forecast of 8 numbers, whose past of 16 is read at lags up to 7."""
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    sizes |= {"encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "d_model": 16, "prediction_length": 8, "context_length": 16}
    features = {"num_time_features": 2, "num_static_categorical_features": 1, "cardinality": [5], "embedding_dimension": [3]}

    def make() -> Architecture:
        model = built(f"{kind} Model", **sizes, **features, **more, lags_sequence=[1, 2, 7], attn_implementation="eager")
        inputs = {
            "past_values": torch.randn(BATCH, 23),
            "past_time_features": torch.randn(BATCH, 23, 2),
            "past_observed_mask": torch.ones(BATCH, 23),
            "static_categorical_features": torch.randint(0, 5, (BATCH, 1)),
            "future_values": torch.randn(BATCH, 8),
            "future_time_features": torch.randn(BATCH, 8, 2),
        }
        return called(model, inputs, dict.fromkeys(inputs, SOUND), "last_hidden_state", use_cache=False)

    return make


# A transformer.
time_series = _series("TimeSeriesTransformer")

# Attention of only those queries that matter, chosen by a sample of the keys.
informer = _series("Informer", sampling_factor=2)

# Attention by delays with the largest autocorrelation.
autoformer = _series("Autoformer", moving_average=5)
