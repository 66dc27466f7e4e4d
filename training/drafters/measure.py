"""Acceptance lengths of greedy runs without verifying again and again.

A greedy exact run commits the target's greedy text whatever the drafter says, so one pass of the target over that
text holds every feature that any round will read; only the drafter is run, many problems at a time. The tests hold
this against `decode.py`, which really verifies. Lengths count committed tokens, <eos> included; the first token
comes from the prefill and belongs to no round.
"""

import torch
from torch import Tensor

from bundled.model import LanguageModel

from .answers import Batch, read
from .dflash import DFlash, block_logits
from .eagle import Eagle3, chain_hits

Lengths = list[list[int]]


def groups(texts: list[list[int]], size: int = 60) -> list[list[int]]:
    """Indices of texts of like length."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    return [order[i : i + size] for i in range(0, len(order), size)]


def whole(target: LanguageModel, texts: list[list[int]], prompts: list[int], drawn: bool = False) -> Batch:
    """The target's states over its own texts, in f32. `drawn`: they are not its greedy ones."""
    return read(target, texts, prompts, torch.float32, drawn)


@torch.no_grad()
def dflash_lengths(target: LanguageModel, drafter: DFlash, batch: Batch, block: int) -> Lengths:
    rows = torch.arange(batch.ids.shape[1])[None].expand(len(batch.ids), -1)
    context = drafter.context(drafter.fuse(drafter.tapped(batch.states)), rows)
    lengths: Lengths = [[] for _ in batch.ids]
    anchors = batch.starts.clone()
    alive = (anchors < batch.ends).nonzero()[:, 0]
    while len(alive):
        part = [(k[alive], v[alive]) for k, v in context]
        ids, start, end = batch.ids[alive], anchors[alive], batch.ends[alive]
        committed = torch.ones(len(alive), dtype=torch.int64)
        if block > 1:
            drafts = block_logits(drafter, target, ids, part, start[:, None], block)[:, 0].argmax(-1)
            places = start[:, None] + torch.arange(1, block)
            right = (ids.gather(1, places.clamp(max=ids.shape[1] - 1)) == drafts) & (places <= end[:, None])
            committed += right.int().cumprod(-1).sum(-1)
        committed = torch.minimum(committed, end - start)
        for index, value in zip(alive.tolist(), committed.tolist(), strict=True):
            lengths[index].append(value)
        anchors[alive] += committed
        alive = (anchors < batch.ends).nonzero()[:, 0]
    return lengths


def lengths_from_hits(hits: Tensor, start: int, end: int) -> list[int]:
    """Rounds from [positions, γ]: whether draft s, made when `position` is the anchor, is the text's token there."""
    runs = hits.int().cumprod(-1).sum(-1).tolist()
    made, anchor = [], start
    while anchor < end:
        made.append(min(runs[anchor] + 1, end - anchor))
        anchor += made[-1]
    return made


@torch.no_grad()
def eagle_lengths(target: LanguageModel, drafter: Eagle3, batch: Batch, depth: int) -> Lengths:
    """Chains of `depth` drafts. The row before the anchor starts the chain: it holds the anchor's embedding."""
    embedded = target.model.embed_tokens(batch.ids.roll(-1, dims=1))
    made = drafter.unrolled(embedded, drafter.fc(drafter.features(batch.states)), depth)
    hits = chain_hits(made, drafter, batch.ids).roll(1, dims=1)
    spans = zip(hits, batch.starts.tolist(), batch.ends.tolist(), strict=True)
    return [lengths_from_hits(h, start, end) for h, start, end in spans]


@torch.no_grad()
def draft_lengths(draft: LanguageModel, batch: Batch, gamma: int) -> Lengths:
    """A draft model's γ greedy tokens: as long as they are right, its input is the text itself."""
    right = draft.head(draft.hidden(batch.ids)).argmax(-1)[:, :-1] == batch.ids[:, 1:]
    right = torch.nn.functional.pad(right, (0, gamma))
    hits = right.unfold(1, gamma, 1)
    spans = zip(hits, batch.starts.tolist(), batch.ends.tolist(), strict=True)
    return [lengths_from_hits(h, start, end) for h, start, end in spans]


def mean(lengths: Lengths) -> float:
    """τ: committed tokens in a round, over all rounds."""
    return sum(map(sum, lengths)) / sum(map(len, lengths))
