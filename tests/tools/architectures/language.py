"""Transformers and other models of language."""

from __future__ import annotations

from typing import Any

import torch
import transformers
from torch import nn

from tools.architectures.architecture import BATCH, TOKEN_AXES, TOKENS, WORDS, Architecture, called, word_ids

SIZES: dict[str, Any] = {
    "vocab_size": WORDS,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "max_position_embeddings": 128,
    "attn_implementation": "eager",
}


def _text(model: nn.Module, outputs: str, *masks: str, tokens: int = TOKENS, **fixed: Any) -> Architecture:
    """A model of [batch, tokens] ids and masks; the second text of the batch is shorter."""
    inputs = {"input_ids": word_ids(BATCH, tokens)}
    for mask in masks:
        inputs[mask] = torch.ones(BATCH, tokens, dtype=torch.int64)
        inputs[mask][1, tokens * 3 // 4 :] = 0
    return called(model, inputs, dict.fromkeys(inputs, TOKEN_AXES), outputs, return_dict=True, **fixed)


def bert() -> Architecture:
    """Words, places and kinds of tokens are looked up."""
    config = transformers.BertConfig(**SIZES)
    return _text(transformers.BertModel(config), "last_hidden_state pooler_output", "attention_mask", "token_type_ids")


def roberta() -> Architecture:
    """Places are counted from the words that are no padding."""
    config = transformers.RobertaConfig(**SIZES | {"max_position_embeddings": 130})
    return _text(transformers.RobertaForSequenceClassification(config), "logits", "attention_mask")


def deberta() -> Architecture:
    """Relative positions are gathered in each layer, twice, by words in buckets."""
    more = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 16, "share_att_key": True}
    config = transformers.DebertaV2Config(**SIZES, **more, norm_rel_ebd="layer_norm")
    return _text(transformers.DebertaV2Model(config), "last_hidden_state", "attention_mask")


def deberta_v1() -> Architecture:
    """Relative positions without buckets."""
    config = transformers.DebertaConfig(**SIZES, relative_attention=True, pos_att_type=["p2c", "c2p"])
    return _text(transformers.DebertaModel(config), "last_hidden_state", "attention_mask")


def t5() -> Architecture:
    """Relative positions in buckets by their logarithm."""
    config = transformers.T5Config(
        vocab_size=WORDS, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, attn_implementation="eager"
    )
    inputs = {"input_ids": word_ids(BATCH, TOKENS), "decoder_input_ids": word_ids(BATCH, 8)}
    axes = {"input_ids": TOKEN_AXES, "decoder_input_ids": ("batch", "decoder")}
    return called(transformers.T5ForConditionalGeneration(config), inputs, axes, "logits", use_cache=False)


