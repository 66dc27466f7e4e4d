"""Trains DSpark or EAGLE-3 for SmolLM2 on the answers that `generate.py` wrote; both may run at once.

python -m smollm2.train {dspark,eagle3} --target FOLDER --answers FOLDER --held FOLDER --out FOLDER [--minutes 60]

Both see the same number of texts an update and the same loss at random anchors. The rate is constant after a short
warm-up and falls to zero over the last `--decay` of `--minutes`. OUT/checkpoint.pt is written every few minutes,
OUT/curve.jsonl grows with it. Started again with the same OUT, a run goes on from its checkpoint with a new clock;
`--answers` may have grown. Without a checkpoint `--begin FILE` goes on from an exported GGUF. Several processes
(`--processes`) train apart and average their weights every few updates.
"""

import argparse
import copy
import json
import os
import time
from pathlib import Path
from random import Random

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn

from bundled.model import Sizes
from bundled.optimizer import Optimizer
from bundled.train import Clock
from drafters.eagle import Eagle3
from drafters.measure import mean

from .corpus import Batch, Corpus
from .drafter_file import restore
from .dspark import DSpark, cover
from .losses import dspark_loss
from .measure import corpus_lengths
from .target import TAPS, Target

WIDTHS = {"width": 576, "heads": 9, "kv_heads": 3, "head_dim": 64, "vocabulary": 49152, "positions": 2048}
WIDTHS |= {"rope_theta": 100000.0, "norm_eps": 1e-5, "tied": False}
MASK = 15  # <jupyter_script>: reserved, and never part of a chat
DRAFTED, RANK, BLOCK = 8192, 64, 8
# Of a text in an update. EAGLE-3 runs its layer over all rows of a text anyway; DSpark runs it for each anchor's block.
ANCHORS = {"dspark": 24, "eagle3": 96}
ROWS = {"dspark": 7, "eagle3": 5}  # drafts of an anchor in training
APART = 8  # updates of each process before their weights are averaged
GAMMA = 4  # draft k weighs exp(-k / GAMMA)


def new(kind: str) -> DSpark | Eagle3:
    if kind == "dspark":
        return DSpark(Sizes(layers=3, ffn=1024, **WIDTHS), TAPS, MASK, BLOCK, DRAFTED, RANK)
    return Eagle3(Sizes(layers=1, ffn=1536, **WIDTHS), DRAFTED, normed=True)


def most_used(corpus: Corpus, vocabulary: int) -> Tensor:
    """The target ids that the texts use most, ascending; of those used alike the lower ones, which are commoner."""
    uses = corpus.usage(vocabulary)
    chosen = uses.argsort(descending=True, stable=True)[:DRAFTED].sort().values
    print({"drafted_tokens": DRAFTED, "cover": round((uses[chosen].sum() / uses.sum()).item(), 5)}, flush=True)
    return chosen


@torch.no_grad()
def choose_again(drafter: DSpark | Eagle3, optimizer: Optimizer, chosen: Tensor, embedding: Tensor) -> None:
    """Another draft vocabulary: what the Markov head learned of tokens that stay is kept, others begin with nothing."""
    old = torch.where(drafter.t2d, drafter.t2d.cumsum(0) - 1, -1)[chosen]
    cover(drafter, chosen, embedding.float())
    if isinstance(drafter, DSpark):
        weight = drafter.markov_head.markov_w2.weight
        state = optimizer.rest.state[weight]
        for rows in (weight, state["exp_avg"], state["exp_avg_sq"]):
            rows.copy_(torch.where((old >= 0)[:, None], rows[old.clamp(min=0)], 0))


def start(drafter: DSpark | Eagle3, chosen: Tensor, embedding: Tensor) -> None:
    """With these draft tokens; heads begin as the target's, and the Markov head adds nothing yet."""
    cover(drafter, chosen, embedding.float())
    if isinstance(drafter, DSpark):
        # The main directions of the embedding: tokens that are alike correct alike from the first update on.
        table = embedding.float() - embedding.float().mean(0)
        directions = torch.linalg.eigh(table.T @ table).eigenvectors[:, -RANK:]
        codes = table @ directions
        drafter.markov_head.markov_w1.weight.data.copy_(codes / codes.pow(2).mean().sqrt())
        drafter.markov_head.markov_w2.weight.data.zero_()


def tap_scale(corpus: Corpus) -> Tensor:
    """Evens out the taps' features, whose sizes differ a hundredfold: within bounds, so that a quantised fc stays good."""
    texts = corpus.texts()[:64]
    rows = torch.cat([corpus.chunks[name]["taps"][i][8:].float() for name, i in texts])
    size = rows.pow(2).mean(0).sqrt().view(len(TAPS), -1)
    middle = size.median(dim=1, keepdim=True).values
    return (1 / size.clamp(min=middle / 2, max=middle * 6)).flatten()


