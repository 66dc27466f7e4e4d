"""EAGLE-3: one layer that reads the target's features and the next token, and then its own output again.

Parameters carry the published names. Row t holds the feature of token t with the embedding of token t + 1, at
rotary position t, and predicts token t + 2. Later draft rows use the layer's output before `norm` as feature.
Its head covers the most frequent target tokens only: target id = i + d2t[i]. With `normed` (norm_before_residual) the
residual is the normed feature, which keeps the target's few enormous activations out of the stream.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bundled.model import FeedForward, Linear, Norm, Sizes, causal_mask, rope, rotate


def feature_layers(target_layers: int) -> list[int]:
    """Which entries of the target's residual stream are read: the inputs of layers 2, L // 2 and L - 3."""
    return [2, target_layers // 2, target_layers - 3]


class Attention(nn.Module):
    """Causal, on inputs twice as wide as the model; Llama's, so without q/k norms."""

    def __init__(self, s: Sizes) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = s.heads, s.kv_heads, s.head_dim
        self.q_proj = Linear(2 * s.width, s.heads * s.head_dim)
        self.k_proj = Linear(2 * s.width, s.kv_heads * s.head_dim)
        self.v_proj = Linear(2 * s.width, s.kv_heads * s.head_dim)
        self.o_proj = Linear(s.heads * s.head_dim, s.width, gain=2**-0.5)

    def project(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Scaled queries, keys and values, all with the query heads; [batch, heads, rows, head_dim]."""
        group = self.heads // self.kv_heads
        q = self.q_proj(x).unflatten(-1, (self.heads, self.head_dim)).transpose(1, 2)
        k = self.k_proj(x).unflatten(-1, (self.kv_heads, self.head_dim)).transpose(1, 2)
        v = self.v_proj(x).unflatten(-1, (self.kv_heads, self.head_dim)).transpose(1, 2)
        k, v = rotate(k, cos, sin).repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
        return rotate(q, cos, sin) * self.head_dim**-0.5, k, v


class MidLayer(nn.Module):
    def __init__(self, s: Sizes, normed: bool) -> None:
        super().__init__()
        self.normed = normed
        self.input_layernorm = Norm(s.width, s.norm_eps)
        self.hidden_norm = Norm(s.width, s.norm_eps)
        self.self_attn = Attention(s)
        self.post_attention_layernorm = Norm(s.width, s.norm_eps)
        self.mlp = FeedForward(s)

    def project(self, embedded: Tensor, feature: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = torch.cat((self.input_layernorm(embedded), self.hidden_norm(feature)), dim=-1)
        return self.self_attn.project(x, cos, sin)

    def finish(self, feature: Tensor, attended: Tensor) -> Tensor:
        """From the attention's heads [batch, heads, rows, head_dim] to the layer's output."""
        residual = self.hidden_norm(feature) if self.normed else feature
        x = residual + self.self_attn.o_proj(attended.transpose(1, 2).flatten(2))
        return x + self.mlp(self.post_attention_layernorm(x))


class Eagle3(nn.Module):
    def __init__(self, sizes: Sizes, drafted: int, normed: bool = False) -> None:
        super().__init__()
        self.sizes = sizes
        self.fc = Linear(3 * sizes.width, sizes.width)
        self.midlayer = MidLayer(sizes, normed)
        self.norm = Norm(sizes.width, sizes.norm_eps)
        self.lm_head = Linear(sizes.width, drafted)
        self.register_buffer("d2t", torch.zeros(drafted, dtype=torch.int64))
        self.register_buffer("t2d", torch.zeros(sizes.vocabulary, dtype=torch.bool))
        cos, sin = rope(sizes)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def cover(self, ids: Tensor) -> None:
        """Sets the reduced vocabulary to these target ids (ascending)."""
        self.d2t.copy_(ids - torch.arange(len(ids)))
        self.t2d.zero_()[ids] = True

    def draft_index(self) -> Tensor:
        """Target id to row of the head; -1 where the token cannot be drafted."""
        return torch.where(self.t2d, self.t2d.cumsum(0) - 1, -1)

    def features(self, states: list[Tensor]) -> Tensor:
        """What it reads of the target's residual stream (`states[0]` is the embeddings)."""
        return torch.cat([states[i] for i in feature_layers(len(states) - 1)], dim=-1)

    def logits(self, out: Tensor) -> Tensor:
        """Logits over the reduced vocabulary, from the layer's output."""
        return self.lm_head(self.norm(out))

    def step(self, embedded: Tensor, feature: Tensor, positions: Tensor, cache: list[Tensor], mask: Tensor) -> Tensor:
        """Some rows after the cached ones, whose keys and values join the cache; `mask` is true where a row looks."""
        cos, sin = self.cos[positions].to(feature.dtype), self.sin[positions].to(feature.dtype)
        q, k, v = self.midlayer.project(embedded, feature, cos, sin)
        if cache:
            k, v = torch.cat((cache[0], k), dim=2), torch.cat((cache[1], v), dim=2)
        cache[:] = [k, v]
        scores = (q @ k.mT).masked_fill(~mask, float("-inf"))
        return self.midlayer.finish(feature, scores.softmax(-1) @ v)

    def unrolled(self, embedded: Tensor, feature: Tensor, depth: int) -> list[Tensor]:
        """The training-time test: outputs [batch, rows, width] of `depth` steps, all chains of a text at once.

        Step s, row t is the s-th draft row of the chain that left the true rows at t - s: it sees the true rows up to
        there, then the chain's own rows (step 1 at t - s + 1, …, itself). Rows t < s belong to no chain.
        """
        rows = embedded.shape[1]
        cos, sin = self.cos[:rows].to(feature.dtype), self.sin[:rows].to(feature.dtype)
        q, k, v = self.midlayer.project(embedded, feature, cos, sin)
        true_k, true_v = k, v
        hidden = causal_mask(rows)
        attended = (q @ k.mT).masked_fill(hidden, -3e4).softmax(-1) @ v
        made = [self.midlayer.finish(feature, attended)]
        chain: list[tuple[Tensor, Tensor]] = []
        for step in range(1, depth):
            feature = shifted(made[-1], 1, dim=1)
            q, k, v = self.midlayer.project(embedded, feature, cos, sin)
            chain.append((k, v))
            seen = torch.ones(rows, rows, dtype=torch.bool).tril(-step)
            scores = (q @ true_k.mT).masked_fill(~seen, -3e4)
            # The chain's own rows: step j lies step - j rows back.
            own = [(q * shifted(k, step - j, dim=2)).sum(-1, keepdim=True) for j, (k, _) in enumerate(chain, 1)]
            weights = torch.cat((scores, *own), dim=-1).softmax(-1)
            attended = weights[..., :rows] @ true_v
            for j, (_, v) in enumerate(chain, 1):
                attended = attended + weights[..., rows + j - 1, None] * shifted(v, step - j, dim=2)
            made.append(self.midlayer.finish(feature, attended))
        return made


def shifted(x: Tensor, by: int, dim: int) -> Tensor:
    """Rows moved to later positions, zeros before them."""
    if by == 0:
        return x
    kept = x.narrow(dim, 0, x.shape[dim] - by)
    return torch.cat((torch.zeros_like(x.narrow(dim, 0, by)), kept), dim=dim)


def chain_hits(made: list[Tensor], drafter: Eagle3, ids: Tensor) -> Tensor:
    """[batch, rows, depth]: whether draft s of the chain that starts at row t is the text's token t + 2 + s."""
    hits = []
    for step, out in enumerate(made):
        drafts = drafter.logits(out).argmax(-1)
        drafts = drafts + drafter.d2t[drafts]
        right = drafts[:, :-2] == ids[:, 2:]
        right = F.pad(right, (0, 2))
        hits.append(F.pad(right[:, step:], (0, step)))
    return torch.stack(hits, dim=-1)
