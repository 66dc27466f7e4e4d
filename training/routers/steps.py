"""Step data: what the draft and the target write in the same contexts, and whether it is right.

    python -m routers.steps ../public/models OUT.jsonl --problems 2500 [--level hard] [--seed N] [--target-samples 3]

Problems are training problems, drawn anew. A context is a prompt and kept steps, as routing would leave them: after
each context either the draft's step (greedy or sampled) or an escalated one is kept, by a rule drawn for each problem.
On problems as the target was trained on, the right step stands for the target's (it writes that in 98 of 100 right
contexts), so that contexts need no target; on harder ones the target's own greedy step is kept. What the target would
write in each context is then found in one pass over the kept text, which serves as the guess, and decoded only from
where the guess is not the target's choice.

**Right** means equal to the reference step of the same number, whatever came before. After a wrong step one that does
not depend on it can therefore be right; one that carries a wrong number on is wrong; a step too many is wrong.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import chain, islice
from pathlib import Path
from random import Random

import torch

from bundled import evaluate, vocabulary
from bundled.model import LanguageModel
from bundled.task import LEVELS, STEP_BREAK, TRAINED, Level, Problem, problems

from .decode import BREAK, ENDS, choose, confirm_steps, write_steps

SEED = 61_000
TEMPERATURE = 0.7
MOST_STEPS = 9  # a text that has not ended by then is left there; right ones have at most 7


@dataclass
class Context:
    """The candidates for one step: the draft's (greedy, then sampled) and the target's (greedy, then samples)."""

    draft: list[list[int]]
    logprobs: list[list[float]]
    target: list[list[int]] = field(default_factory=list)


@dataclass
class Record:
    """One problem, the steps that were kept (`by`: 'd' or 't') and the candidates before each of them."""

    prompt: list[int]
    reference: list[list[int]]
    kept: list[list[int]] = field(default_factory=list)
    by: str = ""
    contexts: list[Context] = field(default_factory=list)

    @property
    def text(self) -> list[int]:
        return self.before(len(self.kept))

    def before(self, number: int) -> list[int]:
        """The prompt and the first `number` kept steps."""
        return [*self.prompt, *chain.from_iterable(self.kept[:number])]

    @property
    def ended(self) -> bool:
        return bool(self.kept) and (self.kept[-1][-1] != BREAK or len(self.kept) == MOST_STEPS)

    def right(self, number: int, step: list[int]) -> bool:
        return number < len(self.reference) and step == self.reference[number]


def reference_steps(tokenizer, answer: str) -> list[list[int]]:
    """The answer's steps as tokens, each with the blank line or <eos> that ends it."""
    parts = [tokenizer.encode(part).ids for part in answer.split(STEP_BREAK)]
    return [[*part, BREAK] for part in parts[:-1]] + [[*parts[-1], vocabulary.EOS]]


def record(tokenizer, question: str, answer: str) -> Record:
    return Record(vocabulary.prompt_ids(tokenizer, question), reference_steps(tokenizer, answer))


def choice(one: Record, rng: Random, informed: bool, rate: float) -> tuple[list[int], bool]:
    """The draft's step to keep after the newest context, and whether it is escalated: at random, or as an erring judge would."""
    number, context = len(one.kept), one.contexts[-1]
    drafted = context.draft[0 if rng.random() < 0.7 else 1]
    if informed:
        rate = 0.1 if one.right(number, drafted) else 0.85
    return drafted, rng.random() < rate and number < len(one.reference)


def contexts(
    draft: LanguageModel, records: list[Record], rng: Random, generator: torch.Generator, target: LanguageModel | None = None
) -> None:
    """Fills `kept` and the draft's candidates; escalated steps are the target's, or without one the right ones."""
    rules = [(rng.random() < 0.6, rng.choice([0.0, 0.3, 0.6, 0.9])) for _ in records]
    while open_ones := [i for i, one in enumerate(records) if not one.ended]:
        texts = [records[i].text for i in open_ones]
        greedy = write_steps(draft, texts)
        sampled = write_steps(draft, texts, TEMPERATURE, generator)
        chosen: list[tuple[Record, list[int], bool]] = []
        for i, *written in zip(open_ones, greedy, sampled, strict=True):
            records[i].contexts.append(Context([w.ids for w in written], [[round(p, 4) for p in w.logprobs] for w in written]))
            chosen.append((records[i], *choice(records[i], rng, *rules[i])))
        asked = [(one, drafted) for one, drafted, escalate in chosen if escalate]
        if target:
            better = iter(confirm_steps(target, [one.text for one, _ in asked], [drafted for _, drafted in asked]))
        else:
            better = iter([one.reference[len(one.kept)] for one, _ in asked])
        for one, drafted, escalate in chosen:
            one.kept.append(next(better) if escalate else drafted)
            one.by += "t" if escalate else "d"