def bart() -> Architecture:
    """An encoder and a decoder with learned places."""
    sizes = {"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4}
    config = transformers.BartConfig(
        vocab_size=WORDS,
        d_model=64,
        encoder_ffn_dim=128,
        decoder_ffn_dim=128,
        max_position_embeddings=128,
        attn_implementation="eager",
        **sizes,
    )
    inputs = {"input_ids": word_ids(BATCH, TOKENS), "decoder_input_ids": word_ids(BATCH, 8)}
    axes = {"input_ids": TOKEN_AXES, "decoder_input_ids": ("batch", "decoder")}
    return called(transformers.BartForConditionalGeneration(config), inputs, axes, "logits", use_cache=False)


def llama() -> Architecture:
    """Rotated places, and keys shared by groups of heads."""
    config = transformers.LlamaConfig(**SIZES, num_key_value_heads=2)
    return _text(transformers.LlamaForCausalLM(config), "logits", "attention_mask", use_cache=False)


def gpt_neox() -> Architecture:
    """A part of each head is rotated."""
    config = transformers.GPTNeoXConfig(**SIZES)
    return _text(transformers.GPTNeoXForCausalLM(config), "logits", "attention_mask", use_cache=False)


def gpt2_classifier() -> Architecture:
    """The logits at the last word that is no padding."""
    config = transformers.GPT2Config(
        vocab_size=WORDS, n_embd=64, n_layer=2, n_head=4, n_positions=128, pad_token_id=0, attn_implementation="eager"
    )
    return _text(transformers.GPT2ForSequenceClassification(config), "logits", "attention_mask", use_cache=False)


def opt() -> Architecture:
    """Places are a running sum of the mask."""
    config = transformers.OPTConfig(
        vocab_size=WORDS,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        ffn_dim=128,
        max_position_embeddings=128,
        word_embed_proj_dim=64,
        attn_implementation="eager",
    )
    return _text(transformers.OPTForCausalLM(config), "logits", "attention_mask", use_cache=False)


def mixtral(tokens: int = TOKENS, **sizes: int) -> Architecture:
    """A mixture of experts: each expert takes the words that the router gives to it, and puts them back."""
    more = {"num_key_value_heads": 2, "num_local_experts": 4, "num_experts_per_tok": 2, "experts_implementation": "eager"}
    config = transformers.MixtralConfig(**SIZES | sizes, **more)
    return _text(transformers.MixtralForCausalLM(config), "logits", "attention_mask", tokens=tokens, use_cache=False)


def qwen2_moe() -> Architecture:
    """A mixture of experts beside an expert that all words take."""
    more = {"num_key_value_heads": 2, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
    more |= {"shared_expert_intermediate_size": 64, "experts_implementation": "eager"}
    config = transformers.Qwen2MoeConfig(**SIZES, **more)
    return _text(transformers.Qwen2MoeForCausalLM(config), "logits", "attention_mask", use_cache=False)


def xlm() -> Architecture:
    """Words of several languages."""
    config = transformers.XLMConfig(
        vocab_size=WORDS, emb_dim=64, n_layers=2, n_heads=4, max_position_embeddings=128, n_langs=3, use_lang_emb=True
    )
    return _text(transformers.XLMModel(config), "last_hidden_state", "attention_mask", "langs")


def xlnet() -> Architecture:
    """Relative positions by a shift of the scores."""
    config = transformers.XLNetConfig(vocab_size=WORDS, d_model=64, n_layer=2, n_head=4, d_inner=128)
    return _text(transformers.XLNetModel(config), "last_hidden_state", "attention_mask", use_mems=False)


def big_bird() -> Architecture:
    """Sparse attention: blocks of keys are gathered."""
    more = {"attention_type": "block_sparse", "block_size": 4, "num_random_blocks": 2}
    config = transformers.BigBirdConfig(**SIZES | {"max_position_embeddings": 256}, **more)
    return _text(transformers.BigBirdModel(config), "last_hidden_state", "attention_mask", tokens=64)


def longformer(tokens: int = TOKENS, window: int = 8, **sizes: int) -> Architecture:
    """Attention in a window, and global attention of the words that a mask names."""
    config = transformers.LongformerConfig(**SIZES | sizes, attention_window=window)
    masks = "attention_mask", "global_attention_mask"
    return _text(transformers.LongformerModel(config), "last_hidden_state", *masks, tokens=tokens)


def funnel() -> Architecture:
    """Embeddings of relative positions are gathered at constant places."""
    config = transformers.FunnelConfig(
        vocab_size=WORDS, block_sizes=[2, 2], num_decoder_layers=1, d_model=64, n_head=4, d_head=16, d_inner=128
    )
    return _text(transformers.FunnelModel(config), "last_hidden_state", "attention_mask")


def tapas() -> Architecture:
    """Tables: rows and columns of tokens are indices, and means of cells are scattered and gathered."""
    kinds = [3, 16, 16, 2, 16, 16, 4]
    config = transformers.TapasConfig(
        **SIZES, type_vocab_sizes=kinds, num_aggregation_labels=4, max_num_rows=16, max_num_columns=16
    )
    inputs = {"input_ids": word_ids(BATCH, TOKENS), "attention_mask": torch.ones(BATCH, TOKENS, dtype=torch.int64)}
    inputs["token_type_ids"] = torch.stack([torch.randint(0, kind, (BATCH, TOKENS)) for kind in kinds], 2)
    axes = dict.fromkeys(inputs, TOKEN_AXES)
    return called(transformers.TapasForQuestionAnswering(config), inputs, axes, "logits logits_aggregation")


def roformer() -> Architecture:
    """Rotated places of an encoder."""
    config = transformers.RoFormerConfig(**SIZES, embedding_size=64)
    return _text(transformers.RoFormerModel(config), "last_hidden_state", "attention_mask")


def mpnet() -> Architecture:
    """Relative positions in buckets, and places counted from the words that are no padding."""
    config = transformers.MPNetConfig(**SIZES | {"max_position_embeddings": 130})
    return _text(transformers.MPNetModel(config), "last_hidden_state", "attention_mask")


def esm() -> Architecture:
    """Proteins: rotated places, and masked amino acids are dropped."""
    config = transformers.EsmConfig(
        **SIZES | {"vocab_size": 33}, pad_token_id=1, mask_token_id=32, position_embedding_type="rotary", token_dropout=True
    )
    inputs = {"input_ids": word_ids(BATCH, TOKENS, words=33), "attention_mask": torch.ones(BATCH, TOKENS, dtype=torch.int64)}
    return called(transformers.EsmModel(config), inputs, dict.fromkeys(inputs, TOKEN_AXES), "last_hidden_state")


def modernbert() -> Architecture:
    """Local attention alternates with global attention."""
    config = transformers.ModernBertConfig(**SIZES, pad_token_id=0, local_attention=8, global_attn_every_n_layers=2)
    return _text(transformers.ModernBertModel(config), "last_hidden_state", "attention_mask")


def canine() -> Architecture:
    """Characters are hashed into several tables, and are gathered to molecules."""
    more = {"num_hash_functions": 4, "num_hash_buckets": 256, "downsampling_rate": 4, "local_transformer_stride": 16}
    config = transformers.CanineConfig(**{key: SIZES[key] for key in SIZES if key != "vocab_size"}, **more)
    return _text(transformers.CanineModel(config), "last_hidden_state", "attention_mask")


def mamba() -> Architecture:
    """A state space, step by step."""
    config = transformers.MambaConfig(
        vocab_size=WORDS, hidden_size=32, state_size=8, num_hidden_layers=2, use_mambapy=False, use_cache=False
    )
    return _text(transformers.MambaForCausalLM(config), "logits", tokens=16, use_cache=False)


def rwkv() -> Architecture:
    """A recurrence, step by step."""
    config = transformers.RwkvConfig(
        vocab_size=WORDS, context_length=128, hidden_size=32, attention_hidden_size=32, num_hidden_layers=2, use_cache=False
    )
    return _text(transformers.RwkvModel(config), "last_hidden_state", tokens=16, use_cache=False)


ARCHITECTURES = [
    bert,
    roberta,
    deberta,
    deberta_v1,
    t5,
    bart,
    llama,
    gpt_neox,
    gpt2_classifier,
    opt,
    mixtral,
    qwen2_moe,
    xlm,
    xlnet,
    big_bird,
    longformer,
    funnel,
    tapas,
    roformer,
    mpnet,
    esm,
    modernbert,
    canine,
    mamba,
    rwkv,
]
