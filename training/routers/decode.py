"""Batched decoding of one step at a time: from many prefixes to the next blank line (or <eos>), with a KV cache."""

from dataclasses import dataclass

import torch
from torch import Tensor

from bundled.model import LanguageModel
from bundled.vocabulary import EOS, PAD

BREAK = 263  # the id of the blank line in the bundled tokenizer
LIMIT = 64  # tokens of a step; the longest right one has 44
ENDS = (BREAK, EOS)


@dataclass(frozen=True)
class Written:
    """A step, and the log-probability (at temperature 1) that its writer gave each of its tokens."""

    ids: list[int]
    logprobs: list[float]


def choose(logits: Tensor, temperature: float, generator: torch.Generator | None) -> Tensor:
    """One token a row: the most probable one, or a draw by the Gumbel trick."""
    if temperature == 0:
        return logits.argmax(-1)
    noise = torch.rand(logits.shape, generator=generator).clamp_min(1e-20)
    return (logits / temperature - torch.log(-torch.log(noise))).argmax(-1)


@torch.no_grad()
def batch_steps(
    model: LanguageModel, texts: list[list[int]], temperature: float, generator: torch.Generator | None
) -> list[Written]:
    width = max(map(len, texts))
    ids = torch.tensor([[PAD] * (width - len(t)) + t for t in texts])
    begin = torch.tensor([width - len(t) for t in texts])
    columns = torch.arange(width + LIMIT)
    seen = columns[None, :] >= begin[:, None]
    causal = columns[None, :width] <= columns[:width, None]
    mask = (seen[:, None, :width] & causal[None]) | torch.eye(width, dtype=torch.bool)[None]
    caches: list[list[Tensor]] = [[] for _ in model.model.layers]
    positions = (columns[None, :width] - begin[:, None]).clamp(min=0)
    hidden = model.hidden(ids, positions=positions, caches=caches, mask=mask[:, None])[:, -1:]
    made = [Written([], []) for _ in texts]
    rows = list(range(len(texts)))
    for index in range(LIMIT):
        logits = model.head(hidden)[:, 0]
        token = choose(logits, temperature, generator)
        logprob = logits.log_softmax(-1).gather(1, token[:, None])[:, 0]
        keep = []
        for at, (value, said) in enumerate(zip(token.tolist(), logprob.tolist(), strict=True)):
            made[rows[at]].ids.append(value)
            made[rows[at]].logprobs.append(said)
            if value not in ENDS:
                keep.append(at)
        if not keep or index == LIMIT - 1:
            break
        if len(keep) < len(rows):
            chosen = torch.tensor(keep)
            rows = [rows[at] for at in keep]
            token, begin, seen = token[chosen], begin[chosen], seen[chosen]
            caches = [[part[chosen] for part in cache] for cache in caches]
        here = width + index
        hidden = model.hidden(
            token[:, None], positions=(here - begin)[:, None], caches=caches, mask=seen[:, None, None, : here + 1]
        )
    return made


def write_steps(
    model: LanguageModel,
    texts: list[list[int]],
    temperature: float = 0.0,
    generator: torch.Generator | None = None,
    batch: int = 200,
) -> list[Written]:
    """The next step after each text; texts of like length are decoded together."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    made: list[Written | None] = [None] * len(texts)
    for start in range(0, len(order), batch):
        chosen = order[start : start + batch]
        for index, step in zip(chosen, batch_steps(model, [texts[i] for i in chosen], temperature, generator), strict=True):
            made[index] = step
    return [step for step in made if step is not None]


@torch.no_grad()
def confirm_steps(model: LanguageModel, texts: list[list[int]], guesses: list[list[int]], batch: int = 100) -> list[list[int]]:
    """The model's greedy step after each text, quick where the guess is it: one pass, then decoding from where they part."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]) + len(guesses[i]))
    made: list[list[int]] = [[] for _ in texts]
    for start in range(0, len(order), batch):
        group = order[start : start + batch]
        whole = [texts[i] + guesses[i] for i in group]
        ids = torch.tensor([t + [PAD] * (len(whole[-1]) - len(t)) for t in whole])
        said = model.head(model.hidden(ids)).argmax(-1)
        for row, i in enumerate(group):
            at, guess = len(texts[i]) - 1, guesses[i]
            mine = said[row, at : at + len(guess)].tolist()
            same = next((k for k, (a, b) in enumerate(zip(mine, guess, strict=True)) if a != b), len(guess))
            made[i] = guess[:same] + mine[same : same + 1]
    open_ones = [i for i in order if made[i][-1] not in ENDS and len(made[i]) < LIMIT]
    for i, rest in zip(open_ones, write_steps(model, [texts[i] + made[i] for i in open_ones]), strict=True):
        made[i] = (made[i] + rest.ids)[:LIMIT]
    return made
