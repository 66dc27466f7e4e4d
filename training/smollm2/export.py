"""Writes a trained drafter: the speculators layout in f16, or one quantised GGUF file, and its card.

python -m smollm2.export CHECKPOINT FOLDER [--gguf Q8_0|Q4_1] [--scores FILE]

Scores are what `evaluate.py tau --json` wrote.
"""

import argparse
import hashlib
import json
from pathlib import Path

import torch

from . import drafter_file, layout
from .target import TAPS
from .train import folded, new

DRAFTS = {"dspark": 7, "eagle3": 7}  # that a round proposes

CARD = """---
license: apache-2.0
base_model: HuggingFaceTB/SmolLM2-135M-Instruct
---
# {title} drafter for SmolLM2-135M-Instruct

{about}
{parameters:,} parameters. It reads the outputs of the target's layers {taps} and drafts {drafted:,} of its {vocabulary:,} tokens.
It serves this target only.

## Data
{tokens:,} answer tokens (texts seen again count again) of the target itself: greedy and temperature-1 answers to GSM8K's
training questions and to prompts that the target wrote. No evaluation prompt, and none that quotes one. Made by
`training/smollm2` of the Outrider project.

## Results
{results}

## Files
{files}
"""

ABOUT = {
    "dspark": "DSpark (arXiv 2607.05147): a block of {block} rows filled in one pass, a Markov head and a confidence head.",
    "eagle3": "EAGLE-3: one layer that reads the target's features and the next token, and then its own output again.",
}


def results(scores: dict | None, kind: str) -> str:
    if not scores:
        return "Not measured yet."
    rows = {name.split()[1]: row for name, row in scores.items() if name.startswith(kind)}
    kinds = list(next(iter(rows.values())))
    head = ["τ, the mean number of tokens committed in a round: held-out prompts, greedy, by the number of drafts.", ""]
    table = ["| drafts | " + " | ".join("all" if k == "tau" else k for k in kinds) + " |", "| --- " * (len(kinds) + 1) + "|"]
    table += [f"| {drafts} | " + " | ".join(f"{row[k]:.2f}" for k in kinds) + " |" for drafts, row in rows.items()]
    return "\n".join(head + table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gguf", choices=drafter_file.QUANTISED, help="one file instead of config.json and model.safetensors")
    parser.add_argument("--scores", type=Path)
    args = parser.parse_args()
    saved = torch.load(args.checkpoint, weights_only=False)
    drafter = new(saved["kind"])
    drafter.load_state_dict(saved["model"])
    drafter, kind = folded(drafter, saved["scale"]), saved["kind"]
    args.folder.mkdir(parents=True, exist_ok=True)
    file = args.folder / ("model.gguf" if args.gguf else "model.safetensors")
    if args.gguf:
        file.write_bytes(drafter_file.gguf(drafter, TAPS, args.gguf))
    else:
        layout.save(drafter, TAPS, DRAFTS[kind], args.folder)
    card = CARD.format(
        title={"dspark": "DSpark", "eagle3": "EAGLE-3"}[kind],
        about=ABOUT[kind].format(block=getattr(drafter, "block", 0)),
        parameters=sum(p.numel() for p in drafter.parameters()),
        taps=", ".join(map(str, TAPS)),
        drafted=len(drafter.d2t),
        vocabulary=drafter.sizes.vocabulary,
        tokens=saved["tokens"],
        results=results(json.loads(args.scores.read_text()) if args.scores else None, kind),
        files=f"`{file.name}` sha256 `{hashlib.sha256(file.read_bytes()).hexdigest()}`: {file.stat().st_size:,} bytes.",
    )
    (args.folder / "README.md").write_text(card)
    print(file, file.stat().st_size)


if __name__ == "__main__":
    main()
