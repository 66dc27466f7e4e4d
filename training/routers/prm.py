"""Trains the process reward model: is this step right?

    python -m routers.prm ../public/models STEPS_DIR HELD_OUT.jsonl OUT_DIR --minutes 30      (from training/)

Three losses on the same rows: the step's last token (what is used), every token of a step (does it equal the reference
so far: tells which token was wrong), and the language model's, wherever the text so far is right (keeps and extends
what the body knows). The step files in STEPS_DIR are read again for each epoch, so that more may arrive meanwhile.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import torch
import torch.nn.functional as F

from bundled.batches import IGNORE
from bundled.model import STREAM
from bundled.optimizer import Optimizer

from . import steps
from .judge import Judge, auc, from_language_model, load_judge
from .rows import Batch, batches, collate, pack

WARM_UP = 40


def endless(folder: Path, tokens: int, seed: int) -> Iterator[Batch]:
    rng = Random(seed)
    while True:
        lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]
        rng.shuffle(lines)
        for start in range(0, len(lines), 512):
            groups = batches([pack(steps.parse(line)) for line in lines[start : start + 512]], tokens)
            rng.shuffle(groups)
            yield from map(collate, groups)


def losses(judge: Judge, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """At the ends of steps, at every token of a step, and of the language model."""
    hidden = judge.states_of(batch, STREAM)
    places = {(r, j.index): float(j.right) for r, j in batch.judged}
    rows, columns = (torch.tensor(part) for part in zip(*places, strict=True))
    ends = F.binary_cross_entropy_with_logits(judge.judge(hidden[rows, columns])[:, 0], torch.tensor(list(places.values())))
    told = batch.so_far != IGNORE
    every = F.binary_cross_entropy_with_logits(judge.judge(hidden[told])[:, 0], batch.so_far[told].float())
    wanted = batch.lm != IGNORE
    language = F.cross_entropy(judge.head(hidden[wanted]).float(), batch.lm[wanted])
    return ends, every, language


@torch.no_grad()
def rewards(judge: Judge, records: list[steps.Record], tokens: int = 6000) -> list[tuple[steps.Record, list]]:
    """Each record's judged steps with their reward, in the order of the rows."""
    made: list = [None] * len(records)
    for group in batches([pack(one, group=i) for i, one in enumerate(records)], tokens):
        batch = collate(group)
        values = judge.judge(judge.states_of(batch))[..., 0].sigmoid()
        for r, row in enumerate(group):
            made[row.judged[0].group] = [(j, values[r, j.index].item()) for j in row.judged]
    return list(zip(records, made, strict=True))


def measure(judge: Judge, records: list[steps.Record]) -> dict:
    """AUC of right against wrong steps: by the judge, and by the draft's own least log-probability."""
    judge.eval()
    scored = rewards(judge, records)
    every = [(value, j.right) for _, judged in scored for j, value in judged if j.kind in ("greedy", "target")]
    table = {"auc": auc(*map(np.array, zip(*every, strict=True)))}
    for at, kind in enumerate(("greedy", "sampled")):
        own = [
            (value, min(one.contexts[j.number].logprobs[at]), j.right)
            for one, judged in scored
            for j, value in judged
            if j.kind == kind
        ]
        values, least, right = map(np.array, zip(*own, strict=True))
        table |= {f"auc_{kind}": auc(values, right), f"min_logprob_{kind}": auc(least, right), f"steps_{kind}": len(own)}
    judge.train()
    return {key: round(value, 5) for key, value in table.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("held_out", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=30, help="of this process's own computing time")
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--rate", type=float, default=0.6)
    parser.add_argument("--decay", type=float, default=0.6, help="the share of the time in which the rate falls to zero")
    parser.add_argument("--every", type=float, default=3, help="minutes between measurements")
    parser.add_argument("--language", type=float, default=0.5, help="weight of the language model's loss")
    parser.add_argument("--start", type=Path, help="a checkpoint to begin from instead of the mid")
    parser.add_argument("--seed", type=int, default=5)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    judge = load_judge(args.start)[0].train() if args.start else from_language_model(args.models / "mid")
    optimizer = Optimizer(judge, 0, 1)
    records = steps.load(args.held_out)[:200]
    args.out.mkdir(parents=True, exist_ok=True)
    control, update, said, tokens = args.out / "minutes", 0, 0.0, 0
    sums, before = np.zeros(3), 0
    for batch in endless(args.data, args.tokens, args.seed):
        minutes = float(control.read_text()) if control.exists() else args.minutes
        share = min(1.0, time.process_time() / 60 / minutes)
        scale = args.rate * min(1, (update + 1) / WARM_UP) * min(1, (1 - share) / args.decay)
        parts = losses(judge, batch)
        (parts[0] + 0.5 * parts[1] + args.language * parts[2]).backward()
        optimizer.step(scale)
        judge.zero_grad(set_to_none=True)
        update, tokens = update + 1, tokens + int((batch.ids != 0).sum())
        sums += [part.item() for part in parts]
        if share >= 1 or time.process_time() / 60 - said > args.every:
            said = time.process_time() / 60
            row = {"minutes": round(said, 1), "updates": update, "tokens": tokens, "rate": round(scale, 3)}
            row |= dict(zip(("ends", "every", "language"), (sums / (update - before)).round(4).tolist(), strict=True))
            sums, before = np.zeros(3), update
            row |= measure(judge, records)
            torch.save({"model": judge.state_dict()}, args.out / "checkpoint.pt.part")
            (args.out / "checkpoint.pt.part").rename(args.out / "checkpoint.pt")
            with (args.out / "curve.jsonl").open("a") as log:
                log.write(json.dumps(row) + "\n")
            print(row, flush=True)
            if share >= 1:
                return


if __name__ == "__main__":
    main()