def unfold(drafter: DSpark | Eagle3, scale: Tensor) -> None:
    """The inverse of `folded`, in place."""
    drafter.fc.weight.data.div_(scale)


def folded(drafter: DSpark | Eagle3, scale: Tensor) -> DSpark | Eagle3:
    """A copy that reads the taps as they are."""
    made = copy.deepcopy(drafter).requires_grad_(False)
    made.fc.weight.mul_(scale)
    return made


def dspark_rows(
    drafter: DSpark, embedding: Tensor, batch: Batch, taps: Tensor, anchors: Tensor, drafts: int
) -> tuple[Tensor, Tensor]:
    """Corrected logits and confidence logits [batch, anchors, drafts, ...]."""
    rows = torch.arange(batch.ids.shape[1])[None].expand(len(batch.ids), -1)
    context = drafter.context(drafter.fuse(taps), rows)
    hidden = drafter.states(embedding, batch.ids, context, anchors, drafts)
    places = (anchors[:, :, None] + torch.arange(drafts)).clamp(max=batch.ids.shape[1] - 1)
    previous = batch.ids.gather(1, places.flatten(1)).view(places.shape)
    return drafter.scored(hidden, previous)


def eagle_rows(drafter: Eagle3, embedding: Tensor, batch: Batch, taps: Tensor, anchors: Tensor, drafts: int) -> tuple[Tensor, None]:
    """Logits [batch, anchors, drafts, drafted] of the chains that begin at the anchors."""
    embedded = F.embedding(batch.ids.roll(-1, dims=1), embedding).to(taps.dtype)
    made = drafter.unrolled(embedded, drafter.fc(taps), drafts)
    texts = torch.arange(len(batch.ids))[:, None]
    last = batch.ids.shape[1] - 1
    return drafter.logits(torch.stack([out[texts, (anchors - 1 + s).clamp(max=last)] for s, out in enumerate(made)], dim=2)), None


