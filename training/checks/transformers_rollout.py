"""Attention rollout of every family by transformers, as the reference of src/model/cache/rollout-state.test.ts.

python checks/transformers_rollout.py ../../shared/golden ../src/testing/goldens/rollout-families.json      (from training/)

Each family's reference model reads the same tokens; the last three layers that attend are rolled out over all heads. The
file holds, by family and variant, how much each of the last tokens rests on the first ones.
"""

import json
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM

FAMILIES = ["qwen2", "qwen3", "gemma3", "gemma2", "phi3", "phi3-longrope", "smollm3", "granite", "olmo2", "lfm2", "qwen3_5"]
TOKENS, SOURCES, JUDGED = 60, 25, 8
LAYERS, FLOOR = 3, 0.01


@torch.no_grad()
def grounding(model: torch.nn.Module, ids: torch.Tensor) -> dict[str, list[float]]:
    attention = model(ids, output_attentions=True, use_cache=False).attentions
    heads = [layer[0].mean(0) for layer in attention if layer is not None and layer.dim() == 4][-LAYERS:]
    identity = torch.eye(ids.shape[1])
    ways = {"threshold": lambda a: torch.where(a < FLOOR, 0, a), "residual": lambda a: (a + identity) / 2}
    made = {}
    for name, way in ways.items():
        rolled = identity
        for layer in heads:
            rolled = way(layer) @ rolled
        made[name] = [round(value, 7) for value in rolled[-JUDGED:, :SOURCES].sum(-1).tolist()]
    return made


def main() -> None:
    folder, out = map(Path, sys.argv[1:])
    ids = torch.tensor([[(i * 37 + 11) % 250 for i in range(TOKENS)]])
    made = {}
    for family in FAMILIES:
        model = AutoModelForCausalLM.from_pretrained(folder / f"{family}-tiny", attn_implementation="eager", dtype=torch.float32)
        made[f"{family}-tiny"] = grounding(model.eval(), ids)
    out.write_text(json.dumps({"tokens": ids[0].tolist(), "sources": SOURCES, "families": made}) + "\n")


if __name__ == "__main__":
    main()
