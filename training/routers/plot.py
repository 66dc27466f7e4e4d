"""Draws what `outrider thresholds --json` measured, one line a router, as one small SVG.

python -m routers.plot THRESHOLDS.json … ../docs/images/routers.svg          (from training/) accuracy against escalated steps
python -m routers.plot THRESHOLDS.json … ../docs/images/routers-useless.svg --useless   useless escalations against them
python -m routers.plot RECIPES.json ../docs/images/routers-recipes.svg          what `routers.recipes` measured
"""

import json
import math
import sys
from pathlib import Path

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 48, 40, 16, 130
COLOURS = {
    "oracle": "#2a7f4f",
    "arbitrage": "#1f5fbf",
    "rsd": "#b8541a",
    "specguard": "#d9a441",
    "confidence": "#7a3fa0",
    "random": "#999",
    "ours": "#1f5fbf",
    "the paper's": "#2a7f4f",
    "reward model": "#b8541a",
    "log-probability": "#7a3fa0",
}


def draw(measured: dict, figure: str = "accuracy") -> str:
    lines = {each["system"].split(":")[0]: [p for p in each["points"] if p[figure] is not None] for each in measured["systems"]}
    reached = [p[figure] for line in lines.values() for p in line]
    lowest, highest = math.floor(10 * min(reached)) / 10, math.ceil(10 * max(reached)) / 10

    def place(share: float, height: float) -> tuple[float, float]:
        x = LEFT + share * (WIDTH - LEFT - RIGHT)
        return x, HEIGHT - BOTTOM - (height - lowest) / (highest - lowest) * (HEIGHT - BOTTOM - TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for height in (tenth / 10 for tenth in range(round(10 * lowest), round(10 * highest) + 1)):
        x, y = place(1, height)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{x:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{height:.0%}</text>')
    for share in (0, 0.2, 0.4, 0.6, 0.8, 1):
        x, y = place(share, lowest)
        parts.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{share:.0%}</text>')
    if figure == "accuracy":
        (x, y), (end, _) = place(0, 0.98 * measured["target_accuracy"]), place(1, 0)
        parts.append(f'<path d="M{x:.1f} {y:.1f}H{end:.1f}" stroke="#444" stroke-dasharray="4 3"/>')
        parts.append(f'<text x="{end + 6:.1f}" y="{y + 4:.1f}">98 % of the target</text>')
    shown = "exact final answers" if figure == "accuracy" else "escalations that the target did not better"
    level = "harder " if measured["suite"].endswith("hard") else ""
    told = f"across: share of steps escalated; up: {shown}; {measured['prompts']} {level}{measured['split']} problems"
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 6}">{told}</text>')
    for index, (name, colour) in enumerate((n, c) for n, c in COLOURS.items() if n in lines):
        points = sorted((p["escalation_rate"], p[figure]) for p in lines[name])
        path = " ".join("{:.1f},{:.1f}".format(*place(*point)) for point in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        x, y = place(1, lowest)
        y -= 120 - 16 * index
        parts.append(f'<path d="M{x + 8:.1f} {y - 4:.1f}h16" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 30:.1f}" y="{y:.1f}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    *files, out = [Path(each) for each in sys.argv[1:] if each != "--useless"]
    told, *others = [json.loads(file.read_text()) for file in files]
    told["systems"] += [each for other in others for each in other["systems"]]
    out.write_text(draw(told, "useless_escalations" if "--useless" in sys.argv else "accuracy"))