def update_loss(
    drafter: DSpark | Eagle3,
    index: Tensor,
    embedding: Tensor,
    batch: Batch,
    scale: Tensor,
    rows: int | None = None,
    each: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The loss of one batch at `each` random anchors a text, and the expected acceptance length of their `rows` drafts."""
    kind = "eagle3" if isinstance(drafter, Eagle3) else "dspark"
    rows, each = rows or ROWS[kind], each or ANCHORS[kind]
    starts, ends = batch.starts[:, None], batch.ends[:, None]
    anchors = starts + (torch.rand(len(batch.ids), each) * (ends - starts)).long()
    make = eagle_rows if kind == "eagle3" else dspark_rows
    logits, confidence = make(drafter, embedding, batch, (batch.taps * scale).bfloat16(), anchors, rows)
    places = anchors[:, :, None] + torch.arange(rows)  # of the states that choose the labels
    inside = places < batch.ends[:, None, None]
    texts = torch.arange(len(batch.ids))[:, None, None].expand_as(places)[inside]
    places = places[inside]
    with torch.no_grad():
        labels = index[batch.ids[texts, places + 1]]
        p = F.linear(batch.states[texts, places], drafter.lm_head.weight.to(batch.states.dtype)).float()
        p = p.sub_(batch.lse[texts, places][:, None]).exp_()
        outside = (1 - p.sum(-1)).clamp(min=0)
    weights = torch.exp(-torch.arange(rows) / GAMMA).expand_as(inside)[inside]
    loss, accepted = dspark_loss(
        logits[inside], confidence[inside] if confidence is not None else None, p, outside, labels, weights
    )
    chain = torch.zeros(inside.shape).masked_scatter(inside, accepted.detach()).cumprod(-1).sum(-1) + 1
    return loss, chain.mean()


def tau(drafter: DSpark | Eagle3, embedding: Tensor, held: Corpus, drafts: int) -> dict[str, float]:
    lengths = corpus_lengths(drafter, embedding, held, drafts)
    made = {kind: round(mean(each), 3) for kind, each in sorted(lengths.items())}
    return {"tau": round(mean([rounds for each in lengths.values() for rounds in each]), 3), **made}


def average(drafter: nn.Module, ranks: int, over: bool) -> bool:
    """The mean of all processes' weights; whether any process says that the run is over."""
    if ranks == 1:
        return over
    trained = [p for p in drafter.parameters() if p.requires_grad]
    flat = torch.cat([*(p.detach().flatten() for p in trained), torch.tensor([float(over)])])
    dist.all_reduce(flat)
    for p, mean_of in zip(trained, flat[:-1].div_(ranks).split([p.numel() for p in trained]), strict=True):
        p.data.copy_(mean_of.view_as(p))
    return bool(flat[-1] > 0)


def train(rank: int, args: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    if args.processes > 1:
        dist.init_process_group("gloo", init_method=f"file://{args.out}/store", rank=rank, world_size=args.processes)
    embedding = Target(args.target).embedding
    corpus, held = Corpus(args.answers, Random(args.seed)), Corpus(args.held, Random(0))
    for folder, texts in ((args.answers, corpus), (args.held, held)):
        if not texts.texts():
            raise SystemExit(f"{folder} holds no chunk-*.pt")
    drafter, checkpoint = new(args.kind), args.out / "checkpoint.pt"
    # The heads' rows stay the target's.
    drafter.lm_head.weight.requires_grad_(False)
    optimizer = Optimizer(drafter, 0, 1)
    updates, tokens, minutes = 0, 0, 0.0
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=False)
        drafter.load_state_dict(saved["model"])
        optimizer.restore(saved["optimizer"])
        updates, tokens, minutes, scale = saved["updates"], saved["tokens"], saved["minutes"], saved["scale"]
        if args.choose:
            choose_again(drafter, optimizer, most_used(corpus, len(embedding)), embedding)
    else:
        scale = tap_scale(corpus)
        if args.begin:
            restore(drafter, args.begin)
            unfold(drafter, scale)
            drafter.lm_head.weight.data.copy_(embedding[drafter.t2d.nonzero()[:, 0]])  # not through so few bits
        else:
            start(drafter, most_used(corpus, len(embedding)), embedding)
    index = torch.where(drafter.t2d, drafter.t2d.cumsum(0) - 1, -1)
    clock = Clock(time.time(), time.time() + 60 * args.minutes, args.decay)
    torch.manual_seed(args.seed + 100 * updates + rank)
    corpus.rng.seed(args.seed + 100 * updates + rank)
    stream, recent, last, over = corpus.batches(args.tokens), [], time.time(), False
    while True:
        if rank == 0 and (over or (updates % APART == 0 and recent and time.time() - last > args.every)):
            minutes += (time.time() - last) / 60
            line = {"minutes": round(minutes, 1), "updates": updates, "tokens": tokens, "scale": round(clock.scale(updates), 3)}
            line |= {name: round(sum(c) / len(c), 3) for name, c in zip(("loss", "length"), zip(*recent, strict=True), strict=True)}
            state = {"model": drafter.state_dict(), "optimizer": optimizer.state(), "scale": scale}
            state |= {"kind": args.kind, "updates": updates, "tokens": tokens, "minutes": minutes}
            torch.save(state, checkpoint.with_suffix(".new"))
            os.replace(checkpoint.with_suffix(".new"), checkpoint)
            line |= tau(folded(drafter, scale), embedding, held, args.drafts)
            with (args.out / "curve.jsonl").open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(line, flush=True)
            recent.clear()
            last = time.time()
        if over:
            return
        batch = next(stream)
        loss, length = update_loss(drafter, index, embedding, batch, scale)
        loss.backward()
        optimizer.step(args.rate * clock.scale(updates))
        drafter.zero_grad(set_to_none=True)
        updates, tokens = updates + 1, tokens + batch.tokens * args.processes
        recent.append((loss.item(), length.item()))
        if updates % APART == 0:
            over = average(drafter, args.processes, clock.progress() >= 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["dspark", "eagle3"])
    parser.add_argument("--target", type=Path, required=True, help="folder of the GGUF file, its config and tokenizer")
    parser.add_argument("--answers", type=Path, required=True, help="what generate.py wrote")
    parser.add_argument("--held", type=Path, required=True, help="what evaluate.py --generate wrote, for the curve")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--decay", type=float, default=0.4, help="share of the time in which the rate falls to zero")
    parser.add_argument("--tokens", type=int, default=2400, help="padded tokens of a batch")
    parser.add_argument("--rate", type=float, default=1.0, help="multiplies every learning rate")
    parser.add_argument("--every", type=float, default=240, help="seconds between checkpoints")
    parser.add_argument("--drafts", type=int, default=7, help="in the measured rounds")
    parser.add_argument("--begin", type=Path, help="a file of `export --gguf`: a run without a checkpoint begins with it")
    parser.add_argument("--choose", action="store_true", help="a run that goes on chooses its draft vocabulary anew")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tag", help="ignored: a word by which to find the process")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "store").unlink(missing_ok=True)
    if args.processes == 1:
        train(0, args)
        return
    torch.multiprocessing.start_processes(train, (args,), args.processes, start_method="fork")


if __name__ == "__main__":
    main()