@torch.no_grad()
def target_steps(target: LanguageModel, records: list[Record], samples: int, generator: torch.Generator, batch: int = 50) -> None:
    """Fills the target's candidates: its greedy step and `samples` drawn ones for every context."""
    unfinished: list[tuple[list[int], Context, int, list[int]]] = []
    order = sorted(records, key=lambda one: len(one.text))
    for start in range(0, len(order), batch):
        group = order[start : start + batch]
        texts = [one.text for one in group]
        ids = torch.tensor([t + [vocabulary.PAD] * (len(texts[-1]) - len(t)) for t in texts])
        logits = target.head(target.hidden(ids))
        choices = [logits.argmax(-1), *(choose(logits, TEMPERATURE, generator) for _ in range(samples))]
        for row, one in enumerate(group):
            at = len(one.prompt)
            for number, (guess, context) in enumerate(zip(one.kept, one.contexts, strict=True)):
                for index, choice in enumerate(choices):
                    said = choice[row, at - 1 : at - 1 + len(guess)].tolist()
                    same = next((i for i, (a, b) in enumerate(zip(said, guess, strict=True)) if a != b), len(guess))
                    step = guess[:same] + said[same : same + 1]
                    context.target.append(step)
                    if step[-1] not in ENDS:
                        unfinished.append((one.before(number), context, index, step))
                at += len(guess)
    for temperature, mine in ((0.0, [u for u in unfinished if u[2] == 0]), (TEMPERATURE, [u for u in unfinished if u[2] > 0])):
        rests = write_steps(target, [before + step for before, _, _, step in mine], temperature, generator)
        for (_, context, index, step), rest in zip(mine, rests, strict=True):
            context.target[index] = step + rest.ids


def fresh(tokenizer, count: int, seed: int, level: Level = TRAINED) -> list[Record]:
    """Training problems without any step yet."""
    drawn: Iterator[Problem] = islice(problems(seed, held_out=False, level=level), count)
    return [record(tokenizer, p.question, p.answer) for p in drawn]


def held_out(tokenizer, count: int | None = None, level: str = "trained") -> list[Record]:
    return [record(tokenizer, p["question"], p["answer"]) for p in evaluate.held_out(count, level)]


def fill(models: Path, records: list[Record], seed: int, samples: int | None, level: str = "trained") -> None:
    """`samples` None: the draft's candidates only."""
    generator, target = torch.Generator().manual_seed(seed), evaluate.load(models / "target")
    contexts(evaluate.load(models / "draft"), records, Random(seed), generator, None if level == "trained" else target)
    if samples is not None:
        target_steps(target, records, samples, generator)


def save(records: list[Record], path: Path) -> None:
    path.write_text("".join(json.dumps(asdict(one), separators=(",", ":")) + "\n" for one in records))


def parse(line: str) -> Record:
    fields = json.loads(line)
    fields["contexts"] = [Context(**context) for context in fields["contexts"]]
    return Record(**fields)


def load(path: Path) -> list[Record]:
    return [parse(line) for line in path.read_text().splitlines()]


def summary(records: list[Record]) -> dict:
    """Counts for the log: how often each writer is right, and who is right alone (greedy steps)."""
    names = ("contexts", "right_prefix", "draft", "sampled", "target", "only_target", "only_draft")
    count = {"problems": len(records), **dict.fromkeys(names, 0)}
    for one in records:
        good = True
        for number, context in enumerate(one.contexts):
            draft, sampled = (one.right(number, step) for step in context.draft)
            count["contexts"] += 1
            count["right_prefix"] += good
            count["draft"] += draft
            count["sampled"] += sampled
            if context.target:
                target = one.right(number, context.target[0])
                count["target"] += target
                count["only_target"] += target and not draft
                count["only_draft"] += draft and not target
            good = good and one.right(number, one.kept[number])
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--problems", type=int, default=2500)
    parser.add_argument("--level", choices=LEVELS, default="trained")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--target-samples", type=int, default=3, help="in addition to its greedy step")
    parser.add_argument("--draft-only", action="store_true", help="no candidates of the target")
    parser.add_argument("--held-out", action="store_true", help="the first of the fixed held-out problems (for measuring only)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = vocabulary.load(args.models / "target")
    level, count = args.level, args.problems
    records = held_out(tokenizer, count, level) if args.held_out else fresh(tokenizer, count, args.seed, LEVELS[level])
    fill(args.models, records, args.seed, None if args.draft_only else args.target_samples, level)
    save(records, args.out)
    print(json.dumps(summary(records)))


if __name__ == "__main__":
    main()
