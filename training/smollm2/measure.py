"""Acceptance lengths over the target's own greedy texts; only the drafter is run, as in `drafters/measure.py`.

A list holds one text's rounds: how many tokens each committed, the target's own included. The first token of an answer
comes from the prefill and belongs to no round.
"""

import torch
from torch import Tensor

from drafters.eagle import Eagle3, chain_hits
from drafters.measure import Lengths, lengths_from_hits

from .corpus import Batch, Corpus
from .dspark import DSpark


@torch.no_grad()
def dspark_lengths(drafter: DSpark, embedding: Tensor, batch: Batch, drafts: int) -> Lengths:
    rows = torch.arange(batch.ids.shape[1])[None].expand(len(batch.ids), -1)
    context = drafter.context(drafter.fuse(batch.taps), rows)
    lengths: Lengths = [[] for _ in batch.ids]
    anchors = batch.starts.clone()
    while len(alive := (anchors < batch.ends).nonzero()[:, 0]):
        part = [(k[alive], v[alive]) for k, v in context]
        ids, start, end = batch.ids[alive], anchors[alive], batch.ends[alive]
        hidden = drafter.states(embedding, ids, part, start[:, None], drafts)[:, 0]
        made = drafter.drafts(hidden, ids.gather(1, start[:, None])[:, 0])
        places = start[:, None] + 1 + torch.arange(drafts)
        right = (ids.gather(1, places.clamp(max=ids.shape[1] - 1)) == made) & (places <= end[:, None])
        committed = torch.minimum(1 + right.int().cumprod(-1).sum(-1), end - start)
        for index, value in zip(alive.tolist(), committed.tolist(), strict=True):
            lengths[index].append(value)
        anchors[alive] += committed
    return lengths


@torch.no_grad()
def eagle_lengths(drafter: Eagle3, embedding: Tensor, batch: Batch, drafts: int) -> Lengths:
    """Chains. The row before the anchor starts one: it holds the anchor's embedding."""
    embedded = torch.nn.functional.embedding(batch.ids.roll(-1, dims=1), embedding).to(batch.taps.dtype)
    made = drafter.unrolled(embedded, drafter.fc(batch.taps), drafts)
    hits = chain_hits(made, drafter, batch.ids).roll(1, dims=1)
    spans = zip(hits, batch.starts.tolist(), batch.ends.tolist(), strict=True)
    return [lengths_from_hits(h, start, end) for h, start, end in spans]


def corpus_lengths(drafter: DSpark | Eagle3, embedding: Tensor, corpus: Corpus, drafts: int) -> dict[str, Lengths]:
    """The rounds of every text of a corpus, by kind."""
    measure = eagle_lengths if isinstance(drafter, Eagle3) else dspark_lengths
    made: dict[str, Lengths] = {}
    for group in corpus.groups([text for text in corpus.texts() if corpus.length(text) > 1], 4000):
        batch = corpus.batch(group)
        batch.taps = batch.taps.float()
        lengths = measure(drafter, embedding, batch, drafts)
        for (name, i), each in zip(group, lengths, strict=True):
            made.setdefault(corpus.chunks[name]["kinds"][i], []).append(each)
    return made
