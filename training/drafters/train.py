"""Trains one drafter by the clock, in one single-thread process.

    python -m drafters.train dflash --target ../public/models/target --out DIR --minutes 50      (from training/)

40 warm-up updates, a constant rate, then a linear decay over the last `--decay` of the time; OUT/control.json holds
the end (seconds since the epoch) and that share, and is read again before every batch. The target's pass over a
batch costs half an update, so DFlash learns from it `--repeat` times, each time from other anchors: at first
random ones, then those where the blocks just drafted would have ended, which is where real rounds begin.
"""

import argparse
import json
import os
import time
from itertools import chain
from pathlib import Path
from random import Random

import torch
import torch.nn.functional as F
from torch import Tensor

from bundled import evaluate, vocabulary
from bundled.batches import IGNORE
from bundled.model import STREAM, LanguageModel, Sizes
from bundled.optimizer import Optimizer
from bundled.train import Clock

from .answers import Batch, batches, greedy_texts
from .dflash import DFlash, block_logits
from .eagle import Eagle3
from .losses import accepted, slot_loss
from .measure import dflash_lengths, eagle_lengths, groups, mean, whole

BLOCK_ROWS = 128  # drafted rows a text and update
BLOCKS = {2: 0.03, 4: 0.09, 6: 0.08, 8: 0.28, 10: 0.08, 12: 0.12, 16: 0.32}  # block sizes, and how often
DEPTH = 6  # steps of EAGLE-3's training-time test
DRAFTED = 256  # its reduced vocabulary
WIDTHS = {"width": 192, "heads": 4, "kv_heads": 2, "head_dim": 64}  # as the target's layers


def new(kind: str, ffn: int = 512) -> DFlash | Eagle3:
    if kind == "dflash":
        return DFlash(Sizes(layers=2, ffn=ffn, **WIDTHS), [1, 3, 5], vocabulary.MASK, 16)
    return Eagle3(Sizes(layers=1, ffn=ffn, norm_eps=1e-5, **WIDTHS), DRAFTED)


def restore(kind: str, state: dict[str, Tensor]) -> DFlash | Eagle3:
    """A drafter as wide as its checkpoint."""
    drafter = new(kind, next(value.shape[0] for name, value in state.items() if name.endswith("gate_proj.weight")))
    drafter.load_state_dict(state)
    return drafter


@torch.no_grad()
def widen(drafter: DFlash | Eagle3, wider: DFlash | Eagle3) -> None:
    """Copies a drafter into one of a wider FFN without changing what it computes: the new units have no output yet."""
    theirs = dict(wider.named_parameters())
    for name, value in drafter.named_parameters():
        rows, columns = value.shape if value.ndim == 2 else (len(value), None)
        if name.endswith("down_proj.weight"):
            theirs[name].zero_()
        theirs[name][:rows, :columns].copy_(value) if columns else theirs[name].copy_(value)


def dflash_updates(target: LanguageModel, drafter: DFlash, batch: Batch, rng: Random, repeat: int, only: int | None):
    """Losses (and mean lengths) of `repeat` packed passes over one batch, in blocks of one size."""
    block = only or rng.choices(list(BLOCKS), list(BLOCKS.values()))[0]
    count = BLOCK_ROWS // block
    rows = torch.arange(batch.ids.shape[1])[None].expand(len(batch.ids), -1)
    tapped = drafter.tapped(batch.states)
    starts, ends = batch.starts[:, None], batch.ends[:, None]

    def fresh() -> Tensor:
        return starts + (torch.rand(len(batch.ids), count) * (ends - starts)).long()

    anchors = fresh()
    for _ in range(repeat):
        context = drafter.context(drafter.fuse(tapped), rows)
        logits = block_logits(drafter, target, batch.ids, context, anchors, block)
        places = anchors[:, :, None] + torch.arange(1, block)
        labels = batch.ids.gather(1, places.clamp(max=batch.ids.shape[1] - 1).flatten(1)).view(places.shape)
        labels = labels.masked_fill(places > ends[:, :, None], IGNORE)
        with torch.no_grad():
            run = accepted(logits, labels) + 1
        yield slot_loss(logits, labels), run.float().mean().item()
        following = anchors + run
        anchors = torch.where(following < ends, following, fresh())


def eagle_updates(target: LanguageModel, drafter: Eagle3, batch: Batch):
    """The loss (and mean length) of one training-time test over whole texts."""
    embedded = target.model.embed_tokens(batch.ids.roll(-1, dims=1)).to(batch.states[0].dtype)
    made = drafter.unrolled(embedded, drafter.fc(drafter.features(batch.states)), DEPTH)
    places = torch.arange(batch.ids.shape[1])[None]
    # Row t predicts token t + 2, and only answer tokens after the first are ever drafted.
    inside = (places + 2 > batch.starts[:, None]) & (places + 2 <= batch.ends[:, None])
    index = drafter.draft_index()[batch.ids.roll(-2, dims=1)]
    labels = index.masked_fill(~inside | (index < 0), IGNORE)
    logits = torch.stack([F.pad(drafter.logits(out)[:, s:], (0, 0, 0, s)) for s, out in enumerate(made)], dim=2)
    chains = torch.stack([F.pad(labels[:, s:], (0, s), value=IGNORE) for s in range(DEPTH)], dim=2)
    roots = inside[:, :, None].expand_as(chains)
    wanted = roots[:, :, 0]
    run = (accepted(logits[wanted], chains[wanted]) + 1).float().mean().item()
    yield slot_loss(logits[wanted], chains[wanted]), run


