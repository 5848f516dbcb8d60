"""Transformers and other models of language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import torch

from tools.architectures.architecture import (
    BATCH,
    TOKEN_AXES,
    TOKENS,
    TRANSFORMER,
    WORDS,
    Architecture,
    built,
    called,
    word_ids,
)

VOCABULARY: dict[str, Any] = {"vocab_size": WORDS}
SIZES: dict[str, Any] = VOCABULARY | {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "max_position_embeddings": 128,
    "attn_implementation": "eager",
}
EAGER: dict[str, Any] = VOCABULARY | {"attn_implementation": "eager"}
HIDDEN, MASK = "last_hidden_state", "attention_mask"
UNCACHED = {"use_cache": False}


def _text(
    kind: str,
    sizes: dict[str, Any],
    outputs: str,
    *masks: str,
    tokens: int = TOKENS,
    call: Mapping[str, Any] = MappingProxyType({}),
    **more: Any,
) -> Callable[..., Architecture]:
    """A function that makes a model of [batch, tokens] ids and masks; the second text of the batch is shorter."""

    def make(tokens: int = tokens, **other: Any) -> Architecture:
        model, inputs = built(kind, **sizes | more | other), {"input_ids": word_ids(BATCH, tokens)}
        for mask in masks:
            inputs[mask] = torch.ones(BATCH, tokens, dtype=torch.int64)
            inputs[mask][1, tokens * 3 // 4 :] = 0
        return called(model, inputs, dict.fromkeys(inputs, TOKEN_AXES), outputs, return_dict=True, **call)

    return make


def _translation(kind: str, **more: Any) -> Callable[[], Architecture]:
    """A function that makes an encoder and a decoder of words."""

    def make() -> Architecture:
        inputs = {"input_ids": word_ids(BATCH, TOKENS), "decoder_input_ids": word_ids(BATCH, 8)}
        axes = {"input_ids": TOKEN_AXES, "decoder_input_ids": ("batch", "decoder")}
        return called(built(kind, **EAGER | more), inputs, axes, "logits", **UNCACHED)

    return make


# Words, places and kinds of tokens are looked up.
bert = _text("Bert Model", SIZES, f"{HIDDEN} pooler_output", MASK, "token_type_ids")

# Places are counted from the words that are no padding.
roberta = _text("Roberta ForSequenceClassification", SIZES, "logits", MASK, max_position_embeddings=130)

# Relative positions are gathered in each layer, twice, by words in buckets.
_RELATIVE: dict[str, Any] = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}
_BUCKETS = {"position_buckets": 16, "share_att_key": True, "norm_rel_ebd": "layer_norm"}
deberta = _text("DebertaV2 Model", SIZES, HIDDEN, MASK, **_RELATIVE, **_BUCKETS)

# Relative positions without buckets.
deberta_v1 = _text("Deberta Model", SIZES, HIDDEN, MASK, **_RELATIVE)

# Relative positions in buckets by their logarithm.
t5 = _translation("T5 ForConditionalGeneration", d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4)

# An encoder and a decoder with learned places.
bart = _translation("Bart ForConditionalGeneration", **TRANSFORMER, max_position_embeddings=128)

# Rotated places, and keys shared by groups of heads.
llama = _text("Llama ForCausalLM", SIZES, "logits", MASK, call=UNCACHED, num_key_value_heads=2)

# A part of each head is rotated.
gpt_neox = _text("GPTNeoX ForCausalLM", SIZES, "logits", MASK, call=UNCACHED)

# The logits at the last word that is no padding.
_GPT2 = EAGER | {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 128, "pad_token_id": 0}
gpt2_classifier = _text("GPT2 ForSequenceClassification", _GPT2, "logits", MASK, call=UNCACHED)

# Places are a running sum of the mask.
_OPT = {key: SIZES[key] for key in SIZES if key != "intermediate_size"} | {"ffn_dim": 128, "word_embed_proj_dim": 64}
opt = _text("OPT ForCausalLM", _OPT, "logits", MASK, call=UNCACHED)

# A mixture of experts: each expert takes the words that the router gives to it, and puts them back.
_EXPERTS: dict[str, Any] = {"num_key_value_heads": 2, "num_experts_per_tok": 2, "experts_implementation": "eager"}
mixtral = _text("Mixtral ForCausalLM", SIZES | _EXPERTS, "logits", MASK, call=UNCACHED, num_local_experts=4)

# A mixture of experts beside an expert that all words take.
_SHARED = {"num_experts": 4, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 64}
qwen2_moe = _text("Qwen2Moe ForCausalLM", SIZES | _EXPERTS, "logits", MASK, call=UNCACHED, **_SHARED)

# A mixture of experts with normalised queries and keys.
olmoe = _text("Olmoe ForCausalLM", SIZES | _EXPERTS, "logits", MASK, call=UNCACHED, num_experts=8)

# Recurrent blocks beside local attention.
_RECURRENT = {"lru_width": 64, "attention_window_size": 16, "num_key_value_heads": 1, "head_dim": 16}
recurrent_gemma = _text("RecurrentGemma ForCausalLM", SIZES | _RECURRENT, "logits", MASK, call=UNCACHED)

# Words of several languages.
_XLM = VOCABULARY | {"emb_dim": 64, "n_layers": 2, "n_heads": 4, "max_position_embeddings": 128}
xlm = _text("XLM Model", _XLM, HIDDEN, MASK, "langs", n_langs=3, use_lang_emb=True)

# Relative positions by a shift of the scores.
_XLNET = {"d_model": 64, "n_layer": 2, "n_head": 4, "d_inner": 128}
xlnet = _text("XLNet Model", VOCABULARY, HIDDEN, MASK, call={"use_mems": False}, **_XLNET)

# Sparse attention: blocks of keys are gathered.
_SPARSE = {"attention_type": "block_sparse", "block_size": 4, "num_random_blocks": 2, "max_position_embeddings": 256}
big_bird = _text("BigBird Model", SIZES | _SPARSE, HIDDEN, MASK, tokens=64)

# Attention in a window, and global attention of the words that a mask names.
longformer = _text("Longformer Model", SIZES, HIDDEN, MASK, "global_attention_mask", attention_window=8)

# Embeddings of relative positions are gathered at constant places.
_FUNNEL = {"block_sizes": [2, 2], "num_decoder_layers": 1, "d_model": 64, "n_head": 4, "d_head": 16, "d_inner": 128}
funnel = _text("Funnel Model", VOCABULARY | _FUNNEL, HIDDEN, MASK)


def tapas() -> Architecture:
    """Tables: rows and columns of tokens are indices, and means of cells are scattered and gathered."""
    kinds = [3, 16, 16, 2, 16, 16, 4]
    more = {"num_aggregation_labels": 4, "max_num_rows": 16, "max_num_columns": 16}
    inputs = {"input_ids": word_ids(BATCH, TOKENS), MASK: torch.ones(BATCH, TOKENS, dtype=torch.int64)}
    inputs["token_type_ids"] = torch.stack([torch.randint(0, kind, (BATCH, TOKENS)) for kind in kinds], 2)
    model = built("Tapas ForQuestionAnswering", **SIZES, type_vocab_sizes=kinds, **more)
    return called(model, inputs, dict.fromkeys(inputs, TOKEN_AXES), "logits logits_aggregation")


# Rotated places of an encoder.
roformer = _text("RoFormer Model", SIZES, HIDDEN, MASK, embedding_size=64)

# Relative positions in buckets, and places counted from the words that are no padding.
mpnet = _text("MPNet Model", SIZES, HIDDEN, MASK, max_position_embeddings=130)


def esm() -> Architecture:
    """Proteins: rotated places, and masked amino acids are dropped."""
    more = {"pad_token_id": 1, "mask_token_id": 32, "position_embedding_type": "rotary", "token_dropout": True}
    inputs = {"input_ids": word_ids(BATCH, TOKENS, words=33), MASK: torch.ones(BATCH, TOKENS, dtype=torch.int64)}
    model = built("Esm Model", **SIZES | {"vocab_size": 33}, **more)
    return called(model, inputs, dict.fromkeys(inputs, TOKEN_AXES), HIDDEN)


# Local attention alternates with global attention.
_LOCAL = {"pad_token_id": 0, "local_attention": 8, "global_attn_every_n_layers": 2}
modernbert = _text("ModernBert Model", SIZES, HIDDEN, MASK, **_LOCAL)

# Characters are hashed into several tables, and are gathered to molecules.
_HASHES = {"num_hash_functions": 4, "num_hash_buckets": 256, "downsampling_rate": 4, "local_transformer_stride": 16}
canine = _text("Canine Model", {key: SIZES[key] for key in SIZES if key != "vocab_size"}, HIDDEN, MASK, **_HASHES)

# A state space, step by step.
_MAMBA = VOCABULARY | UNCACHED | {"hidden_size": 32, "state_size": 8, "num_hidden_layers": 2, "use_mambapy": False}
mamba = _text("Mamba ForCausalLM", _MAMBA, "logits", tokens=16, call=UNCACHED)

# A recurrence, step by step.
_RWKV = VOCABULARY | UNCACHED | {"context_length": 128, "hidden_size": 32, "attention_hidden_size": 32, "num_hidden_layers": 2}
rwkv = _text("Rwkv Model", _RWKV, HIDDEN, tokens=16, call=UNCACHED)
