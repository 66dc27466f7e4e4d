"""Packs a problem's kept text and all candidate steps into one row.

The trunk is the prompt and the kept steps; each further candidate is a branch that sees the trunk only up to the place
where its step begins, and itself. One pass therefore judges every candidate in its own context.

Layouts: 'prompt', the very tokens a model wrote; 'annotated', "Model 0: " (draft) or "Model 1: " (target) before each step.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from bundled.batches import IGNORE
from bundled.vocabulary import PAD

from .steps import Record

NOTES = {"d": [50, 84, 73, 74, 81, 226, 21, 31, 226], "t": [50, 84, 73, 74, 81, 226, 22, 31, 226]}  # "Model 0: ", "Model 1: "


@dataclass
class Judged:
    """A step in a row: its last token's index, which step it is, whose, whether it is right, and the router's gain."""

    index: int
    number: int
    kind: str  # 'kept', 'greedy', 'sampled', 'target'
    right: bool
    length: int  # in tokens
    gain: float = float("nan")  # what the target's step is better by; only where a router is to be trained
    group: int = 0  # which record


@dataclass
class Row:
    ids: list[int]
    positions: list[int]
    lm: list[int]  # the next right token, where everything so far is right
    so_far: list[int]  # 1 or 0 on every token of a step: equal to the reference step so far; IGNORE elsewhere
    trunk: int = 0
    branches: list[tuple[int, int, int]] = field(default_factory=list)  # where its step begins in the trunk, first, end
    judged: list[Judged] = field(default_factory=list)

    def mask(self, width: int) -> Tensor:
        seen = torch.eye(width, dtype=torch.bool)
        seen[: self.trunk, : self.trunk] = torch.ones(self.trunk, self.trunk, dtype=torch.bool).tril()
        for begin, first, end in self.branches:
            seen[first:end, :begin] = True
            seen[first:end, first:end] = torch.ones(end - first, end - first, dtype=torch.bool).tril()
        return seen


def add(row: Row, one: Record, number: int, step: list[int], note: list[int], position: int, good: bool, last: bool) -> None:
    """Appends a note and a step; `good`: everything before it is right; `last`: nothing follows its last token."""
    reference = one.reference[number] if number < len(one.reference) else []
    row.ids += note + step
    row.positions += range(position, position + len(note) + len(step))
    row.lm += [IGNORE] * len(note)
    row.so_far += [IGNORE] * len(note)
    if note and good and reference:
        row.lm[-1] = reference[0]
    for j in range(len(step)):
        fine = step[: j + 1] == reference[: j + 1]
        row.so_far.append(int(fine))
        following = reference[j + 1 : j + 2]
        if not following and not last and not note and number + 1 < len(one.reference):
            following = one.reference[number + 1][:1]
        row.lm.append(following[0] if good and fine and following else IGNORE)


def pack(one: Record, annotated: bool = False, router: bool = False, group: int = 0) -> Row:
    """`router`: branches for the draft's candidates only, each as written by the draft."""
    first = IGNORE if annotated else one.reference[0][0]
    length = len(one.prompt)
    row = Row(list(one.prompt), list(range(length)), [IGNORE] * (length - 1) + [first], [IGNORE] * length)
    begins, good, goods = [], True, []
    for number, (step, by) in enumerate(zip(one.kept, one.by, strict=True)):
        begins.append(len(row.ids))
        goods.append(good)
        add(row, one, number, step, NOTES[by] if annotated else [], len(row.ids), good, number == len(one.kept) - 1)
        row.judged.append(Judged(len(row.ids) - 1, number, "kept", one.right(number, step), len(step), group=group))
        good = good and one.right(number, step)
    row.trunk = len(row.ids)
    for number, context in enumerate(one.contexts):
        places = {} if router and annotated and one.by[number] == "t" else {tuple(one.kept[number]): row.judged[number].index}
        candidates = [("greedy", context.draft[0]), ("sampled", context.draft[1])]
        if not router:
            candidates += [("target", step) for step in context.target]
        for kind, step in candidates:
            if tuple(step) not in places:
                start = len(row.ids)
                note = NOTES["d"] if annotated else []
                add(row, one, number, step, note, begins[number], goods[number], True)
                row.branches.append((begins[number], start, len(row.ids)))
                places[tuple(step)] = len(row.ids) - 1
            row.judged.append(Judged(places[tuple(step)], number, kind, one.right(number, step), len(step), group=group))
    return row


@dataclass
class Batch:
    ids: Tensor
    positions: Tensor
    lm: Tensor
    so_far: Tensor
    mask: Tensor
    rows: list[Row]

    def places(self, judged: list[tuple[int, Judged]]) -> tuple[Tensor, Tensor]:
        return torch.tensor([r for r, _ in judged]), torch.tensor([j.index for _, j in judged])

    @property
    def judged(self) -> list[tuple[int, Judged]]:
        return [(r, j) for r, row in enumerate(self.rows) for j in row.judged]


def collate(rows: list[Row]) -> Batch:
    width = -(-max(len(r.ids) for r in rows) // 16) * 16

    def padded(parts: list[list[int]], value: int) -> Tensor:
        return torch.tensor([p + [value] * (width - len(p)) for p in parts])

    return Batch(
        padded([r.ids for r in rows], PAD),
        padded([r.positions for r in rows], 0),
        padded([r.lm for r in rows], IGNORE),
        padded([r.so_far for r in rows], IGNORE),
        torch.stack([r.mask(width) for r in rows])[:, None],
        rows,
    )


def batches(rows: list[Row], tokens: int) -> list[list[Row]]:
    """Rows of like length together, at most `tokens` padded tokens a batch."""
    groups: list[list[Row]] = [[]]
    for row in sorted(rows, key=lambda r: len(r.ids)):
        if groups[-1] and (len(groups[-1]) + 1) * (len(row.ids) + 15) > tokens:
            groups.append([])
        groups[-1].append(row)
    return groups
