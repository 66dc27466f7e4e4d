"""The model's own answers, with the states it had while it wrote them: what both drafters learn from.


Every slot of a fixed batch holds one text; a slot whose text ends gets the next one, so no row idles. A text is an
answer, or first a question that the model writes after its user header. Finished answers go to OUT/chunk-*.pt with
their taps, normed last states and log-normalisers, so that training never runs the target. Start it again to go on.
"""

import argparse
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import torch
from tokenizers import Tokenizer

from .prompts import OPENINGS, SHARES, Evaluation, evaluation_prompts, questions
from .target import END, TAPS, Cache, Target, chat, tokenizer_of, user_header

QUESTION, ANSWER = 96, 256  # most new tokens
GREEDY = 0.75  # share of the answers; the others are sampled at temperature 1
TOGETHER = 8  # prompts in one prefill
CHUNK = 64  # answers in a file


@dataclass
class Text:
    kind: str
    ids: list[int]
    limit: int
    greedy: bool = False
    opening: str | None = None  # of a question that is being written; None: this is an answer
    start: int = field(init=False)
    lse: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start = len(self.ids)

    def over(self) -> bool:
        made = len(self.ids) - self.start
        return made > 0 and (self.ids[-1] == END or made >= self.limit or (made % 16 == 0 and loops(self.ids[self.start :])))


def loops(ids: list[int]) -> bool:
    """Whether the last 64 tokens repeat a part of at most 32: more of the same would teach nothing."""
    tail = ids[-64:]
    return len(tail) == 64 and any(tail[period:] == tail[:-period] for period in range(1, 33))


class Supply:
    """What to write next. Questions become answers, and some answers become texts to summarise."""

    def __init__(self, tokenizer: Tokenizer, data: Path, rng: Random, longest: int) -> None:
        self.tokenizer, self.rng, self.longest = tokenizer, rng, longest
        self.evaluation = Evaluation(evaluation_prompts(data))
        self.math = questions(data, rng)
        self.ready: list[Text] = []
        self.articles: list[str] = []

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def answer(self, kind: str, question: str) -> Text | None:
        ids = self.encode(chat(question))
        if len(ids) + ANSWER > self.longest or not question.strip() or self.evaluation.holds(question):
            return None
        return Text(kind, ids, ANSWER, self.rng.random() < GREEDY)

    def next(self) -> Text:
        while not self.ready:
            kind = self.rng.choices(list(SHARES), list(SHARES.values()))[0]
            if kind in OPENINGS:
                opening = self.rng.choice(OPENINGS[kind])
                return Text(kind, self.encode(user_header() + opening), QUESTION, opening=opening)
            if kind == "summary" and not self.articles:
                continue
            question = next(self.math) if kind == "math" else f"Summarize: {self.articles.pop()}"
            made = self.answer(kind, question)
            if made:
                return made
        return self.ready.pop()

    def finished(self, text: Text) -> None:
        """A question that ended by itself is answered; a long answer is kept for a summary."""
        ended = text.ids[-1] == END
        said = self.tokenizer.decode(text.ids[text.start : len(text.ids) - ended], skip_special_tokens=False)
        if text.opening is not None:
            made = self.answer(text.kind, text.opening + said) if ended else None
            if made:
                self.ready.append(made)
        elif text.kind == "chat" and len(text.ids) - text.start > 120 and len(self.articles) < 32:
            self.articles.append(said)


class Writer:
    """Collects answers and writes them, a chunk at a time."""

    def __init__(self, out: Path, shard: int) -> None:
        self.out, self.shard, self.rows, self.tokens = out, shard, [], 0
        self.chunks = len(list(out.glob(f"chunk-{shard}-*.pt")))

    def add(self, text: Text, taps: torch.Tensor, hidden: torch.Tensor) -> None:
        states = len(text.ids) - 1  # the last token was never read
        self.rows.append((text, taps[:states].clone(), hidden[text.start - 1 : states].clone()))
        self.tokens += len(text.ids) - text.start
        if len(self.rows) == CHUNK:
            self.write()

    def write(self) -> None:
        if not self.rows:
            return
        texts = [text for text, _, _ in self.rows]
        chunk = {
            "layers": TAPS,
            "ids": [torch.tensor(text.ids, dtype=torch.int32) for text in texts],
            "starts": [text.start for text in texts],
            "kinds": [text.kind for text in texts],
            "greedy": [text.greedy for text in texts],
            "lse": [torch.tensor(text.lse) for text in texts],  # of the rows that chose an answer's tokens
            "taps": [taps for _, taps, _ in self.rows],
            "hidden": [hidden for _, _, hidden in self.rows],
        }
        path = self.out / f"chunk-{self.shard}-{self.chunks:04}.pt"
        torch.save(chunk, path.with_suffix(".new"))
        os.replace(path.with_suffix(".new"), path)
        self.chunks, self.rows = self.chunks + 1, []