def frequent(target: LanguageModel, tokenizer, count: int) -> Tensor:
    """The target ids that its answers use most, ascending."""
    uses = torch.zeros(target.sizes.vocabulary)
    stream = batches(target, tokenizer, 8000, 99, torch.float32)
    for _ in range(20):
        batch = next(stream)
        places = torch.arange(batch.ids.shape[1])[None]
        inside = (places >= batch.starts[:, None]) & (places <= batch.ends[:, None])
        uses += torch.bincount(batch.ids[inside], minlength=len(uses))
    chosen = uses.topk(count).indices.sort().values
    print({"drafted_tokens": count, "cover": round((uses[chosen].sum() / uses.sum()).item(), 6)}, flush=True)
    return chosen


def lengths(target: LanguageModel, drafter: DFlash | Eagle3, parts: list[Batch]) -> dict[str, float]:
    """τ on held-out problems."""
    if isinstance(drafter, Eagle3):
        return {"tau": round(mean(list(chain(*(eagle_lengths(target, drafter, part, DEPTH) for part in parts)))), 3)}
    made = {b: list(chain(*(dflash_lengths(target, drafter, part, b) for part in parts))) for b in (8, 16)}
    return {f"tau{block}": round(mean(runs), 3) for block, runs in made.items()}


def train(args: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = Random(args.seed)
    target, tokenizer = evaluate.load(args.target), vocabulary.load(args.target)
    target.requires_grad_(False)
    drafter = new(args.kind, args.ffn)
    if args.kind == "eagle3":
        chosen = frequent(target, tokenizer, DRAFTED)
        drafter.cover(chosen)
        drafter.lm_head.weight.data.copy_(target.model.embed_tokens.weight[chosen])
    control, checkpoint = args.out / "control.json", args.out / "checkpoint.pt"
    clock = Clock(time.time(), time.time() + 60 * args.minutes, args.decay)
    updates, tokens, optimizer = 0, 0, Optimizer(drafter, 0, 1)
    if args.start:
        saved = torch.load(args.start, weights_only=False)
        started = restore(args.kind, saved["model"])
        widen(started, drafter)
        if started.sizes == drafter.sizes:
            optimizer.restore(saved["optimizer"])
        updates, tokens = saved["updates"], saved["tokens"]
    control.write_text(json.dumps({"end": clock.end, "decay": clock.decay}))
    texts, prompts = greedy_texts(target, tokenizer, [p["question"] for p in evaluate.held_out(args.evaluate)])
    parts = [whole(target, [texts[i] for i in g], [prompts[i] for i in g]) for g in groups(texts)]
    stream = batches(target, tokenizer, args.tokens, 7 + updates + args.seed, STREAM)
    recent: list[tuple[float, float]] = []
    last_eval = time.time()
    while True:
        orders = json.loads(control.read_text())
        clock.end, clock.decay = orders["end"], orders["decay"]
        over = clock.progress() >= 1
        if over or time.time() - last_eval > args.every:
            line = {"minutes": round((time.time() - clock.start) / 60, 2), "updates": updates, "tokens": tokens}
            line["scale"] = round(clock.scale(updates), 4)
            line["loss"], line["length"] = (round(sum(c) / len(c), 4) for c in zip(*recent, strict=True))
            line |= lengths(target, drafter, parts)
            with (args.out / "curve.jsonl").open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(line, flush=True)
            state = {"model": drafter.state_dict(), "optimizer": optimizer.state(), "updates": updates, "tokens": tokens}
            torch.save(state, checkpoint.with_suffix(".new"))
            os.replace(checkpoint.with_suffix(".new"), checkpoint)
            recent.clear()
            last_eval = time.time()
        if over:
            return
        batch = next(stream)
        made = (
            dflash_updates(target, drafter, batch, rng, args.repeat, args.block)
            if args.kind == "dflash"
            else eagle_updates(target, drafter, batch)
        )
        for loss, length in made:
            loss.backward()
            optimizer.step(args.rate * clock.scale(updates))
            drafter.zero_grad(set_to_none=True)
            updates += 1
            recent.append((loss.item(), length))
        tokens += int((batch.ends + 1).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["dflash", "eagle3"])
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--decay", type=float, default=0.5, help="share of the time in which the rate falls to zero")
    parser.add_argument("--tokens", type=int, default=2400, help="padded tokens of the target's pass")
    parser.add_argument("--repeat", type=int, default=3, help="DFlash: updates from one pass of the target")
    parser.add_argument("--block", type=int, help="DFlash: one block size for the whole run, in place of a mixture")
    parser.add_argument("--rate", type=float, default=1.0, help="multiplies every learning rate")
    parser.add_argument("--ffn", type=int, default=512)
    parser.add_argument("--start", type=Path, help="a checkpoint, perhaps of a narrower FFN, to go on from on a new clock")
    parser.add_argument("--every", type=float, default=120, help="seconds between evaluations")
    parser.add_argument("--evaluate", type=int, default=60, help="held-out problems in an evaluation")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    train(args)


if __name__ == "__main__":
    main()
