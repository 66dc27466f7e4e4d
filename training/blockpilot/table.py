"""Trains the bundled policy and the ablations, and prints their tables for the README.

    python -m blockpilot.table TRAIN.npz HELD_OUT.npz [--costs FILE] [--out ../public/models/blockpilot/policy.onnx]

All figures are of held-out problems: milliseconds a token from the costs of a round, so relative times are what counts.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch

from .export import export
from .policy import GOALS, INPUTS, Data, Policy, best_fixed, choose, costs, features, fixed, learn, read, speed, tau

SEEDS = range(3)


def around(train: Data, radius: int) -> list[int]:
    """The best fixed size and its neighbours on the ladder of sizes."""
    centre = best_fixed(train)
    return train.blocks[max(0, centre - radius) : centre + radius + 1]


def microseconds(policy: Policy, logits: torch.Tensor, kind: str) -> float:
    """One decision, features included, one thread."""
    one = logits[:1]
    times = []
    with torch.no_grad():
        for _ in range(300):
            start = time.perf_counter()
            policy(features(one, kind)).argmax()
            times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1e6


def line(name: str, train: Data, held: Data, cost: np.ndarray, best: float, oracle: float, **options) -> str:
    """One row: the mean of three seeds."""
    policies = [learn(train, seed=seed, **options) for seed in SEEDS]
    kind = options.get("kind", "raw")
    by = cost if options.get("goal") == "rate" else None
    chosen = [choose(policy, held.logits, kind, by) for policy in policies]
    ms = float(np.mean([speed(held, choice) for choice in chosen]))
    lengths = float(np.mean([tau(held, choice) for choice in chosen]))
    size = sum(p.numel() for p in policies[0].parameters())
    us = microseconds(policies[0], held.logits, kind)
    gain, of_oracle = best / ms - 1, (best - ms) / (best - oracle)
    return f"| {name} | {size / 1000:.0f} k | {ms:.3f} | {lengths:.2f} | {100 * gain:+.1f} % | {100 * of_oracle:.0f} % | {us:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("held_out", type=Path)
    parser.add_argument("--costs", type=Path, help='JSON {"block size": milliseconds of a round}')
    parser.add_argument("--out", type=Path, help="where the bundled policy goes, as ONNX")
    parser.add_argument("--goal", default="rate", choices=GOALS, help="of the ablations below the first")
    parser.add_argument("--radius", type=int, default=2)
    parser.add_argument("--width", type=int, default=128)
    args = parser.parse_args()
    torch.set_num_threads(1)
    with np.load(args.train) as found:
        ladder = found["blocks"].tolist()

    def data(blocks: list[int]) -> tuple[Data, Data, np.ndarray]:
        cost = costs(args.costs, blocks)
        return read(args.train, blocks, cost), read(args.held_out, blocks, cost), cost

    train, held, _ = data(ladder)
    index = best_fixed(train)
    best, full = speed(held, fixed(held, index)), speed(held, held.times.argmin(1))
    print("| block size, fixed | ms a token | τ |\n| --- | --- | --- |")
    for i, block in enumerate(ladder):
        print(f"| {block} | {speed(held, fixed(held, i)):.3f} | {tau(held, fixed(held, i)):.2f} |")
    print(
        f"\nBest fixed size on the training problems: {ladder[index]}. Oracle over all sizes: {full:.3f} ms a token, "
        f"{100 * (best / full - 1):+.1f} %.\n"
    )
    print("| policy | parameters | ms a token | τ | against best fixed | of the oracle's gain | µs a decision |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for radius in (1, 2, 3, len(ladder)):
        near = around(train, radius)
        t, h, cost = data(near)
        name = f"radius {radius}: {near[0]} to {near[-1]}" if radius < len(ladder) else f"all sizes: {near[0]} to {near[-1]}"
        bound = speed(h, h.times.argmin(1))
        print(f"| oracle, {name} | | {bound:.3f} | {tau(h, h.times.argmin(1)):.2f} | {100 * (best / bound - 1):+.1f} % | | |")
        for goal in GOALS:
            print(line(f"{goal}, {name}", t, h, cost, best, bound, goal=goal, width=args.width))
    near = around(train, args.radius)
    t, h, cost = data(near)
    bound = speed(h, h.times.argmin(1))
    for kind in INPUTS:
        print(line(f"input {kind}", t, h, cost, best, bound, goal=args.goal, width=args.width, kind=kind))
    for depth in (1, 2, 3):
        print(line(f"depth {depth}", t, h, cost, best, bound, goal=args.goal, width=args.width, depth=depth))
    for width in (32, 128, 512, 2048):
        print(line(f"width {width}", t, h, cost, best, bound, goal=args.goal, width=width))
    if args.out:
        export(learn(train, goal="rate", width=args.width), ladder, args.out, "raw")


if __name__ == "__main__":
    main()
