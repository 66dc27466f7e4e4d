"""The Qwen3 architecture in plain PyTorch, for training and for batched greedy decoding on a CPU.

Parameters carry the names that `Qwen3ForCausalLM` uses, so a state dict is a checkpoint. Master weights are
f32; every matmul casts to the stream's type (`STREAM` in training, f32 in evaluation).
"""

from dataclasses import dataclass
from functools import cache as memoize

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# Without AVX-512 torch multiplies bf16 without SIMD: 9 GFLOP/s instead of 82 in f32 on a Zen 3 core.
FAST_BF16 = torch.cuda.is_available() or torch.backends.cpu.get_cpu_capability().startswith("AVX512")
STREAM = torch.bfloat16 if FAST_BF16 else torch.float32


@dataclass(frozen=True)
class Sizes:
    """The widths that tell the three models apart."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocabulary: int = 512
    positions: int = 1024
    rope_theta: float = 10000.0
    norm_eps: float = 1e-6
    tied: bool = True


SIZES = {
    "target": Sizes(layers=6, width=192, heads=4, kv_heads=2, head_dim=64, ffn=512),
    "mid": Sizes(layers=4, width=128, heads=4, kv_heads=2, head_dim=32, ffn=352),
    "draft": Sizes(layers=2, width=96, heads=3, kv_heads=1, head_dim=32, ffn=256),
}


class Linear(nn.Module):
    """A bias-free matrix that casts itself to its input's type."""

    def __init__(self, inputs: int, outputs: int, gain: float = 1.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) * gain * inputs**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight.to(x.dtype))


class Norm(nn.Module):
    """RMSNorm, computed in f32 as Qwen3 does."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x.float(), x.shape[-1:], self.weight, self.eps).to(x.dtype)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """RoPE on halves, in the stream's type."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


@memoize
def causal_mask(length: int) -> Tensor:
    """True where a row must not look."""
    return torch.ones(length, length, dtype=torch.bool).triu(1)


class Attention(nn.Module):
    """Grouped-query attention with per-head q/k norms."""

    def __init__(self, s: Sizes) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = s.heads, s.kv_heads, s.head_dim
        self.q_proj = Linear(s.width, s.heads * s.head_dim)
        self.k_proj = Linear(s.width, s.kv_heads * s.head_dim)
        self.v_proj = Linear(s.width, s.kv_heads * s.head_dim)
        self.o_proj = Linear(s.heads * s.head_dim, s.width, gain=(2 * s.layers) ** -0.5)
        self.q_norm = Norm(s.head_dim, s.norm_eps)
        self.k_norm = Norm(s.head_dim, s.norm_eps)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, cache: list[Tensor] | None, mask: Tensor | None) -> Tensor:
        batch, length, _ = x.shape
        q = self.q_norm(self.q_proj(x).view(batch, length, self.heads, self.head_dim)).transpose(1, 2)
        k = self.k_norm(self.k_proj(x).view(batch, length, self.kv_heads, self.head_dim)).transpose(1, 2)
        v = self.v_proj(x).view(batch, length, self.kv_heads, self.head_dim).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if cache is not None:
            if cache:
                k, v = torch.cat((cache[0], k), dim=2), torch.cat((cache[1], v), dim=2)
            cache[:] = [k, v]
        group = self.heads // self.kv_heads
        k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
        # Written out: for short rows on a CPU the fused kernel's backward pass takes twice as long.
        hidden = causal_mask(length) if mask is None else ~mask
        scores = (q * self.head_dim**-0.5) @ k.mT
        y = scores.masked_fill_(hidden, -3e4).softmax(-1) @ v
        return self.o_proj(y.transpose(1, 2).reshape(batch, length, -1))


class FeedForward(nn.Module):
    """SwiGLU."""

    def __init__(self, s: Sizes) -> None:
        super().__init__()
        self.gate_proj = Linear(s.width, s.ffn)
        self.up_proj = Linear(s.width, s.ffn)
        self.down_proj = Linear(s.ffn, s.width, gain=(2 * s.layers) ** -0.5)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, s: Sizes) -> None:
        super().__init__()
        self.input_layernorm = Norm(s.width, s.norm_eps)
        self.self_attn = Attention(s)
        self.post_attention_layernorm = Norm(s.width, s.norm_eps)
        self.mlp = FeedForward(s)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, cache: list[Tensor] | None, mask: Tensor | None) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, cache, mask)
        return x + self.mlp(self.post_attention_layernorm(x))


