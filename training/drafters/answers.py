"""The target's own greedy answers to training problems, with the states it had while it wrote them.

No decoding is needed to get them: the task's text is fed once, and where the target's choice agrees at every
position, that text is its greedy answer (about 97 in 100). Where it does not, the row ends with the target's own
choice at the first difference: up to there it is its own answer too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import torch
from tokenizers import Tokenizer
from torch import Tensor

from bundled.batches import pack, row, training_problem
from bundled.evaluate import greedy_ids
from bundled.model import LanguageModel
from bundled.vocabulary import EOS, prompt_ids


@dataclass
class Batch:
    """Rows of like length, padded on the right."""

    ids: Tensor  # [batch, rows]
    starts: Tensor  # position of the first answer token
    ends: Tensor  # position of the last one
    states: list[Tensor]  # the residual stream, states[0] is the embeddings


@torch.no_grad()
def read(target: LanguageModel, tokens: list[list[int]], prompts: list[int], dtype: torch.dtype, drawn: bool = False) -> Batch:
    """One pass over whole texts; a row ends where the target disagrees, with what it would have said, unless it was drawn."""
    ids, _ = pack([(text, text) for text in tokens])
    states = target.states(ids, dtype)
    chosen = target.head(target.model.norm(states[-1])).argmax(-1)
    starts = torch.tensor(prompts)
    lengths = torch.tensor([len(text) for text in tokens])
    places = torch.arange(ids.shape[1] - 1)[None] + 1
    wrong = (chosen[:, :-1] != ids[:, 1:]) & (places >= starts[:, None]) & (places < lengths[:, None])
    ends = lengths - 1
    if not drawn:
        ends = torch.where(wrong.any(1), wrong.int().argmax(1) + 1, ends)
        rows = torch.arange(len(tokens))
        ids[rows, ends] = chosen[rows, ends - 1]
    return Batch(ids, starts, ends, states)


def batches(target: LanguageModel, tokenizer: Tokenizer, tokens: int, seed: int, dtype: torch.dtype) -> Iterator[Batch]:
    """Endless batches of about `tokens` padded tokens."""
    rng = Random(seed)
    while True:
        texts = []
        for _ in range(256):
            problem = training_problem(rng)
            inputs, labels = row(tokenizer, problem.question, problem.answer)
            texts.append(([*inputs, EOS], len(inputs) + 1 - sum(label >= 0 for label in labels)))
        texts.sort(key=lambda text: len(text[0]))
        groups: list[list[tuple[list[int], int]]] = [[]]
        for text in texts:
            if (len(groups[-1]) + 1) * len(text[0]) > tokens:
                groups.append([])
            groups[-1].append(text)
        rng.shuffle(groups)
        for group in groups:
            yield read(target, [text for text, _ in group], [start for _, start in group], dtype)


def greedy_texts(
    target: LanguageModel, tokenizer: Tokenizer, questions: list[str], drawn: torch.Generator | None = None
) -> tuple[list[list[int]], list[int]]:
    """Whole greedy answers (`drawn`: at temperature 1): the ids of prompt, answer and <eos>, and where each answer starts."""
    prompts = [prompt_ids(tokenizer, question) for question in questions]
    answers = greedy_ids(target, prompts, drawn=drawn)
    return [[*p, *a, EOS] for p, a in zip(prompts, answers, strict=True)], [len(p) for p in prompts]
