"""How well SpecGuard's signals tell the steps that the target would better: every variant of attention rollout, by layers,
heads, and least or mean over a step's tokens, for a draft's greedy steps along the target's answers. Validation problems.

    python -m routers.signals ../public/models [--draft mid] [--level hard] [--problems 300] [--json FILE]     (from training/)

The AUC is the probability that of a step that the target betters and another one the first has the lower signal; .5 is chance.
The engine's own (`outrider thresholds`) agree where it has the variant: it has no heads one by one, and no means.
"""

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bundled import evaluate, vocabulary
from bundled.heldout import validation
from bundled.model import Attention, LanguageModel, causal_mask, rotate
from bundled.task import LEVELS

from .decode import confirm_steps, write_steps
from .judge import resampled
from .steps import Record, record

LEAST = 0.01
VARIANTS = ("threshold", "renormalised", "plain", "residual")


Step = tuple[list[int], list[int], list[float], bool, int]


def contexts(draft: LanguageModel, target: LanguageModel, records: list[Record]) -> list[Step]:
    """Before each step of the target's answers: the text, the draft's step, its log-probabilities, whether the target's is
    better, and the number of the problem."""
    made = []
    while going := [at for at, one in enumerate(records) if not one.ended]:
        texts = [records[at].text for at in going]
        drafted = write_steps(draft, texts)
        written = confirm_steps(target, texts, [d.ids for d in drafted])
        for at, text, d, step in zip(going, texts, drafted, written, strict=True):
            one = records[at]
            made.append((text, d.ids, d.logprobs, step != d.ids and one.right(len(one.kept), step), at))
            one.kept.append(step)
    return made


