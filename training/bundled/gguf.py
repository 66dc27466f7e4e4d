"""Writes a model of the bundled family as one GGUF file, for llama.cpp: f16 matrices, f32 norms, the tokenizer inside.

python -m bundled.gguf ../public/models/target target.gguf

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

ALIGNMENT = 32
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
F32, F16 = 0, 1
NORMAL, CONTROL = 1, 3

# llama.cpp knows pre-tokenizers by name, and none is ours. This one (Qwen's, without normalisation) cuts more coarsely in
# places, but our merges never reach across our own cuts, so the tokens are the same (tests/test_gguf.py holds it to that).
PRE_TOKENIZER = "deepseek-r1-qwen"

OUTER = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}
INNER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def ggml_name(name: str) -> str:
    if name in OUTER:
        return OUTER[name]
    _, _, layer, rest = name.split(".", 3)
    return f"blk.{layer}.{INNER[rest.removesuffix('.weight')]}.weight"


def string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind: int, x) -> bytes:
    if kind == STRING:
        return string(x)
    return struct.pack({UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?"}[kind], x)


def field(key: str, kind: int, x) -> bytes:
    """One entry of the metadata; a list becomes an array of `kind`."""
    if not isinstance(x, list):
        return string(key) + struct.pack("<I", kind) + value(kind, x)
    return string(key) + struct.pack("<IIQ", ARRAY, kind, len(x)) + b"".join(value(kind, item) for item in x)


def architecture(config: dict, name: str) -> list[bytes]:
    return [
        field("general.architecture", STRING, "qwen3"),
        field("general.name", STRING, name),
        field("general.file_type", UINT32, 1),
        field("qwen3.block_count", UINT32, config["num_hidden_layers"]),
        field("qwen3.context_length", UINT32, config["max_position_embeddings"]),
        field("qwen3.embedding_length", UINT32, config["hidden_size"]),
        field("qwen3.feed_forward_length", UINT32, config["intermediate_size"]),
        field("qwen3.attention.head_count", UINT32, config["num_attention_heads"]),
        field("qwen3.attention.head_count_kv", UINT32, config["num_key_value_heads"]),
        field("qwen3.attention.key_length", UINT32, config["head_dim"]),
        field("qwen3.attention.value_length", UINT32, config["head_dim"]),
        field("qwen3.attention.layer_norm_rms_epsilon", FLOAT32, config["rms_norm_eps"]),
        field("qwen3.rope.freq_base", FLOAT32, config["rope_theta"]),
    ]


def tokenizer(files: dict, settings: dict, config: dict) -> list[bytes]:
    vocabulary = files["model"]["vocab"] | {token["content"]: token["id"] for token in files["added_tokens"]}
    control = {token["id"] for token in files["added_tokens"] if token["special"]}
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[token] for token in tokens] != list(range(config["vocab_size"])):
        raise ValueError(f"the vocabulary has {len(tokens)} tokens with gaps, the model {config['vocab_size']}")
    return [
        field("tokenizer.ggml.model", STRING, "gpt2"),
        field("tokenizer.ggml.pre", STRING, PRE_TOKENIZER),
        field("tokenizer.ggml.tokens", STRING, tokens),
        field("tokenizer.ggml.token_type", INT32, [CONTROL if i in control else NORMAL for i in range(len(tokens))]),
        field("tokenizer.ggml.merges", STRING, [" ".join(pair) for pair in files["model"]["merges"]]),
        field("tokenizer.ggml.bos_token_id", UINT32, config["bos_token_id"]),
        field("tokenizer.ggml.eos_token_id", UINT32, config["eos_token_id"]),
        field("tokenizer.ggml.padding_token_id", UINT32, config["pad_token_id"]),
        field("tokenizer.ggml.add_bos_token", BOOL, settings["add_bos_token"]),
        field("tokenizer.chat_template", STRING, settings["chat_template"]),
    ]


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)


def export(folder: Path) -> bytes:
    """The file for the model in `folder`."""
    config, files, settings = (
        json.loads((folder / name).read_text()) for name in ("config.json", "tokenizer.json", "tokenizer_config.json")
    )
    metadata = architecture(config, f"outrider-{folder.name}") + tokenizer(files, settings, config)
    infos, data = [], []
    offset = 0
    for name, tensor in load_file(folder / "model.safetensors").items():
        kind = F16 if tensor.ndim == 2 else F32
        body = padded(tensor.astype(np.float16 if kind == F16 else np.float32).tobytes())
        shape = struct.pack(f"<I{tensor.ndim}Q", tensor.ndim, *reversed(tensor.shape))
        infos.append(string(ggml_name(name)) + shape + struct.pack("<IQ", kind, offset))
        data.append(body)
        offset += len(body)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(metadata))
    return padded(head + b"".join(metadata) + b"".join(infos)) + b"".join(data)


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_bytes(export(source))
