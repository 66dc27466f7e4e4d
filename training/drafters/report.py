"""Acceptance lengths on held-out problems, whole greedy answers, weights as exported.

    python -m drafters.report ../public/models --json FILE [--problems N] [--trees N] [--out FOLDER]      (from training/)

FOLDER gets one JSON a drafter with every problem's acceptance lengths. Trees need the step-by-step loop, so they are
measured on the first `--trees` problems only.
"""

import argparse
import json
from itertools import chain
from pathlib import Path

import torch

from bundled import evaluate, vocabulary
from bundled.model import LanguageModel

from . import load
from .answers import greedy_texts
from .decode import eagle_run
from .measure import Lengths, dflash_lengths, draft_lengths, eagle_lengths, groups, mean, whole

BLOCKS = [1, 2, 4, 6, 8, 10, 12, 16]
CHAINS = [1, 2, 3, 4, 5, 6, 7]
GAMMAS = [2, 3, 4, 5, 6, 8]
TREES = [(3, 4, 10), (4, 5, 15), (10, 7, 59)]  # width, levels, nodes: 15 nodes and the anchor fill a pass of 16 rows


def row(lengths: Lengths, most: int) -> dict:
    """τ, the share of rounds that committed all they could, and the share of rounds that reached each length."""
    flat = list(chain(*lengths))
    reached = [sum(n >= k for n in flat) / len(flat) for k in range(1, most + 1)]
    return {"tau": round(mean(lengths), 3), "whole": round(reached[-1], 4), "reached": [round(r, 4) for r in reached]}


def in_order(made: list[tuple[list[int], Lengths]]) -> Lengths:
    """Back from groups of like length to the problems' order."""
    placed = {index: lengths for group, part in made for index, lengths in zip(group, part, strict=True)}
    return [placed[index] for index in sorted(placed)]


def trees(target: LanguageModel, drafter, texts: list[list[int]], prompts: list[int], shape: tuple[int, int, int]) -> Lengths:
    lengths = []
    for text, start in zip(texts, prompts, strict=True):
        run = eagle_run(target, drafter, text[:start], shape, 400, vocabulary.EOS)
        assert run.tokens == text[start:], "a tree changed the target's greedy answer"
        lengths.append(run.lengths)
    return lengths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--problems", type=int)
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", nargs="*", default=["dflash", "eagle3", "draft", "mid"])
    args = parser.parse_args()
    torch.set_num_threads(1)
    target, tokenizer = evaluate.load(args.models / "target"), vocabulary.load(args.models / "target")
    questions = [p["question"] for p in evaluate.held_out(args.problems)]
    texts, prompts = greedy_texts(target, tokenizer, questions)
    parts = [(g, whole(target, [texts[i] for i in g], [prompts[i] for i in g])) for g in groups(texts)]
    tables: dict[str, dict] = json.loads(args.json.read_text()) if args.json.exists() else {}
    for name in args.only:
        folder, found = args.models / name, {}
        if name == "dflash":
            drafter = load.dflash(folder)
            for block in BLOCKS:
                found[block] = in_order([(g, dflash_lengths(target, drafter, part, block)) for g, part in parts])
            table = {str(block): row(lengths, block) for block, lengths in found.items()}
        elif name == "eagle3":
            drafter = load.eagle3(folder)
            for depth in CHAINS:
                found[depth] = in_order([(g, eagle_lengths(target, drafter, part, depth)) for g, part in parts])
            table = {f"chain {depth}": row(lengths, depth + 1) for depth, lengths in found.items()}
            for shape in TREES:
                made = trees(target, drafter, texts[: args.trees], prompts[: args.trees], shape)
                table["tree " + "/".join(map(str, shape))] = row(made, shape[1] + 1)
                found["tree " + "/".join(map(str, shape))] = made
        else:
            drafter = evaluate.load(folder)
            for gamma in GAMMAS:
                found[gamma] = in_order([(g, draft_lengths(drafter, part, gamma)) for g, part in parts])
            table = {f"chain {gamma}": row(lengths, gamma + 1) for gamma, lengths in found.items()}
        tables[name] = table
        for key, entry in table.items():
            print(name, key, entry["tau"], entry["whole"], flush=True)
        if args.out:
            shown = {"problems": questions, "lengths": {str(k): v for k, v in found.items()}}
            (args.out / f"tau-{name}.json").write_text(json.dumps(shown))
    args.json.write_text(json.dumps(tables, indent=1) + "\n")


if __name__ == "__main__":
    main()