def weights(attention: Attention, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Of every head; [heads, length, length]."""
    length = x.shape[0]
    q = attention.q_norm(attention.q_proj(x).view(length, attention.heads, -1)).transpose(0, 1)
    k = attention.k_norm(attention.k_proj(x).view(length, attention.kv_heads, -1)).transpose(0, 1)
    q, k = rotate(q, cos, sin), rotate(k, cos, sin).repeat_interleave(attention.heads // attention.kv_heads, dim=0)
    scores = (q * attention.head_dim**-0.5) @ k.mT
    return scores.masked_fill(causal_mask(length), -3e4).softmax(-1)


def attentions(model: LanguageModel, ids: list[int]) -> list[Tensor]:
    states = model.states(torch.tensor([ids]))
    cos, sin = model.cos[: len(ids)], model.sin[: len(ids)]
    return [
        weights(layer.self_attn, layer.input_layernorm(state)[0], cos, sin)
        for layer, state in zip(model.model.layers, states, strict=False)
    ]


def rolled(layer: Tensor, variant: str) -> Tensor:
    if variant in ("threshold", "renormalised"):
        layer = layer.where(layer >= LEAST, 0)
    if variant == "renormalised":
        layer = layer / layer.sum(-1, keepdim=True).clamp_min(1e-9)
    return (layer + torch.eye(layer.shape[0])) / 2 if variant == "residual" else layer


def heads_of(count: int) -> dict[str, object]:
    """How the heads of a layer become one matrix."""
    one = {f"head {i + 1}": (lambda a, i=i: a[i]) for i in range(count)}
    return {"mean": lambda a: a.mean(0), "max": lambda a: a.amax(0), **one}


def groundings(model: LanguageModel, text: list[int], step: list[int]) -> dict[tuple, np.ndarray]:
    """Each token's, by (layers, heads, variant, sink)."""
    all_layers, made = attentions(model, text + step), {}
    for (name, merge), variant in product(heads_of(model.sizes.heads).items(), VARIANTS):
        merged = [rolled(merge(layer), variant) for layer in all_layers]
        through = None
        for count, layer in enumerate(reversed(merged), 1):
            through = layer[len(text) :] if through is None else through @ layer
            for sink in ("counted", "left out"):
                made[count, name, variant, sink] = through[:, (sink == "left out") : len(text)].sum(-1).numpy()
    return made


def auc(low_is_bad: np.ndarray, better: np.ndarray) -> float:
    _, place, same = np.unique(-low_is_bad, return_inverse=True, return_counts=True)
    ranks, count = (np.cumsum(same) - (same - 1) / 2)[place], int(better.sum())
    return float((ranks[better].sum() - count * (count + 1) / 2) / (count * (len(better) - count)))


def intervals(signals: dict[str, np.ndarray], better: np.ndarray, problems: np.ndarray) -> dict[str, dict[str, list[float]]]:
    """Each signal's AUC, and that less the first one's: 95 % by the bootstrap over problems, the same draws for all."""
    draws = [*resampled(problems)]
    drawn = {name: np.array([auc(values[at], better[at]) for at in draws]) for name, values in signals.items()}
    first = next(iter(drawn.values()))

    def ends(values: np.ndarray) -> list[float]:
        return [round(float(end), 4) for end in np.quantile(values, [0.025, 0.975])]

    return {name: {"auc": ends(values), "less_the_first": ends(values - first)} for name, values in drawn.items()}


def normal(values: np.ndarray) -> np.ndarray:
    low, high = np.quantile(values, [0.05, 0.95])
    return np.clip((values - low) / max(high - low, 1e-9), 0, 1)


def study(model: LanguageModel, made: list[Step]) -> dict:
    better, problems = np.array([b for *_, b, _ in made]), np.array([at for *_, at in made])
    logprob = {"least": np.array([min(p) for _, _, p, *_ in made]), "mean": np.array([np.mean(p) for _, _, p, *_ in made])}
    seen: dict[tuple, list[float]] = {}
    with torch.no_grad():
        for text, step, *_ in made:
            for key, values in groundings(model, text, step).items():
                for how, value in (("least", values.min()), ("mean", values.mean())):
                    seen.setdefault((*key, how), []).append(float(value))
    rows, mixtures = [], []
    for (layers, heads, variant, sink, how), values in seen.items():
        grounding = np.array(values)
        sure, rests = normal(logprob["least"]), normal(grounding)
        both = {beta: auc(beta * sure + (1 - beta) * rests, better) for beta in (0.3, 0.5, 0.7, 0.9)}
        best = max(both, key=lambda beta: both[beta])
        row = {"layers": layers, "heads": heads, "variant": variant, "sink": sink, "of_tokens": how}
        rows.append(row | {"auc": auc(grounding, better), "both": both[best], "beta": best, "half": both[0.5]})
        mixtures.append((both[best], best * sure + (1 - best) * rests))
    rows.sort(key=lambda row: -row["auc"])
    top = rows[0]
    named = {
        "log-probability": logprob["least"],
        "the paper's grounding": np.array(seen[len(model.model.layers), "mean", "threshold", "counted", "least"]),
        "the best grounding": np.array(seen[top["layers"], top["heads"], top["variant"], top["sink"], top["of_tokens"]]),
        "the best of both": max(mixtures, key=lambda mixture: mixture[0])[1],
    }
    told = {"steps": len(made), "better": int(better.sum()), "logprob": {how: auc(v, better) for how, v in logprob.items()}}
    return told | {"intervals": intervals(named, better, problems), "grounding": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("--draft", default="draft")
    parser.add_argument("--level", choices=LEVELS, default="trained")
    parser.add_argument("--problems", type=int, default=300)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    tokenizer = vocabulary.load(asked.models / "target")
    records = [record(tokenizer, p.question, p.answer) for p in validation(asked.level)[: asked.problems]]
    draft, target = evaluate.load(asked.models / asked.draft), evaluate.load(asked.models / "target")
    found = study(draft, contexts(draft, target, records))
    print(f"{found['steps']} steps, the target's better in {found['better']}; log-probability: {found['logprob']}")
    for name, ends in found["intervals"].items():
        print(f"{name}: AUC {ends['auc']}, less the log-probability's {ends['less_the_first']}")
    for row in found["grounding"]:
        print(" ".join(f"{value:.3f}" if isinstance(value, float) else f"{value}" for value in row.values()))
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
