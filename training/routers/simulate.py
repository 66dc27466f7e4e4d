"""Runs routing rules on whole problems, many rules and thresholds at once; every distinct context is computed once.

Greedy decoding. What the draft and the target write in a context does not depend on the rule, so it is kept in a file
and costs nothing the next time; a judge's scores are computed anew.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from random import Random

import torch

from bundled import evaluate
from bundled.vocabulary import PAD

from .decode import BREAK, confirm_steps, write_steps
from .judge import Judge
from .router import probability
from .rows import NOTES
from .steps import MOST_STEPS, Record

Key = tuple[int, ...]


@dataclass
class Candidate:
    """The two steps of one context, the draft's least log-probability."""

    draft: list[int]
    least: float
    target: list[int]


@dataclass
class Run:
    """One problem under one rule: kept steps and who wrote them."""

    problem: Record
    kept: list[list[int]] = field(default_factory=list)
    by: str = ""
    useless: int = 0

    @property
    def key(self) -> Key:
        return (*self.problem.prompt, *chain.from_iterable(self.kept))

    @property
    def ended(self) -> bool:
        return bool(self.kept) and (self.kept[-1][-1] != BREAK or len(self.kept) == MOST_STEPS)

    @property
    def solved(self) -> bool:
        """The last line is the reference's: the final number is right."""
        return self.ended and self.kept[-1] == self.problem.reference[-1]

    @property
    def target_tokens(self) -> int:
        return sum(len(step) for step, by in zip(self.kept, self.by, strict=True) if by == "t")


class Contexts:
    """What both models write; remembered in a file."""

    def __init__(self, draft: Path, target: Path, store: Path | None = None) -> None:
        self.draft, self.target = evaluate.load(draft), evaluate.load(target)
        self.store, self.known = store, {}
        if store and store.exists():
            for line in store.read_text().splitlines():
                text, draft, least, target = json.loads(line)
                self.known[tuple(text)] = Candidate(draft, least, target)

    def ensure(self, keys: set[Key]) -> None:
        fresh = sorted(key for key in keys if key not in self.known)
        if not fresh:
            return
        texts = [list(key) for key in fresh]
        written = write_steps(self.draft, texts)
        targets = confirm_steps(self.target, texts, [w.ids for w in written])
        for key, w, target in zip(fresh, written, targets, strict=True):
            self.known[key] = Candidate(w.ids, round(min(w.logprobs), 5), target)
        if self.store:
            with self.store.open("a") as out:
                for key in fresh:
                    one = self.known[key]
                    out.write(json.dumps([key, one.draft, one.least, one.target], separators=(",", ":")) + "\n")


class Scores:
    """A judge's scores of texts, computed in batches and remembered."""

    def __init__(self, judge: Judge) -> None:
        self.judge, self.known = judge.eval(), {}

    @torch.no_grad()
    def ensure(self, texts: set[Key], batch: int = 100) -> None:
        fresh = sorted((t for t in texts if t not in self.known), key=len)
        for start in range(0, len(fresh), batch):
            group = fresh[start : start + batch]
            width = len(group[-1])
            hidden = self.judge.hidden(torch.tensor([[*t, *[PAD] * (width - len(t))] for t in group]))
            last = self.judge.judge(hidden[torch.arange(len(group)), torch.tensor([len(t) - 1 for t in group])])
            values = probability(last) if self.judge.classes else last[:, 0].sigmoid()
            self.known.update(zip(group, values.tolist(), strict=True))


def annotated(run: Run, step: list[int]) -> Key:
    """The text that an annotated router reads."""
    noted = [NOTES[by] + kept for kept, by in zip(run.kept, run.by, strict=True)]
    return (*run.problem.prompt, *chain.from_iterable(noted), *NOTES["d"], *step)


@dataclass
class Rule:
    """`doubt(run, candidate)`: escalate where it is larger than the threshold. `reads`: the texts a judge must have read for it."""

    name: str
    doubt: Callable[[Run, Candidate], float]
    reads: Callable[[Run, Candidate], list[Key]] | None = None
    judge: Scores | None = None


def simulate(contexts: Contexts, problems: list[Record], plan: list[tuple[Rule, float]]) -> list[list[Run]]:
    """The finished runs of every (rule, threshold), one a problem."""
    runs = [[Run(problem) for problem in problems] for _ in plan]
    while True:
        pairs = zip(plan, runs, strict=True)
        going = [(rule, threshold, run) for (rule, threshold), mine in pairs for run in mine if not run.ended]
        if not going:
            return runs
        keys = [run.key for _, _, run in going]
        contexts.ensure(set(keys))
        wanted: dict[int, tuple[Scores, set[Key]]] = {}
        for (rule, _, run), key in zip(going, keys, strict=True):
            if rule.judge and rule.reads:
                wanted.setdefault(id(rule.judge), (rule.judge, set()))[1].update(rule.reads(run, contexts.known[key]))
        for judge, texts in wanted.values():
            judge.ensure(texts)
        for (rule, threshold, run), key in zip(going, keys, strict=True):
            candidate, number = contexts.known[key], len(run.kept)
            escalate = rule.doubt(run, candidate) > threshold
            if escalate:
                better = run.problem.right(number, candidate.target) and not run.problem.right(number, candidate.draft)
                run.useless += not better
            run.kept.append(candidate.target if escalate else candidate.draft)
            run.by += "t" if escalate else "d"


def text_and(run: Run, step: list[int]) -> Key:
    return (*run.key, *step)


def rules(prm: Scores | None, router: Scores | None, layout: str, seed: int = 1) -> list[Rule]:
    """Every rule, each as 'escalate where doubt is larger than a threshold'.

    Chance is drawn once for each step of a problem, not for each threshold: curves are smoother and runs share contexts.
    """

    @cache
    def drawn(prompt: Key, number: int) -> float:
        return Random(f"{seed} {prompt} {number}").random()

    def coin(run: Run) -> float:
        return drawn(tuple(run.problem.prompt), len(run.kept))

    def router_text(run: Run, step: list[int]) -> Key:
        return annotated(run, step) if layout == "annotated" else text_and(run, step)

    def gain(run: Run, c: Candidate) -> float:
        return prm.known[text_and(run, c.target)] - prm.known[text_and(run, c.draft)]

    def wrong(run: Run, c: Candidate) -> float:
        return -1.0 if run.problem.right(len(run.kept), c.draft) else coin(run)

    def truth(run: Run, c: Candidate) -> float:
        return wrong(run, c) if run.problem.right(len(run.kept), c.target) else -1.0

    def drafted(run: Run, c: Candidate) -> list[Key]:
        return [text_and(run, c.draft)]

    def both(run: Run, c: Candidate) -> list[Key]:
        return [text_and(run, c.draft), text_and(run, c.target)]

    made = [
        Rule("random", lambda run, c: coin(run)),
        Rule("min-logprob", lambda run, c: -c.least),
        Rule("wrong", wrong),
        Rule("truth", truth),
    ]
    if prm:
        made.append(Rule("rsd", lambda run, c: 1 - prm.known[text_and(run, c.draft)], drafted, prm))
        made.append(Rule("oracle", gain, both, prm))
    if router:

        def advantage(run: Run, c: Candidate) -> float:
            return router.known[router_text(run, c.draft)]

        made.append(Rule("arbitrage", advantage, lambda run, c: [router_text(run, c.draft)], router))
    return made
