"""Writes one drafter in its published layout, with a card.

python -m drafters.export dflash CHECKPOINT ../public/models/target ../public/models/dflash [--scores FILE] [--note TEXT]
"""

import argparse
import hashlib
import json
from pathlib import Path

import torch

from bundled import evaluate
from bundled.export import share

from . import load
from .train import restore

ABOUT = {
    "dflash": (
        "DFlash",
        "a block-diffusion drafter (arXiv 2602.06036): {layers} Qwen3-style layers read the target's layers {taps} and fill a "
        "whole block of masked tokens in one pass. It has no embedding and no head: it uses the target's, the mask token's row "
        "(id {mask}) included. Trained for blocks of 2 to 16; any block size up to 16 is good, larger ones are not.",
    ),
    "eagle3": (
        "EAGLE-3",
        "a one-layer drafter that reads the target's states 2, L // 2 and L - 3 (here 2, 3, 3) and the next token, then its own "
        "output again, with a head over the {drafted} tokens that the target's answers use most (`d2t`, `t2d`). It uses the "
        "target's embedding.",
    ),
}

CARD = """---
license: mit
---
# Outrider {title} drafter

{note}For the bundled target of this project: {about}
{parameters:,} parameters, width {width}, {heads} query and {kv} key/value heads of {head_dim}, FFN {ffn}. Layout (config.json,
tensor names) as published for this kind of drafter. It works with one target only, the one with sha256 `{target}`.

## Data
The target's own greedy answers to training problems of `training/bundled/task.py`, made anew for every update; no
other data.

## Results
{results}

## Files
`model.safetensors` sha256 `{sha}`. Licence: MIT.
"""


def results(kind: str, scores: dict | None) -> str:
    if not scores:
        return "Not measured yet."
    what = "block size" if kind == "dflash" else "drafted"
    lines = [
        "Greedy, held-out problems, whole answers, f32 arithmetic: τ is the mean number of tokens committed in a round.",
        "",
        f"| {what} | τ | rounds accepted whole |",
        "| --- | --- | --- |",
    ]
    return "\n".join([*lines, *(f"| {name} | {s['tau']:.2f} | {share(s['whole'])} |" for name, s in scores[kind].items())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=ABOUT)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scores", type=Path, help="JSON that drafters.report wrote")
    parser.add_argument("--note", default="", help="a line at the top of the card")
    args = parser.parse_args()
    drafter = restore(args.kind, torch.load(args.checkpoint, weights_only=False)["model"])
    load.save(drafter, evaluate.load(args.target).sizes.layers, args.folder)
    title, about = ABOUT[args.kind]
    s = drafter.sizes
    facts = {"layers": s.layers, "drafted": len(getattr(drafter, "d2t", []))}
    facts |= {"taps": ", ".join(map(str, getattr(drafter, "taps", []))), "mask": getattr(drafter, "mask_id", None)}
    card = CARD.format(
        title=title,
        note=f"**{args.note}**\n\n" if args.note else "",
        about=about.format(**facts),
        parameters=sum(p.numel() for p in drafter.parameters()),
        width=s.width,
        heads=s.heads,
        kv=s.kv_heads,
        head_dim=s.head_dim,
        ffn=s.ffn,
        target=hashlib.sha256((args.target / "model.safetensors").read_bytes()).hexdigest(),
        results=results(args.kind, json.loads(args.scores.read_text()) if args.scores else None),
        sha=hashlib.sha256((args.folder / "model.safetensors").read_bytes()).hexdigest(),
    )
    (args.folder / "README.md").write_text(card)


if __name__ == "__main__":
    main()
