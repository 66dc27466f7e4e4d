"""DFlash (arXiv 2602.06036): a few Qwen3-style layers that fill a whole block of masked positions in one pass.

Parameters carry the published names, so a state dict is a checkpoint. Embedding and head are the target's,
frozen, the mask token's row included. Keys and values are those of the committed rows (made from the target's
tapped states, once) and of the block itself, which sees all of itself.
"""

import torch
from torch import Tensor, nn

from bundled.model import FeedForward, LanguageModel, Linear, Norm, Sizes, rope, rotate

Context = list[tuple[Tensor, Tensor]]  # a layer: keys, values; [batch, kv_heads, rows, head_dim]


class Attention(nn.Module):
    """Queries from the block; keys and values from the context, then the block."""

    def __init__(self, s: Sizes) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = s.heads, s.kv_heads, s.head_dim
        self.q_proj = Linear(s.width, s.heads * s.head_dim)
        self.k_proj = Linear(s.width, s.kv_heads * s.head_dim)
        self.v_proj = Linear(s.width, s.kv_heads * s.head_dim)
        self.o_proj = Linear(s.heads * s.head_dim, s.width, gain=(2 * s.layers) ** -0.5)
        self.q_norm = Norm(s.head_dim, s.norm_eps)
        self.k_norm = Norm(s.head_dim, s.norm_eps)

    def rows(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        """Keys (normed, rotated) and values of some rows."""
        shape = (*x.shape[:2], self.kv_heads, self.head_dim)
        k = self.k_norm(self.k_proj(x).view(shape)).transpose(1, 2)
        return rotate(k, cos, sin), self.v_proj(x).view(shape).transpose(1, 2)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, context: tuple[Tensor, Tensor], seen: Tensor) -> Tensor:
        """Rows of one or more blocks; `seen` [batch, blocks, context rows] is true where a block looks."""
        batch, length, _ = x.shape
        blocks, kv = seen.shape[1], self.kv_heads
        q = self.q_norm(self.q_proj(x).view(batch, length, self.heads, self.head_dim)).transpose(1, 2)
        q = (rotate(q, cos, sin) * self.head_dim**-0.5).reshape(batch, kv, -1, self.head_dim)
        k, v = (part.unflatten(2, (blocks, -1)).unsqueeze(2) for part in self.rows(x, cos, sin))
        outer = (q @ context[0].mT).view(batch, kv, -1, blocks, length // blocks, seen.shape[-1])
        outer = outer.masked_fill(~seen[:, None, None, :, None], -3e4)
        inner = q.view(batch, kv, -1, blocks, length // blocks, self.head_dim) @ k.mT
        weights = torch.cat((outer, inner), dim=-1).softmax(-1)
        outer, inner = weights.split((seen.shape[-1], length // blocks), dim=-1)
        y = (outer.flatten(2, 4) @ context[1]).view(batch, self.heads, length, self.head_dim)
        y = y + (inner @ v).reshape(y.shape)
        return self.o_proj(y.transpose(1, 2).reshape(batch, length, -1))


class Layer(nn.Module):
    def __init__(self, s: Sizes) -> None:
        super().__init__()
        self.input_layernorm = Norm(s.width, s.norm_eps)
        self.self_attn = Attention(s)
        self.post_attention_layernorm = Norm(s.width, s.norm_eps)
        self.mlp = FeedForward(s)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, context: tuple[Tensor, Tensor], seen: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, context, seen)
        return x + self.mlp(self.post_attention_layernorm(x))


class DFlash(nn.Module):
    """The drafter; `taps` are 0-based target layers whose outputs it reads."""

    def __init__(self, sizes: Sizes, taps: list[int], mask_id: int, block: int) -> None:
        super().__init__()
        self.sizes, self.taps, self.mask_id, self.block = sizes, taps, mask_id, block
        self.fc = Linear(len(taps) * sizes.width, sizes.width)
        self.hidden_norm = Norm(sizes.width, sizes.norm_eps)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))
        self.norm = Norm(sizes.width, sizes.norm_eps)
        cos, sin = rope(sizes)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def tapped(self, states: list[Tensor]) -> Tensor:
        """What it reads of the target's residual stream (`states[0]` is the embeddings)."""
        return torch.cat([states[layer + 1] for layer in self.taps], dim=-1)

    def fuse(self, tapped: Tensor) -> Tensor:
        return self.hidden_norm(self.fc(tapped))

    def turn(self, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Cosines and sines of [batch, rows] positions, for all heads."""
        return self.cos[positions].to(dtype)[:, None], self.sin[positions].to(dtype)[:, None]

    def context(self, fused: Tensor, positions: Tensor) -> Context:
        """Keys and values that committed rows keep for good."""
        cos, sin = self.turn(positions, fused.dtype)
        return [layer.self_attn.rows(fused, cos, sin) for layer in self.layers]

    def forward(self, embedded: Tensor, positions: Tensor, context: Context, seen: Tensor) -> Tensor:
        """Normed states of the rows of one or more blocks; `seen` [batch, blocks, context rows] is true where one looks."""
        cos, sin = self.turn(positions, embedded.dtype)
        x = embedded
        for layer, pair in zip(self.layers, context, strict=True):
            x = layer(x, cos, sin, pair, seen)
        return self.norm(x)


def before(anchors: Tensor, rows: int) -> Tensor:
    """What a block sees of the context: the rows before its anchor. [batch, blocks] to [batch, blocks, rows]."""
    return torch.arange(rows)[None, None] < anchors[:, :, None]


def block_logits(drafter: DFlash, target: LanguageModel, ids: Tensor, context: Context, anchors: Tensor, block: int) -> Tensor:
    """One packed pass over all blocks; [batch, blocks, block - 1, vocabulary]; slot k is at position anchor + k."""
    batch, blocks = anchors.shape
    filled = torch.full((batch, blocks, block), drafter.mask_id)
    filled[:, :, 0] = ids.gather(1, anchors)
    positions = (anchors[:, :, None] + torch.arange(block)).flatten(1)
    embedded = target.model.embed_tokens(filled.flatten(1)).to(context[0][0].dtype)
    seen = before(anchors, context[0][0].shape[2])
    made = drafter(embedded, positions, context, seen).view(batch, blocks, block, -1)
    return target.head(made[:, :, 1:])
