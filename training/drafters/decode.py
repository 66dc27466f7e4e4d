"""Greedy speculative decoding step by step, as an engine does it: draft, verify in one pass, commit, crop.

Slow and plain on purpose: it is what `measure.py` and the packed training passes are tested against. Every loop
returns the committed tokens (the first comes from the prefill and belongs to no round), how many each round
committed, and what each round drafted.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from bundled.model import LanguageModel

from .dflash import Context, DFlash
from .eagle import Eagle3


@dataclass
class Run:
    tokens: list[int]
    lengths: list[int] = field(default_factory=list)
    drafts: list[list[int]] = field(default_factory=list)


@dataclass
class Tree:
    """Node 0 is the anchor; a parent comes before its children."""

    tokens: list[int]
    parents: list[int]
    depths: list[int]
    scores: list[float]  # log-probability of the path from the anchor


class Verifier:
    """The target with the keys and values of the committed tokens."""

    def __init__(self, target: LanguageModel) -> None:
        self.target, self.length = target, 0
        self.caches: list[list[Tensor]] = [[] for _ in target.model.layers]

    def feed(self, ids: list[int], parents: list[int] | None = None) -> tuple[list[Tensor], list[int]]:
        """States and choices of a chain, or of a tree (then a row sees its ancestors, at its depth)."""
        own = ancestors(parents) if parents else torch.ones(len(ids), len(ids), dtype=torch.bool).tril()
        mask = torch.cat((torch.ones(len(ids), self.length, dtype=torch.bool), own), dim=1)[None, None]
        positions = self.length + own.sum(1)[None] - 1
        states = self.target.states(torch.tensor([ids]), positions=positions, caches=self.caches, mask=mask)
        logits = self.target.head(self.target.model.norm(states[-1]))
        return states, logits[0].argmax(-1).tolist()

    def keep(self, rows: list[int]) -> None:
        """Of the rows just fed, only these stay."""
        chosen = torch.tensor([*range(self.length), *(self.length + row for row in rows)])
        for cache in self.caches:
            cache[:] = [part[:, :, chosen] for part in cache]
        self.length += len(rows)


def ancestors(parents: list[int]) -> Tensor:
    """[nodes, nodes]: the nodes on each node's path, itself included."""
    seen = torch.eye(len(parents), dtype=torch.bool)
    for node, parent in enumerate(parents):
        if parent >= 0:
            seen[node] |= seen[parent]
    return seen


def leading(drafts: list[int], chosen: list[int]) -> int:
    """How many drafts are what the target chose, before the first that is not."""
    count = 0
    while count < len(drafts) and drafts[count] == chosen[count]:
        count += 1
    return count


def commit(run: Run, tokens: list[int], limit: int, eos: int | None) -> bool:
    """Appends a round's tokens up to <eos> or the budget; whether the run goes on."""
    tokens = tokens[: limit - len(run.tokens)]
    if eos in tokens:
        tokens = tokens[: tokens.index(eos) + 1]
    run.tokens += tokens
    run.lengths.append(len(tokens))
    return len(run.tokens) < limit and run.tokens[-1] != eos


def block_drafts(drafter: DFlash, target: LanguageModel, context: Context, anchor: int, start: int, block: int) -> Tensor:
    """Logits of one block's slots, [block - 1, vocabulary]; every row sees all context rows and the whole block."""
    ids = torch.tensor([[anchor] + [drafter.mask_id] * (block - 1)])
    positions = start + torch.arange(block)[None]
    seen = torch.ones(1, 1, context[0][0].shape[2], dtype=torch.bool)
    return target.head(drafter(target.model.embed_tokens(ids), positions, context, seen)[:, 1:])[0]


@torch.no_grad()
def dflash_run(target: LanguageModel, drafter: DFlash, prompt: list[int], block: int, limit: int, eos: int | None) -> Run:
    verifier = Verifier(target)
    states, chosen = verifier.feed(prompt)
    verifier.keep(list(range(len(prompt))))
    context = drafter.context(drafter.fuse(drafter.tapped(states)), torch.arange(len(prompt))[None])
    run = Run([chosen[-1]])
    going = run.tokens[-1] != eos
    while going:
        start, size = verifier.length, min(block, limit - len(run.tokens) + 1)
        drafts = block_drafts(drafter, target, context, run.tokens[-1], start, size).argmax(-1).tolist() if size > 1 else []
        states, chosen = verifier.feed([run.tokens[-1], *drafts])
        accepted = leading(drafts, chosen)
        verifier.keep(list(range(accepted + 1)))
        # The rows committed in this round join the context; the block's own rows are gone.
        fused = drafter.fuse(drafter.tapped([state[:, : accepted + 1] for state in states]))
        more = drafter.context(fused, start + torch.arange(accepted + 1)[None])
        context = [
            tuple(torch.cat(pair, dim=2) for pair in zip(old, new, strict=True)) for old, new in zip(context, more, strict=True)
        ]
        run.drafts.append(drafts)
        going = commit(run, [*drafts[:accepted], chosen[accepted]], limit, eos)
    return run


