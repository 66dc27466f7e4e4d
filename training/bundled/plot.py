"""Draws the learning curves: exact held-out answers against tokens, as one small SVG.

Tokens, not minutes: the machine was shared, and an hour of it held very different amounts of work.

python -m bundled.plot data/curves.svg data/curve-target.jsonl data/curve-mid.jsonl data/curve-draft.jsonl
"""

import json
import sys
from pathlib import Path

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 320, 48, 36, 16
COLOURS = ["#1f5fbf", "#b8541a", "#2a7f4f", "#7a3fa0"]


def curve(path: Path) -> list[tuple[float, float]]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [(0.0, 0.0), *((line["tokens"] / 1e6, line["answer_exact"]) for line in lines)]


def draw(paths: list[Path]) -> str:
    curves = {path.stem.removeprefix("curve-"): curve(path) for path in paths}
    longest = max(millions for points in curves.values() for millions, _ in points)

    def place(millions: float, exact: float) -> tuple[float, float]:
        return LEFT + millions / longest * (WIDTH - LEFT - 90), HEIGHT - BOTTOM - exact * (HEIGHT - BOTTOM - TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for exact in (0, 0.25, 0.5, 0.75, 1):
        x, y = place(longest, exact)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{x:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{exact:.0%}</text>')
    for millions in range(0, int(longest) + 1, 2):
        x, y = place(millions, 0)
        parts.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{millions}</text>')
    parts.append(
        f'<text x="{LEFT}" y="{HEIGHT - 4}">million training tokens; exact final answers, 100 to 200 held-out problems</text>'
    )
    for (name, points), colour in zip(curves.items(), COLOURS, strict=False):
        line = " ".join("{:.1f},{:.1f}".format(*place(*point)) for point in points)
        x, y = place(*points[-1])
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 5:.1f}" y="{y + 4:.1f}" fill="{colour}">{name} {points[-1][1]:.0%}</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw([Path(name) for name in sys.argv[2:]]))