class Body(nn.Module):
    """What Qwen3 calls `model`: embeddings, layers, last norm."""

    def __init__(self, s: Sizes) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(s.vocabulary, s.width)
        self.embed_tokens.weight.data.normal_(0, 0.02)
        self.layers = nn.ModuleList(Layer(s) for _ in range(s.layers))
        self.norm = Norm(s.width, s.norm_eps)


def rope(s: Sizes) -> tuple[Tensor, Tensor]:
    """Cosines and sines of every position; [positions, head_dim]."""
    frequencies = s.rope_theta ** (-torch.arange(0, s.head_dim, 2).float() / s.head_dim)
    angles = torch.arange(s.positions).float()[:, None] * frequencies[None, :]
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos(), angles.sin()


class LanguageModel(nn.Module):
    """Embeddings and head are one matrix, unless the sizes say otherwise (only the golden models do)."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.model = Body(sizes)
        if not sizes.tied:
            self.lm_head = Linear(sizes.width, sizes.vocabulary)
        cos, sin = rope(sizes)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def states(
        self,
        ids: Tensor,
        dtype: torch.dtype = torch.float32,
        positions: Tensor | None = None,
        caches: list[list[Tensor]] | None = None,
        mask: Tensor | None = None,
    ) -> list[Tensor]:
        """The residual stream of every position: the embeddings, then each layer's output; [batch, length, width]."""
        x = self.model.embed_tokens(ids).to(dtype)
        if positions is None:
            cos, sin = self.cos[: ids.shape[1]].to(dtype), self.sin[: ids.shape[1]].to(dtype)
        else:
            cos, sin = self.cos[positions].to(dtype)[:, None], self.sin[positions].to(dtype)[:, None]
        made = [x]
        for index, layer in enumerate(self.model.layers):
            made.append(layer(made[-1], cos, sin, caches[index] if caches is not None else None, mask))
        return made

    def hidden(self, *args, **named) -> Tensor:
        """The normed last state of every position; takes what `states` takes."""
        return self.model.norm(self.states(*args, **named)[-1])

    def head(self, hidden: Tensor) -> Tensor:
        weight = self.model.embed_tokens.weight if self.sizes.tied else self.lm_head.weight
        return F.linear(hidden, weight.to(hidden.dtype))


@torch.no_grad()
def greedy(
    model: LanguageModel,
    prompts: list[list[int]],
    eos: int,
    pad: int,
    limit: int = 260,
    offset: int = 0,
    drawn: torch.Generator | None = None,
) -> list[list[int]]:
    """Batched greedy answers with a KV cache; prompts are padded on the left, so positions stay true.

    `offset` moves every position (a check that RoPE holds further out than a problem is long). `drawn`: at temperature 1
    instead, with this generator.
    """
    width = max(len(p) for p in prompts)
    ids = torch.tensor([[pad] * (width - len(p)) + p for p in prompts])
    begin = torch.tensor([width - len(p) for p in prompts])
    columns = torch.arange(width + limit)
    seen = columns[None, :] >= begin[:, None]
    causal = columns[None, :width] <= columns[:width, None]
    mask = (seen[:, None, :width] & causal[None]) | torch.eye(width, dtype=torch.bool)[None]
    caches: list[list[Tensor]] = [[] for _ in model.model.layers]
    positions = (columns[None, :width] - begin[:, None]).clamp(min=0) + offset
    hidden = model.hidden(ids, positions=positions, caches=caches, mask=mask[:, None])[:, -1:]
    answers: list[list[int]] = [[] for _ in prompts]
    open_rows = list(range(len(prompts)))
    for index in range(limit):
        logits = model.head(hidden)[:, 0]
        if drawn:
            logits = logits - torch.rand(logits.shape, generator=drawn).log().neg().log()
        token = logits.argmax(-1)
        keep = []
        for row, value in enumerate(token.tolist()):
            if value != eos:
                answers[open_rows[row]].append(value)
                keep.append(row)
        if not keep:
            break
        if len(keep) < len(open_rows):
            chosen = torch.tensor(keep)
            open_rows = [open_rows[row] for row in keep]
            token, begin, seen = token[chosen], begin[chosen], seen[chosen]
            caches = [[part[chosen] for part in cache] for cache in caches]
        here = width + index
        hidden = model.hidden(
            token[:, None],
            positions=(here - begin)[:, None] + offset,
            caches=caches,
            mask=seen[:, None, None, : here + 1],
        )
    return answers