class EagleCache:
    """EAGLE-3's own rows: the true ones stay, drafted ones are dropped after a round."""

    def __init__(self, target: LanguageModel, drafter: Eagle3) -> None:
        self.target, self.drafter = target, drafter
        self.cache: list[Tensor] = []
        self.rows = 0

    def step(self, tokens: list[int], features: Tensor, positions: Tensor, own: Tensor, past: int) -> Tensor:
        """Outputs of new rows: each holds a token's embedding and the feature before it; `past` cached rows are seen."""
        mask = torch.cat((torch.ones(len(tokens), past, dtype=torch.bool), own), dim=1)
        embedded = self.target.model.embed_tokens(torch.tensor([tokens]))
        return self.drafter.step(embedded, features, positions, self.cache, mask)

    def extend(self, tokens: list[int], features: Tensor) -> Tensor:
        """True rows: fused features of the target, each with the token after it; the last output."""
        own = torch.ones(len(tokens), len(tokens), dtype=torch.bool).tril()
        out = self.step(tokens, features, self.rows + torch.arange(len(tokens)), own, self.rows)
        self.rows += len(tokens)
        return out

    def crop(self) -> None:
        self.cache[:] = [part[:, :, : self.rows] for part in self.cache]

    def best(self, out: Tensor, count: int) -> list[list[tuple[int, float]]]:
        """The most probable target tokens of every row, with their log-probabilities."""
        scores, index = self.drafter.logits(out)[0].log_softmax(-1).topk(count, dim=-1)
        tokens = index + self.drafter.d2t[index]
        return [list(zip(t, s, strict=True)) for t, s in zip(tokens.tolist(), scores.tolist(), strict=True)]


def draft_tree(rows: EagleCache, out: Tensor, anchor: int, width: int, levels: int, nodes: int) -> Tree:
    """A beam of `width` over `levels`, of all whose candidates the best `nodes` are kept; a chain is a beam of one.

    A row is drafted for every node that is expanded. It sees the true rows, the rows of its ancestors and itself;
    the rows of one level share one rotary position.
    """
    tree = Tree([anchor], [-1], [0], [0.0])

    def add(parent: int, children: list[tuple[int, float]]) -> list[int]:
        for token, score in children:
            tree.tokens.append(token)
            tree.parents.append(parent)
            tree.depths.append(tree.depths[parent] + 1)
            tree.scores.append(tree.scores[parent] + score)
        return list(range(len(tree.tokens) - len(children), len(tree.tokens)))

    level = add(0, rows.best(out, width)[0])
    path: dict[int, list[int]] = {0: []}  # an expanded node's rows, its own last
    output = {0: out}
    drafted = 0
    for depth in range(1, levels):
        beam = sorted(level, key=lambda n: -tree.scores[n])[:width]
        own = torch.zeros(len(beam), drafted + len(beam), dtype=torch.bool)
        for place, node in enumerate(beam):
            path[node] = [*path[tree.parents[node]], drafted + place]
            own[place, path[node]] = True
        features = torch.cat([output[tree.parents[node]] for node in beam], dim=1)
        positions = torch.full((len(beam),), rows.rows + depth - 1)
        made = rows.step([tree.tokens[node] for node in beam], features, positions, own, rows.rows)
        drafted += len(beam)
        level = []
        for place, (node, children) in enumerate(zip(beam, rows.best(made, width), strict=True)):
            output[node] = made[:, place : place + 1]
            level += add(node, children)
    rows.crop()
    kept = sorted(sorted(range(1, len(tree.tokens)), key=lambda n: -tree.scores[n])[:nodes])
    place = {node: index for index, node in enumerate([0, *kept])}
    return Tree(
        [tree.tokens[n] for n in place],
        [-1, *(place[tree.parents[n]] for n in kept)],
        [tree.depths[n] for n in place],
        [tree.scores[n] for n in place],
    )


def walk(tree: Tree, chosen: list[int]) -> list[int]:
    """The nodes of the longest path that the target agrees with, the anchor first."""
    path = [0]
    while True:
        following = [n for n, parent in enumerate(tree.parents) if parent == path[-1] and tree.tokens[n] == chosen[path[-1]]]
        if not following:
            return path
        path.append(following[0])


@torch.no_grad()
def eagle_run(
    target: LanguageModel, drafter: Eagle3, prompt: list[int], shape: tuple[int, int, int], limit: int, eos: int | None
) -> Run:
    """`shape` is a tree's width, levels and nodes; (1, γ, γ) is a chain."""
    verifier, rows = Verifier(target), EagleCache(target, drafter)
    states, chosen = verifier.feed(prompt)
    verifier.keep(list(range(len(prompt))))
    run = Run([chosen[-1]])
    out = rows.extend([*prompt[1:], run.tokens[-1]], drafter.fc(drafter.features(states)))[:, -1:]
    going = run.tokens[-1] != eos
    while going:
        tree = draft_tree(rows, out, run.tokens[-1], *shape)
        states, chosen = verifier.feed(tree.tokens, tree.parents)
        path = walk(tree, chosen)
        verifier.keep(path)
        fresh = [*(tree.tokens[n] for n in path[1:]), chosen[path[-1]]]
        out = rows.extend(fresh, drafter.fc(drafter.features([state[:, path] for state in states])))[:, -1:]
        run.drafts.append(tree.tokens[1:])
        going = commit(run, fresh, limit, eos)
    return run
