"""Acceptance lengths of a trained drafter on held-out prompts: Spec-Bench's categories and GSM8K's test part.

python -m smollm2.evaluate texts --target FOLDER --data FOLDER --out HELD [--each 8]     greedy answers, in bf16
python -m smollm2.evaluate tau --target FOLDER --held HELD CHECKPOINT... [--json FILE]   τ of drafters over them
python -m smollm2.evaluate engine --target FOLDER --data FOLDER --drafter FOLDER [--each 1]  the engine's rounds and ours

The last runs the engine on the same prompts and counts the rounds of the engine's own answers here: both must agree.
"""

import argparse
import json
import subprocess
from pathlib import Path
from random import Random

import torch

from drafters.eagle import Eagle3
from drafters.measure import mean

from . import layout
from .corpus import Batch, Corpus
from .generate import Text, Writer, decode
from .measure import dspark_lengths, eagle_lengths
from .target import Target, chat, tokenizer_of
from .train import folded, new, tau

DRAFTS = [3, 5, 7, 8]
PROJECT = Path(__file__).parents[2]


def prompts(data: Path, each: int) -> list[tuple[str, str]]:
    """The first turns of the first prompts of each category; MT-bench's eight are one category of their own here."""
    made: dict[str, list[str]] = {}
    for line in (data / "spec-bench.jsonl").read_text().splitlines():
        row = json.loads(line)
        kind = row["category"] if row["question_id"] > 160 else "mt-bench"
        made.setdefault(kind, []).append(row["turns"][0])
    # Ten questions of each of MT-bench's subjects follow one another.
    made["mt-bench"] = [prompt for at in range(10) for prompt in made["mt-bench"][at::10]]
    made["gsm8k"] = [json.loads(line)["question"] for line in (data / "gsm8k-test.jsonl").read_text().splitlines()]
    return [(kind, prompt) for kind, all_of in made.items() for prompt in all_of[: each * (2 if kind == "gsm8k" else 1)]]


class Finite:
    """A supply of fixed greedy answers."""

    rng = Random(0)

    def __init__(self, texts: list[Text]) -> None:
        self.texts = texts

    def next(self) -> Text | None:
        return self.texts.pop() if self.texts else None

    def finished(self, text: Text) -> None:
        pass


def texts(args: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    target, tokenizer = Target(args.target), tokenizer_of(args.target)
    args.out.mkdir(parents=True, exist_ok=True)
    made = []
    for kind, prompt in prompts(args.data, args.each):
        ids = tokenizer.encode(chat(prompt), add_special_tokens=False).ids
        if len(ids) + args.limit <= args.length:
            made.append(Text(kind, ids, args.limit, greedy=True))
    print({"texts": len(made), "prompt_tokens": sum(len(text.ids) for text in made)}, flush=True)
    decode(target, Finite(made), Writer(args.out, 0), (min(64, len(made)), args.length))


def measure(args: argparse.Namespace) -> None:
    embedding = Target(args.target).embedding.float()
    held = Corpus(args.held, Random(0))
    table = {}
    for path in args.checkpoints:
        saved = torch.load(path, weights_only=False)
        drafter = new(saved["kind"])
        drafter.load_state_dict(saved["model"])
        for drafts in DRAFTS:
            table[f"{saved['kind']} {drafts}"] = tau(folded(drafter, saved["scale"]), embedding, held, drafts)
            print(path, drafts, table[f"{saved['kind']} {drafts}"], flush=True)
    if args.json:
        args.json.write_text(json.dumps(table, indent=1) + "\n")


def engine_run(args: argparse.Namespace, prompt: list[int], system: str, knobs: list[str]) -> dict:
    """The last event of a greedy run: its tokens and how many each round committed."""
    command = ["npm", "run", "-s", "outrider", "--", "generate", "--model", args.target, "--drafter", args.drafter.resolve()]
    command += ["--system", system, "--tokens", ",".join(map(str, prompt)), "--max-tokens", str(args.limit), "--json"]
    command += [part for knob in ("fall-back=off", *knobs) for part in ("--set", knob)]
    done = subprocess.run(list(map(str, command)), cwd=PROJECT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@torch.no_grad()
def engine(args: argparse.Namespace) -> None:
    target, drafter = Target(args.target, torch.float32), layout.load(args.drafter)
    eagle = isinstance(drafter, Eagle3)
    system, measure = ("eagle3", eagle_lengths) if eagle else ("dspark", dspark_lengths)
    knobs = ["shape=chain", f"depth={args.drafts}"] if eagle else [f"block-size={args.drafts}"]
    tokenizer = tokenizer_of(args.target)
    both: tuple[list[list[int]], list[list[int]]] = ([], [])
    for kind, said in prompts(args.data, args.each):
        prompt = tokenizer.encode(chat(said), add_special_tokens=False).ids
        if len(prompt) > args.longest:
            continue
        run = engine_run(args, prompt, system, knobs)
        theirs = run["metrics"]["acceptance_lengths"]
        ids = torch.tensor([[*prompt, *run["tokens"]]])
        taps, states = target.read(ids)
        end = torch.tensor([ids.shape[1] - 1])
        batch = Batch(ids, torch.tensor([len(prompt)]), end, taps, states, torch.zeros(ids.shape))
        (ours,) = measure(drafter, target.embedding, batch, args.drafts)
        both[0].append(theirs)
        both[1].append(ours)
        print({"kind": kind, "tokens": len(run["tokens"]), "engine": theirs, "here": ours}, flush=True)
    theirs, ours = (mean(lengths) for lengths in both)
    print({"engine": round(theirs, 4), "here": round(ours, 4), "ratio": round(theirs / ours, 4)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    write = parts.add_parser("texts")
    write.set_defaults(run=texts)
    write.add_argument("--data", type=Path, required=True)
    write.add_argument("--out", type=Path, required=True)
    write.add_argument("--each", type=int, default=8, help="prompts of a category, twice as many of GSM8K")
    write.add_argument("--limit", type=int, default=128, help="most tokens of an answer")
    write.add_argument("--length", type=int, default=1152, help="most tokens of a text; longer prompts are left out")
    tell = parts.add_parser("tau")
    tell.set_defaults(run=measure)
    tell.add_argument("--held", type=Path, required=True)
    tell.add_argument("--json", type=Path)
    tell.add_argument("checkpoints", type=Path, nargs="+")
    compare = parts.add_parser("engine")
    compare.set_defaults(run=engine)
    compare.add_argument("--data", type=Path, required=True)
    compare.add_argument("--drafter", type=Path, required=True, help="folder in the speculators layout")
    compare.add_argument("--each", type=int, default=1, help="prompts of a category")
    compare.add_argument("--longest", type=int, default=1024, help="tokens of a prompt; longer ones are left out")
    compare.add_argument("--limit", type=int, default=64)
    compare.add_argument("--drafts", type=int, default=7)
    for part in (write, tell, compare):
        part.add_argument("--target", type=Path, required=True, help="folder of the GGUF file, its config and tokenizer")
        part.add_argument("--tag", help="ignored: a word by which to find the process")
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
