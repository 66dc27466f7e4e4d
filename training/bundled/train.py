"""Trains one model by the clock, in one or more single-thread processes (gloo data parallel).

    python -m bundled.train target --tokenizer DIR --out DIR --minutes 60 --processes 2

The schedule is a share of the time, not of the updates: 40 warm-up updates, a constant rate, then a linear
decay over the last `--decay` of it. OUT/control.json holds the end (seconds since the epoch) and that share, and
is read again before every update, so a run can be made longer or shorter while it runs. OUT/checkpoint.pt resumes it.
"""

import argparse
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F

from . import evaluate, vocabulary
from .batches import IGNORE, Batches
from .model import SIZES, STREAM, LanguageModel
from .optimizer import Optimizer

WARM_UP = 40


@dataclass
class Clock:
    """Where the run is between its start and its end."""

    start: float
    end: float
    decay: float

    def progress(self) -> float:
        return (time.time() - self.start) / (self.end - self.start)

    def scale(self, updates: int) -> float:
        left = 1 - self.progress()
        return min(1.0, (updates + 1) / WARM_UP, max(0.0, left / self.decay))


def train(rank: int, args: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    ranks = args.processes
    if ranks > 1:
        dist.init_process_group("gloo", init_method=f"file://{args.out}/store", rank=rank, world_size=ranks)
    tokenizer = vocabulary.load(args.tokenizer)
    model = LanguageModel(SIZES[args.model])
    optimizer = Optimizer(model, rank, ranks)
    control, checkpoint = args.out / "control.json", args.out / "checkpoint.pt"
    updates, tokens = 0, 0.0
    clock = Clock(time.time(), time.time() + 60 * args.minutes, args.decay)
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=False)
        model.load_state_dict(saved["model"])
        optimizer.restore(saved["optimizer"])
        updates, tokens, clock.start = saved["updates"], saved["tokens"], saved["start"]
    elif args.start:
        saved = torch.load(args.start, weights_only=False)
        model.load_state_dict(saved["model"])
        optimizer.restore(saved["optimizer"])
        updates, tokens = saved["updates"], saved["tokens"]
    if rank == 0 and not checkpoint.exists():
        control.write_text(json.dumps({"end": clock.end, "decay": clock.decay}))
    focus = (args.focus, args.share) if args.focus else None
    batches = Batches(tokenizer, args.tokens // ranks, 1000 * args.seed + 10 * updates + rank, focus)
    stream = iter(batches)
    problems = evaluate.held_out(args.evaluate)
    parameters = list(model.parameters())
    recent: list[float] = []
    last_eval = last_save = time.time()
    while True:
        signal = torch.zeros(2)
        if rank == 0:
            orders = json.loads(control.read_text())
            clock.end, clock.decay = orders["end"], orders["decay"]
            signal = torch.tensor(
                [args.rate * clock.scale(updates), clock.progress() if not args.start else max(0.9, clock.progress())]
            )
        if ranks > 1:
            dist.broadcast(signal, 0)
        scale, batches.progress = signal.tolist()
        over = batches.progress >= 1
        flags = torch.tensor([float(over or time.time() - last_eval > args.every)])
        if ranks > 1:
            dist.broadcast(flags, 0)
        if flags.item():
            part = problems[rank::ranks]
            texts = evaluate.answers(model.eval(), tokenizer, part)
            made = evaluate.score(texts, part)
            sums = torch.tensor([made.problems, made.right, made.text, evaluate.loss(model, tokenizer, part) * made.problems])
            if ranks > 1:
                dist.all_reduce(sums)
            if rank == 0:
                line = {
                    "minutes": round((time.time() - clock.start) / 60, 2),
                    "updates": updates,
                    "tokens": int(tokens),
                    "scale": round(scale, 4),
                    "train_loss": round(sum(recent) / max(1, len(recent)), 4),
                    "held_out_loss": round(sums[3].item() / sums[0].item(), 4),
                    "answer_exact": round(sums[1].item() / sums[0].item(), 4),
                    "text_exact": round(sums[2].item() / sums[0].item(), 4),
                }
                with (args.out / "curve.jsonl").open("a") as file:
                    file.write(json.dumps(line) + "\n")
                print(line, flush=True)
                recent.clear()
            model.train()
            last_eval = time.time()
        if rank == 0 and (over or time.time() - last_save > 120):
            state = {
                "model": model.state_dict(),
                "optimizer": optimizer.state(),
                "updates": updates,
                "tokens": tokens,
                "start": clock.start,
            }
            torch.save(state, checkpoint.with_suffix(".new"))
            os.replace(checkpoint.with_suffix(".new"), checkpoint)
            last_save = time.time()
        if over:
            break
        ids, labels = next(stream)
        wanted = labels != IGNORE
        hidden = model.hidden(ids, STREAM)[wanted]
        loss = F.cross_entropy(model.head(hidden).float(), labels[wanted])
        loss.backward()
        if ranks > 1:
            flat = torch.cat([p.grad.flatten() for p in parameters])
            dist.all_reduce(flat)
            flat /= ranks
            for p, part in zip(parameters, flat.split([p.numel() for p in parameters]), strict=True):
                p.grad.copy_(part.view_as(p))
        optimizer.step(scale)
        for p in parameters:
            p.grad = None
        updates += 1
        tokens += (ids != vocabulary.PAD).sum().item() * ranks
        recent.append(loss.item())
    if ranks > 1:
        dist.barrier()
        dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=SIZES)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=2800, help="padded tokens in an update, over all processes")
    parser.add_argument("--decay", type=float, default=0.38, help="share of the time in which the rate falls to zero")
    parser.add_argument("--start", type=Path, help="a checkpoint to go on from, on a new clock and without drills")
    parser.add_argument("--focus", help="a family that gets --share of the rows on top of its usual one")
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--rate", type=float, default=1.0, help="multiplies every learning rate")
    parser.add_argument("--every", type=float, default=150, help="seconds between evaluations")
    parser.add_argument("--evaluate", type=int, default=200, help="held-out problems in an evaluation")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.out = args.out.resolve()
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "store").unlink(missing_ok=True)
    if args.processes == 1:
        train(0, args)
    else:
        mp.spawn(train, (args,), nprocs=args.processes)


if __name__ == "__main__":
    main()