def decode(target: Target, supply, writer, shape: tuple[int, int], until: float = float("inf")) -> None:
    """Writes texts of `supply` until it has none, or the time has come; `shape` is slots and most tokens of a text."""
    slots_count, length = shape
    cache = Cache(target, *shape)
    taps = torch.zeros(slots_count, length, len(TAPS) * target.width, dtype=target.dtype)
    states = torch.zeros(slots_count, length, target.width, dtype=target.dtype)
    slots: list[Text | None] = [None] * slots_count
    waiting: list[Text] = []
    rows, begun, reported = torch.arange(slots_count), time.time(), time.time()

    def take(indices: list[int], hidden: torch.Tensor) -> None:
        """Chooses the next token of some slots from their last states, and ends those that are over."""
        logits = target.head(hidden).float()
        lse = logits.logsumexp(-1)
        chosen = logits.argmax(-1)
        sampled = torch.tensor([not slots[i].greedy for i in indices])
        if sampled.any():
            chosen[sampled] = (logits[sampled] - lse[sampled, None]).exp().multinomial(1)[:, 0]
        for i, token, norm in zip(indices, chosen.tolist(), lse.tolist(), strict=True):
            text = slots[i]
            text.ids.append(token)
            text.lse.append(norm)
            if text.over():
                if text.opening is None:
                    writer.add(text, taps[i], states[i])
                supply.finished(text)
                slots[i] = None

    while time.time() < until:
        free = [i for i, text in enumerate(slots) if text is None]
        if len(free) >= TOGETHER:
            # Prompts of like length share a prefill.
            while len(waiting) < 6 * TOGETHER and (text := supply.next()):
                waiting.append(text)
            waiting.sort(key=lambda text: len(text.ids))
            at = supply.rng.randrange(max(1, len(waiting) - TOGETHER + 1))
            group = waiting[at : at + TOGETHER]
            del waiting[at : at + TOGETHER]
            if group:
                longest = max(len(text.ids) for text in group)
                ids = torch.tensor([text.ids + [END] * (longest - len(text.ids)) for text in group])
                used = free[: len(group)]
                indices = torch.tensor(used)
                taps[indices, :longest], states[indices, :longest] = target.read(ids, cache, indices)
                for i, text in zip(used, group, strict=True):
                    slots[i] = text
                take(used, torch.stack([states[i, len(text.ids) - 1] for i, text in zip(used, group, strict=True)]))
                continue
            if len(free) == slots_count:
                break
        # A free slot runs along on what it held.
        lengths = torch.tensor([len(text.ids) - 1 if text else 0 for text in slots])
        ids = torch.tensor([text.ids[-1] if text else END for text in slots])
        step_taps, hidden = target.step(ids, lengths, cache)
        taps[rows, lengths], states[rows, lengths] = step_taps[:, 0], hidden[:, 0]
        busy = [i for i, text in enumerate(slots) if text]
        take(busy, hidden[busy, 0])
        if time.time() - reported > 60:
            reported = time.time()
            line = {"minutes": round((reported - begun) / 60, 1), "chunks": writer.chunks, "answer_tokens": writer.tokens}
            print(line, flush=True)
    writer.write()


def generate(args: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    target, tokenizer = Target(args.target), tokenizer_of(args.target)
    writer = Writer(args.out, args.shard)
    seed = args.seed + 1000 * args.shard + writer.chunks * 100_000
    torch.manual_seed(seed)
    supply = Supply(tokenizer, args.data, Random(seed), args.length)
    decode(target, supply, writer, (args.slots, args.length), time.time() + 60 * args.minutes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", type=Path, required=True, help="folder of the GGUF file, its config and tokenizer")
    parser.add_argument("--data", type=Path, required=True, help="folder of GSM8K and of the evaluation prompts to avoid")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--shard", type=int, default=0)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--length", type=int, default=704, help="most tokens of a text")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tag", help="ignored: a word by which to find the process")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    generate(args)


if __name__ == "__main__":
    main()
