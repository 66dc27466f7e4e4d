"""What a policy learns from: each prompt's last raw logits, and what every block size would have done.

    python -m blockpilot.dump ../public/models OUT.npz --problems 2000 [--held-out]      (from training/)

Arrays: `logits` [n, vocabulary] f32, raw, of the last prompt row; `prompt_tokens` [n]; `answer_tokens` [n] (<eos>
included); `blocks` [sizes]; `rounds` [n, sizes]; and for every size B `lengths_B` [n, most rounds], each round's
committed tokens, zeros after the last round. A problem's τ at a size is (answer_tokens - 1) / rounds.

`--samples K` draws K answers to each problem at temperature 1 in place of the greedy one; a problem's K rows follow one
another. Drafts are greedy, so a round commits what it would have drafted right of the drawn text.
"""

import argparse
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from bundled import evaluate, vocabulary
from bundled.task import problems
from drafters import load
from drafters.answers import greedy_texts
from drafters.dflash import DFlash
from drafters.measure import dflash_lengths, groups, whole
from drafters.report import BLOCKS
from drafters.train import restore

SEED = 424_242


def padded(lengths: list[list[int]]) -> np.ndarray:
    made = np.zeros((len(lengths), max(map(len, lengths))), np.uint8)
    for row, values in zip(made, lengths, strict=True):
        row[: len(values)] = values
    return made


def dump(models: Path, drafter: DFlash, questions: list[str], blocks: list[int], samples: int = 0) -> dict[str, np.ndarray]:
    target, tokenizer = evaluate.load(models / "target"), vocabulary.load(models / "target")
    drawn = torch.Generator().manual_seed(SEED) if samples else None
    questions = [question for question in questions for _ in range(samples or 1)]
    texts, prompts = greedy_texts(target, tokenizer, questions, drawn)
    logits = np.zeros((len(texts), target.sizes.vocabulary), np.float32)
    lengths: dict[int, list[list[int]]] = {block: [[] for _ in texts] for block in blocks}
    for group in groups(texts):
        batch = whole(target, [texts[i] for i in group], [prompts[i] for i in group], drawn is not None)
        rows = torch.arange(len(group))
        with torch.no_grad():
            last = target.model.norm(batch.states[-1][rows, batch.starts - 1])
            logits[group] = target.head(last).numpy()
        for block in blocks:
            for index, made in zip(group, dflash_lengths(target, drafter, batch, block), strict=True):
                lengths[block][index] = made
    return {
        "questions": np.array(questions),
        "logits": logits,
        "prompt_tokens": np.array(prompts),
        "answer_tokens": np.array([len(text) - start for text, start in zip(texts, prompts, strict=True)]),
        "blocks": np.array(blocks),
        "rounds": np.array([[len(lengths[block][i]) for block in blocks] for i in range(len(texts))]),
        **{f"lengths_{block}": padded(made) for block, made in lengths.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--problems", type=int, default=2000, help="how many, held out ones too")
    parser.add_argument("--held-out", action="store_true", help="the fixed held-out problems instead")
    parser.add_argument("--samples", type=int, default=0, help="answers drawn at temperature 1; 0: the greedy one")
    parser.add_argument("--blocks", type=int, nargs="*", default=BLOCKS, help="block sizes")
    parser.add_argument("--drafter", type=Path, help="a checkpoint of drafters.train in place of MODELS/dflash")
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.held_out:
        questions = [p["question"] for p in evaluate.held_out(args.problems)]
    else:
        questions = [p.question for p in islice(problems(SEED, held_out=False), args.problems)]
    drafter = load.dflash(args.models / "dflash")
    if args.drafter:
        drafter = restore("dflash", torch.load(args.drafter, weights_only=False)["model"]).eval()
    np.savez_compressed(args.out, **dump(args.models, drafter, questions, args.blocks, args.samples))


if __name__ == "__main__":
    main()
