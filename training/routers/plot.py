"""Draws accuracy against the share of escalated steps, one line a rule, as one small SVG.

python -m routers.plot data/routers-curves.json ../docs/images/routers.svg      (from training/)
python -m routers.plot data/routers-hard-curves.json ../docs/images/routers-hard.svg data/routers-hard-retrained-curves.json

A third file gives one line more: `rsd` with another reward model.
"""

import json
import math
import sys
from pathlib import Path

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 48, 40, 16, 130
COLOURS = {
    "truth": "#888",
    "oracle": "#2a7f4f",
    "arbitrage": "#1f5fbf",
    "rsd": "#b8541a",
    "rsd, retrained": "#d9a441",
    "min-logprob": "#7a3fa0",
    "random": "#bbb",
}


def draw(measured: dict) -> str:
    curves = measured["curves"]
    reached = [p["accuracy"] for curve in curves.values() for p in curve]
    lowest, highest = math.floor(10 * min(reached)) / 10, math.ceil(10 * max(reached)) / 10

    def place(share: float, accuracy: float) -> tuple[float, float]:
        x = LEFT + share * (WIDTH - LEFT - RIGHT)
        return x, HEIGHT - BOTTOM - (accuracy - lowest) / (highest - lowest) * (HEIGHT - BOTTOM - TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for accuracy in (tenth / 10 for tenth in range(round(10 * lowest), round(10 * highest) + 1)):
        x, y = place(1, accuracy)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{x:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{accuracy:.0%}</text>')
    for share in (0, 0.2, 0.4, 0.6, 0.8, 1):
        x, y = place(share, lowest)
        parts.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{share:.0%}</text>')
    line = 0.98 * measured["summary"]["target"]
    (x, y), (end, _) = place(0, line), place(1, line)
    parts.append(f'<path d="M{x:.1f} {y:.1f}H{end:.1f}" stroke="#444" stroke-dasharray="4 3"/>')
    parts.append(f'<text x="{end + 6:.1f}" y="{y + 4:.1f}">98 % of the target</text>')
    harder = "harder " if measured.get("level") == "hard" else ""
    told = f"share of steps escalated; exact final answers of {measured['problems']} {harder}held-out problems"
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 6}">{told}</text>')
    for index, (name, colour) in enumerate((n, c) for n, c in COLOURS.items() if n in curves):
        points = sorted((p["escalated"], p["accuracy"]) for p in curves[name])
        path = " ".join("{:.1f},{:.1f}".format(*place(*point)) for point in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        x, y = place(1, lowest)
        y -= 130 - 16 * index
        parts.append(f'<path d="M{x + 8:.1f} {y - 4:.1f}h16" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 30:.1f}" y="{y:.1f}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    told = json.loads(Path(sys.argv[1]).read_text())
    for other in sys.argv[3:4]:
        told["curves"]["rsd, retrained"] = json.loads(Path(other).read_text())["curves"]["rsd"]
    Path(sys.argv[2]).write_text(draw(told))
