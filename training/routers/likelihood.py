"""Measures a language model as a judge: the least log-probability that it gives to a token of the draft's step.

    python -m routers.likelihood FRESH.jsonl MODEL …      (from training/; FRESH by routers.steps, each MODEL a folder)

AUC of "the target's step is better", on the draft's greedy steps.
"""

import argparse
import json
from pathlib import Path

import torch

from bundled import evaluate
from bundled.model import LanguageModel

from . import steps
from .head import before, summary
from .router import gains, labelled
from .rows import Judged, Row, batches, collate


@torch.no_grad()
def doubts(model: LanguageModel, rows: list[Row]) -> list[tuple[Judged, float]]:
    """Of every step minus its least log-probability."""
    made = []
    for group in batches(rows, 6000):
        batch = collate(group)
        logprobs = model.head(model.hidden(batch.ids, positions=batch.positions, mask=batch.mask)).log_softmax(-1)
        previous = torch.tensor([before(row, batch.ids.shape[1]) for row in group])
        predicted = logprobs[torch.arange(len(group))[:, None], previous]
        said = predicted.gather(2, batch.ids[..., None])[..., 0]
        made += [(j, -said[r, j.index - j.length + 1 : j.index + 1].min().item()) for r, j in batch.judged]
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fresh", type=Path)
    parser.add_argument("models", type=Path, nargs="+")
    args = parser.parse_args()
    torch.set_num_threads(1)
    fresh = steps.load(args.fresh)
    rows = labelled(fresh, gains(fresh, None), False)
    for folder in args.models:
        print(json.dumps({"model": folder.name, **summary(doubts(evaluate.load(folder), rows))}), flush=True)


if __name__ == "__main__":
    main()
