"""Writes a reward model or a router in the Hugging Face layout, the router also as ONNX.

python -m routers.export prm PRM.pt ../public/models/prm [--scores data/routers.json]       (from training/)
python -m routers.export router ROUTER.pt ../public/models/router [--scores data/routers.json]
"""

import argparse
import hashlib
import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from bundled import vocabulary
from bundled.export import configuration

from . import onnx_file
from .decode import BREAK
from .judge import Judge, load_judge

PRM_CARD = """---
license: mit
library_name: transformers
---
# Outrider prm

A {parameters:,}-parameter process reward model: it predicts whether a step of an answer is right.
{layers} Qwen3 layers × {width}, vocabulary and first four layers from the bundled mid, a value head (`v_head.summary`)
on the last norm's output. Reward = sigmoid of the value at a step's last token: the blank line (id {delimiter}), or
`<eos>` after the last step. It judges answers to the bundled family's arithmetic word problems and knows nothing else.

## Use
Input: the target's own tokens, `<bos><user>QUESTION<assistant>` and the steps (`"layout": "prompt"` in `config.json`). One pass
judges every step of a text.

## Data
Steps that the bundled draft wrote, greedy and at temperature 0.7, for fresh training problems of `training/bundled/task.py`
({data}), and right ones; **right** means equal to the reference step of the same
number. No held-out arithmetic is in training.

## Results
{results}

## Files
`model.safetensors` sha256 `{sha}`. Licence: MIT.
"""

ROUTER_CARD = """---
license: mit
library_name: transformers
---
# Outrider router

A {parameters:,}-parameter router (Arbitrage, arXiv 2512.05033): it predicts whether the target would write a step better
than the draft. The body
of the bundled reward model ({layers} Qwen3 layers × {width}), a two-class head (`score`) on the last norm's output.
P(target better) = softmax[1] at the draft step's last token: the blank line (id {delimiter}) or `<eos>`. It routes between the
bundled draft and target and knows nothing else.

## Use
Input: {layout}.
`model.onnx`: the same model with matrices of 8-bit integers; `input_ids`, `attention_mask` (int64, [batch, length]) to
`logits` ([batch, length, 2]).
Scores are not calibrated: choose a threshold on problems of your own (`outrider thresholds`).

## Data
{data}.
The label is 1 where the target's greedy step is {label}. No held-out
arithmetic is in training.

## Results
{results}

## Files
`model.safetensors` sha256 `{sha}`, `model.onnx` sha256 `{onnx}`. Licence: MIT.
"""

LAYOUTS = {
    "prompt": "the target's own tokens, `<bos><user>QUESTION<assistant>`, the kept steps and the draft's step "
    "(`layout` in `config.json`)",
    "annotated": '`<bos><user>QUESTION<assistant>`, then each step after "Model 0: " (draft) or "Model 1: " (target), '
    "the draft's step last (`layout` in `config.json`)",
}


def judge_configuration(judge: Judge, layout: str) -> dict:
    """What `Qwen3ForTokenClassification` reads, and how the input is laid out; a reward model has no class of its own there."""
    made = configuration(judge.sizes)
    if judge.classes:
        made["architectures"] = ["Qwen3ForTokenClassification"]
        made["id2label"] = {"0": "draft", "1": "target"}
        made["label2id"] = {"draft": 0, "target": 1}
        made["classifier_dropout"] = 0.0
    else:
        made["architectures"] = ["Qwen3ForRewardModel"]
    return made | {"use_cache": False, "layout": layout, "step_token_id": BREAK}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def export(judge: Judge, recipe: dict, tokenizer: Path, folder: Path, notes: dict) -> None:
    layout = "annotated" if recipe.get("annotated") else "prompt"
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: value.half().contiguous() for name, value in judge.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    (folder / "config.json").write_text(json.dumps(judge_configuration(judge, layout), indent=2) + "\n")
    vocabulary.write(folder, vocabulary.load(tokenizer))
    about = {
        "parameters": sum(value.numel() for value in weights.values()),
        "layers": judge.sizes.layers,
        "width": judge.sizes.width,
        "delimiter": BREAK,
        "sha": digest(folder / "model.safetensors"),
        "layout": LAYOUTS[layout],
        "label": "right and the draft's is not" if recipe.get("label") != "prm" else "rewarded more than the draft's",
        "data": notes.get("data", ""),
        "results": notes.get("results", "Not measured yet."),
    }
    if judge.classes:
        onnx_file.export(judge, folder / "model.onnx")
        about["onnx"] = digest(folder / "model.onnx")
    (folder / "README.md").write_text((ROUTER_CARD if judge.classes else PRM_CARD).format(**about))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=["prm", "router"])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scores", type=Path, help='JSON: {"prm": {"data": …, "results": …}, "router": …}, text for the card')
    args = parser.parse_args()
    notes = json.loads(args.scores.read_text()) if args.scores else {}
    judge, recipe = load_judge(args.checkpoint)
    with torch.no_grad():
        export(judge, recipe, args.folder.parent / "target", args.folder, notes.get(args.name, {}))


if __name__ == "__main__":
    main()
