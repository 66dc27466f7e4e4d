"""Greedy answers on held-out problems, scored by exact final number and exact whole text.

python -m bundled.evaluate ../public/models/target [--problems N] [--level hard] [--q8] [--offset N] [--json FILE]
"""

import argparse
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer

from . import vocabulary
from .batches import IGNORE, pack, row
from .checker import final_number
from .heldout import FILES
from .model import LanguageModel, Sizes, greedy


@dataclass
class Score:
    """Sums, so that the scores of several processes can be added."""

    problems: int = 0
    right: int = 0
    text: int = 0


def held_out(count: int | None = None, level: str = "trained") -> list[dict]:
    lines = FILES[level].read_text().splitlines()
    return [json.loads(line) for line in lines[:count]]


def greedy_ids(
    model: LanguageModel, prompts: list[list[int]], batch: int = 100, offset: int = 0, drawn: torch.Generator | None = None
) -> list[list[int]]:
    """Greedy answers, without <eos>; prompts of like length are decoded together. `drawn`: as in `greedy`."""
    order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
    made: list[list[int]] = [[] for _ in prompts]
    for start in range(0, len(order), batch):
        chosen = order[start : start + batch]
        answers = greedy(model, [prompts[i] for i in chosen], vocabulary.EOS, vocabulary.PAD, offset=offset, drawn=drawn)
        for index, ids in zip(chosen, answers, strict=True):
            made[index] = ids
    return made


def answers(model: LanguageModel, tokenizer: Tokenizer, problems: list[dict], batch: int = 100, offset: int = 0) -> list[str]:
    """Greedy answers as text."""
    prompts = [vocabulary.prompt_ids(tokenizer, p["question"]) for p in problems]
    return [tokenizer.decode(ids) for ids in greedy_ids(model, prompts, batch, offset)]


def score(texts: list[str], problems: list[dict]) -> Score:
    return Score(
        len(problems),
        sum(final_number(t) == p["result"] for t, p in zip(texts, problems, strict=True)),
        sum(t == p["answer"] for t, p in zip(texts, problems, strict=True)),
    )


@torch.no_grad()
def loss(model: LanguageModel, tokenizer: Tokenizer, problems: list[dict]) -> float:
    """Mean loss of an answer token, in nats."""
    total = count = 0.0
    for start in range(0, len(problems), 50):
        ids, labels = pack([row(tokenizer, p["question"], p["answer"]) for p in problems[start : start + 50]])
        wanted = labels != IGNORE
        logits = model.head(model.hidden(ids)[wanted])
        total += F.cross_entropy(logits, labels[wanted], reduction="sum").item()
        count += wanted.sum().item()
    return total / count


def breakdown(texts: list[str], problems: list[dict]) -> dict:
    """Exact answers overall, by family and by number of steps."""
    tables: dict[str, dict] = {"family": defaultdict(lambda: [0, 0]), "steps": defaultdict(lambda: [0, 0])}
    for text, problem in zip(texts, problems, strict=True):
        right = final_number(text) == problem["result"]
        for table, key in (("family", problem["family"]), ("steps", str(problem["steps"]))):
            tables[table][key][0] += right
            tables[table][key][1] += 1
    made = score(texts, problems)
    return {
        "problems": made.problems,
        "answer_exact": made.right / made.problems,
        "text_exact": made.text / made.problems,
        **{name: {k: (n / of, of) for k, (n, of) in sorted(table.items())} for name, table in tables.items()},
    }


def quantize_q8(weight: torch.Tensor, group: int = 32) -> torch.Tensor:
    """Rounds to 8-bit integers with one f16 scale for every 32 weights of a row, and back."""
    parts = weight.float().view(weight.shape[0], -1, group)
    scale = (parts.abs().amax(-1, keepdim=True) / 127).half().float().clamp(min=1e-8)
    return ((parts / scale).round().clamp(-127, 127) * scale).view_as(weight)


def load(folder: Path, q8: bool = False) -> LanguageModel:
    """An exported model, in f32 arithmetic; `q8` rounds every matrix as the engine's q8 does."""
    config = json.loads((folder / "config.json").read_text())
    sizes = Sizes(
        layers=config["num_hidden_layers"],
        width=config["hidden_size"],
        heads=config["num_attention_heads"],
        kv_heads=config["num_key_value_heads"],
        head_dim=config["head_dim"],
        ffn=config["intermediate_size"],
        vocabulary=config["vocab_size"],
        positions=config["max_position_embeddings"],
        rope_theta=config["rope_theta"] if "rope_theta" in config else config["rope_parameters"]["rope_theta"],
        norm_eps=config["rms_norm_eps"],
        tied=config["tie_word_embeddings"],
    )
    model = LanguageModel(sizes)
    weights = {name: value.float() for name, value in load_file(folder / "model.safetensors").items()}
    if q8:
        weights = {name: quantize_q8(value) if value.ndim == 2 else value for name, value in weights.items()}
    model.load_state_dict(weights)
    return model.eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--problems", type=int)
    parser.add_argument("--level", choices=FILES, default="trained")
    parser.add_argument("--q8", action="store_true")
    parser.add_argument("--offset", type=int, default=0, help="added to every position")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    problems = held_out(args.problems, args.level)
    model = load(args.folder, args.q8)
    tokenizer = vocabulary.load(args.folder)
    result = breakdown(answers(model, tokenizer, problems, offset=args.offset), problems)
    print(json.dumps(result, indent=2))
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
