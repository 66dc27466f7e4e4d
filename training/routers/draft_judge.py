"""Trains the judge that reads the draft's hidden states: one more layer on the frozen draft, with a norm and a head of its
own, as a language model. A step is as good as its least likely token.

    python -m routers.draft_judge ../public/models ../public/models/draft-judge --minutes 20     (from training/)
    python -m routers.draft_judge ../public/models ../public/models/draft-judge --fresh FRESH.jsonl

With --fresh (by routers.steps) nothing is trained: it prints the AUC of the judge in the folder, on the draft's greedy
steps. Only the new layer is saved; `embed_tokens` is its head.
"""

import argparse
import hashlib
import json
import time
from dataclasses import replace
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

from bundled import evaluate, vocabulary
from bundled.batches import IGNORE, Batches
from bundled.export import configuration
from bundled.model import STREAM, LanguageModel, Layer
from bundled.optimizer import Optimizer

from . import steps
from .head import summary
from .likelihood import doubts
from .router import gains, labelled

FFN = 384  # of the new layer: arithmetic that the draft has not learned has to fit in
WARM_UP = 40
SMALL = 0.1  # what the new layer adds at first, as a share of what a new layer usually adds
NAMES = {"model.embed_tokens.weight": "lm_head.weight", "model.norm.weight": "model.norm.weight"}

CARD = """---
license: mit
---
# Outrider draft-judge

A judge of {parameters:,} parameters that reads the hidden states which the bundled draft has of its own text: one Qwen3
layer × {width} on top of the draft's two, with a norm and a head of its own (`model.embed_tokens`). It predicts tokens as
a language model does, and a step's reward is the probability of its least likely token. It is of no use without that
draft.

## Use
For `rsd`: `--judge draft-judge` on the command line, `prm: 'draft-judge'` in `load`; for `arbitrage` the same as
`router`.

## Data
As for the draft, whose weights stayed as they are: problems made by `training/bundled/task.py`, made anew for every
update ({tokens:.0f} million tokens). Held out by a hash of family, operations and numbers, so no held-out arithmetic is in
training.

## Results
{results}

## Files
`model.safetensors` sha256 `{sha}`. Licence: MIT.
"""


def deeper(draft: LanguageModel) -> LanguageModel:
    """The draft with another layer and a head of its own, which begin as the draft's; only those are trained."""
    model = LanguageModel(replace(draft.sizes, layers=draft.sizes.layers + 1, tied=False))
    model.model.layers[-1] = Layer(replace(model.sizes, ffn=FFN))
    with torch.no_grad():
        for matrix in (model.model.layers[-1].self_attn.o_proj, model.model.layers[-1].mlp.down_proj):
            matrix.weight.mul_(SMALL)
    model.load_state_dict(draft.state_dict(), strict=False)
    model.lm_head.weight.data.copy_(draft.model.embed_tokens.weight)
    for part in (model.model.embed_tokens, *model.model.layers[:-1]):
        part.requires_grad_(False)
    return model


def own_names(draft: LanguageModel) -> dict[str, str]:
    """The judge's tensors, and what they are called in the deeper model."""
    last = f"model.layers.{draft.sizes.layers}."
    layer = {name: name.replace("model.layers.0.", last) for name in draft.state_dict() if name.startswith("model.layers.0.")}
    return NAMES | layer


def load(folder: Path, draft: LanguageModel) -> LanguageModel:
    saved = load_file(folder / "model.safetensors")
    model = deeper(draft)
    names = own_names(draft)
    model.load_state_dict({inside: saved[name].float() for name, inside in names.items()}, strict=False)
    return model


def export(model: LanguageModel, draft: LanguageModel, folder: Path, tokens: float, results: str) -> None:
    state = model.state_dict()
    weights = {name: state[inside].half().contiguous() for name, inside in own_names(draft).items()}
    folder.mkdir(parents=True, exist_ok=True)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    config = configuration(replace(draft.sizes, layers=1, ffn=FFN)) | {"reads": "draft-states"}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    card = CARD.format(
        results=results,
        parameters=sum(weight.numel() for weight in weights.values()),
        width=draft.sizes.width,
        tokens=tokens / 1e6,
        sha=hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest(),
    )
    (folder / "README.md").write_text(card)


def train(draft: LanguageModel, models: Path, out: Path, args: argparse.Namespace) -> None:
    model = deeper(draft)
    optimizer = Optimizer(model, 0, 1)
    batches = Batches(vocabulary.load(models / "target"), args.tokens, args.seed)
    batches.progress = 0.9  # no drills: the draft has had them
    stream = iter(batches)
    begin = last = time.time()
    updates, tokens = 0, 0.0
    recent: list[float] = []
    while (progress := (time.time() - begin) / (60 * args.minutes)) < 1:
        ids, labels = next(stream)
        wanted = labels != IGNORE
        loss = F.cross_entropy(model.lm_head(model.hidden(ids, STREAM)[wanted]).float(), labels[wanted])
        loss.backward()
        optimizer.step(args.rate * min(1.0, (updates + 1) / WARM_UP, (1 - progress) / args.decay))
        for parameter in model.parameters():
            parameter.grad = None
        updates += 1
        tokens += (ids != vocabulary.PAD).sum().item()
        recent.append(loss.item())
        if time.time() - last > args.every:
            last = time.time()
            line = {"minutes": round((last - begin) / 60, 2), "updates": updates, "loss": sum(recent) / len(recent)}
            print(json.dumps(line), flush=True)
            recent.clear()
            export(model, draft, out, tokens, args.results)
    export(model, draft, out, tokens, args.results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--tokens", type=int, default=2400, help="padded tokens in an update")
    parser.add_argument("--decay", type=float, default=0.6, help="share of the time in which the rate falls to zero")
    parser.add_argument("--rate", type=float, default=0.6, help="multiplies every learning rate")
    parser.add_argument("--every", type=float, default=60, help="seconds between lines, each with a copy of the weights")
    parser.add_argument("--seed", type=int, default=31_000)
    parser.add_argument("--results", default="Not measured yet.", help="text for the card")
    parser.add_argument("--fresh", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    draft = evaluate.load(args.models / "draft")
    if args.fresh is None:
        train(draft, args.models, args.out, args)
        return
    fresh = steps.load(args.fresh)
    rows = labelled(fresh, gains(fresh, None), False)
    print(json.dumps({"model": args.out.name, **summary(doubts(load(args.out, draft), rows))}))


if __name__ == "__main__":
    main()
