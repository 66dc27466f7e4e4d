"""SmolLM2-135M-Instruct in plain PyTorch: whole texts, and batched decoding with a cache of fixed slots.

Weights come from the GGUF file that the engine loads too, so drafters learn from the very weights that they serve.
"""

import json
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor

from . import gguf

TAPS = [1, 14, 27]  # outputs of these layers: the default rule for three taps
END = 2  # <|im_end|>
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"  # the template's own


def chat(user: str) -> str:
    """The chat template for one user message."""
    return f"{user_header()}{user}<|im_end|>\n<|im_start|>assistant\n"


def user_header() -> str:
    return f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n"


def tokenizer_of(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def halves(weight: Tensor, heads: int) -> Tensor:
    """GGUF pairs neighbouring rows of a head for RoPE; here row i turns with row i + head_dim / 2."""
    return weight.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2)


class Cache:
    """Keys and values of `slots` texts of at most `length` tokens; [layers, slots, kv_heads, length, head_dim]."""

    def __init__(self, target: "Target", slots: int, length: int) -> None:
        shape = (target.layers, slots, target.kv_heads, length, target.head_dim)
        self.k = torch.zeros(shape, dtype=target.dtype)
        self.v = torch.zeros(shape, dtype=target.dtype)

    def keep(self, slots: Tensor) -> None:
        """These slots alone, which move to the front; a layer at a time, so that it takes little memory."""
        for stored in (self.k, self.v):
            for layer in stored:
                layer[: len(slots)] = layer[slots]
        self.k, self.v = self.k[:, : len(slots)], self.v[:, : len(slots)]


class Target:
    def __init__(self, folder: Path, dtype: torch.dtype = torch.bfloat16) -> None:
        config = json.loads((folder / "config.json").read_text())
        (file,) = folder.glob("*.gguf")
        _, stored = gguf.read(file)
        w = {name: value.to(torch.get_default_device()) for name, value in stored.items()}
        self.dtype = dtype
        self.layers, self.width = config["num_hidden_layers"], config["hidden_size"]
        self.heads, self.kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
        self.head_dim, self.eps = config["head_dim"], config["rms_norm_eps"]
        self.vocabulary, self.theta = config["vocab_size"], config["rope_theta"]
        self.embedding = w["token_embd.weight"].to(dtype)
        self.norm = w["output_norm.weight"]
        self.blocks = []
        for i in range(self.layers):
            part = {
                name: w[f"blk.{i}.{name}.weight"]
                for name in ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down")
            }
            qkv = torch.cat((halves(part["attn_q"], self.heads), halves(part["attn_k"], self.kv_heads), part["attn_v"]))
            self.blocks.append(
                (
                    part["attn_norm"],
                    qkv.to(dtype),
                    part["attn_output"].to(dtype),
                    part["ffn_norm"],
                    torch.cat((part["ffn_gate"], part["ffn_up"])).to(dtype),
                    part["ffn_down"].to(dtype),
                )
            )
        frequencies = self.theta ** (-torch.arange(0, self.head_dim, 2).float() / self.head_dim)
        angles = torch.arange(config["max_position_embeddings"]).float()[:, None] * frequencies
        self.cos, self.sin = angles.cos(), angles.sin()

    def normed(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x.float(), x.shape[-1:], weight, self.eps).to(self.dtype)

    def rotate(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """[rows, tokens, heads, head_dim] by [rows, tokens, 1, head_dim / 2]."""
        a, b = x.float().chunk(2, dim=-1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1).to(self.dtype)

    def run(self, ids: Tensor, positions: Tensor, attend) -> tuple[Tensor, Tensor]:
        """Taps [rows, tokens, 3 * width] and normed last states; `attend(layer, q, k, v)` gives the heads' output."""
        x = F.embedding(ids, self.embedding).float()
        taps = []
        kv = self.kv_heads * self.head_dim
        cos, sin = self.cos[positions][:, :, None], self.sin[positions][:, :, None]
        for layer, (norm1, qkv, out, norm2, gate_up, down) in enumerate(self.blocks):
            qk, v = F.linear(self.normed(x, norm1), qkv).split((self.width + kv, kv), dim=-1)
            qk = self.rotate(qk.unflatten(-1, (-1, self.head_dim)), cos, sin)
            q, k = qk.split((self.heads, self.kv_heads), dim=2)
            y = attend(layer, q, k, v.unflatten(-1, (-1, self.head_dim)))
            x = x + F.linear(y, out)
            gate, up = F.linear(self.normed(x, norm2), gate_up).chunk(2, dim=-1)
            x = x + F.linear(F.silu(gate) * up, down)
            if layer in TAPS:
                taps.append(x.to(self.dtype))
        return torch.cat(taps, dim=-1), self.normed(x, self.norm)

    def head(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.embedding)

    @torch.no_grad()
    def read(self, ids: Tensor, cache: Cache | None = None, slots: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Whole texts, padded on the right; keys and values go to the cache's slots."""
        rows, length = ids.shape

        def attend(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            q, k, v = (part.transpose(1, 2) for part in (q, k, v))
            if cache is not None:
                cache.k[layer, slots, :, :length] = k
                cache.v[layer, slots, :, :length] = v
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            return y.transpose(1, 2).reshape(rows, length, -1)

        return self.run(ids, torch.arange(length).expand(rows, -1), attend)

    @torch.no_grad()
    def step(self, ids: Tensor, lengths: Tensor, cache: Cache, longest: int | None = None) -> tuple[Tensor, Tensor]:
        """One more token for every slot; `lengths` [slots] are the tokens it has, all below `longest`."""
        slots, longest = len(ids), longest or int(lengths.max()) + 1
        mask = torch.zeros(slots, 1, 1, longest, dtype=self.dtype)
        mask.masked_fill_(torch.arange(longest) > lengths[:, None, None, None], float("-inf"))
        rows = torch.arange(slots)
        group = self.heads // self.kv_heads

        def attend(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            cache.k[layer, rows, :, lengths] = k[:, 0]
            cache.v[layer, rows, :, lengths] = v[:, 0]
            # The query heads of one group are rows of the same attention.
            q = q.view(slots, self.kv_heads, group, self.head_dim)
            past = cache.k[layer, :, :, :longest], cache.v[layer, :, :, :longest]
            y = F.scaled_dot_product_attention(q, *past, attn_mask=mask.expand(-1, -1, group, -1))
            return y.reshape(slots, 1, -1)

        return self.run(ids[:, None], lengths[:, None], attend)
