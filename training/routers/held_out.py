"""Writes the table of all routers on held-out problems: docs/results/routers.json and routers-hard.json, from which the
pages' tables are made (`node .ci/tables.mjs --write`).

    python -m routers.held_out CURVES.json TIMES.json OUT.json [--also CURVES.json] [--at rsd=0.9 …]
        [--timed-too TIMES.json …] [--sampled BENCH.json …] [--judge NAME CURVES.json TIMES.json …]

From training/. CURVES: `outrider thresholds --split held-out --json`, for accuracy, escalations and tokens, at the systems'
own defaults or where `--at` says; `--also`: of more systems, on fewer problems. TIMES: `outrider bench --json`, run quietly,
for times; `--timed-too`: of more systems, each run with plain decoding of its own. Systems without curves have their accuracy
from TIMES too, or from the parts in `--sampled`. `--judge`: the same of a judge that is not the default one, for rows of its
own.
"""

import argparse
import json
from pathlib import Path

import numpy as np

NAMES = {"autoregressive": "target alone", "draft-only": "draft alone"}
ALONE = {
    **dict.fromkeys(("autoregressive", "dflash", "draft-model"), "all"),
    **dict.fromkeys(("draft-only", "majority", "best-of-n"), "none"),
}
ORDER = [
    *("autoregressive", "dflash", "draft-model", "confidence", "specguard", "rsd", "arbitrage", "oracle", "random"),
    *("majority", "best-of-n", "draft-only"),
]
JUDGED = ("`rsd`", "`arbitrage`")
FIGURES = ("accuracy", "accuracy_ratio", "escalation_rate", "useless_escalations", "target_tokens")
COLUMNS = [
    "",
    "setting",
    "problems",
    "right answers",
    "of the target's",
    "steps the target wrote",
    "of them useless",
    "tokens the target wrote",
    "× plain, steps by plain decoding",
    "× plain, steps by dflash",
]


def percent(value: float | None, interval: list[float] | None = None) -> str:
    if value is None:
        return "–"
    ends = f" [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]" if interval else ""
    return f"{100 * value:.1f} %{ends}"


def times(report: dict | None) -> str:
    if report is None:
        return "–"
    low, high = report["intervals"]["total_speedup"]
    return f"{report['whole_answers']['total_speedup']:.2f} [{low:.2f}, {high:.2f}]"


def at(sweep: dict, threshold: float) -> dict:
    """The point that holds at a threshold: that of the last one before it."""
    sign = 1 if sweep["escalates"] == "low" else -1
    return [p for p in sweep["points"] if sign * (threshold - p["threshold"]) >= -1e-9][-1]


def right_of(reports: list[dict]) -> tuple[str, str]:
    """The share of right answers of several parts together, and how many there are."""
    right = np.array([p["right"] for report in reports for p in report["prompts"]], dtype=float)
    drawn = np.random.default_rng(1).choice(right, (1000, len(right))).mean(1)
    return percent(right.mean(), list(np.quantile(drawn, [0.025, 0.975]))), f"{len(right)}"


def reports_of(timed: list[dict]) -> dict[str, dict]:
    """Of every system the first run that has it. `share`: the target's tokens, of those of plain decoding in that run."""
    made: dict[str, dict] = {}
    for one in timed:
        plain = next(each for each in one["systems"] if each["system"] == "autoregressive")
        for each in one["systems"]:
            made.setdefault(each["system"], each | {"share": each["target_tokens"] / plain["target_tokens"]})
    return made


def rows(
    curves: dict, timed: list[dict], picked: dict[str, float], sampled: list[dict], also: dict | None = None
) -> list[list[str]]:
    """`also`: the curves of other systems, on fewer problems."""
    both = [part for part in (also, curves) if part]
    sweeps = {each["system"].split(":")[0]: each for part in both for each in part["systems"]}
    counts = {each["system"].split(":")[0]: f"{part['prompts']}" for part in both for each in part["systems"]}
    reports = reports_of(timed)
    made = []
    for system in ORDER:
        mine = {name: report for name, report in reports.items() if name.split(":")[0] == system}
        plain = next((r for name, r in mine.items() if "inner=dflash" not in name), None)
        nested = next((r for name, r in mine.items() if "inner=dflash" in name), None)
        name = NAMES.get(system, f"`{system}`")
        if system in sweeps:
            sweep = sweeps[system]
            point = at(sweep, picked[system]) if system in picked else sweep["initial"]
            setting = f"{sweep['knob']} = {picked.get(system, point['threshold']):g}"
            ends = point["intervals"]
            figures = [percent(point[f], ends[f]) for f in FIGURES]
            made.append([name, setting, counts[system], *figures, times(plain), times(nested)])
        elif plain:
            parts = [r for report in sampled for r in report["systems"] if r["system"].split(":")[0] == system] or [plain]
            accuracy, count = right_of(parts)
            ratio = percent(plain["accuracy_ratio"], plain["intervals"]["accuracy_ratio"])
            if ALONE.get(system) == "all":
                accuracy, ratio, count = percent(curves["target_accuracy"]), percent(1), f"{curves['prompts']}"
            kept = [p for sweep in curves["systems"] for p in sweep["points"] if p["escalation_rate"] == 0]
            if system == "draft-only" and kept:
                accuracy, ratio = (percent(kept[0][f], kept[0]["intervals"][f]) for f in FIGURES[:2])
                count = f"{curves['prompts']}"
            share = ALONE.get(system) or percent(plain["escalation_rate"], plain["intervals"]["escalation_rate"])
            tokens = percent(plain["share"])
            made.append(
                [
                    name,
                    "",
                    count,
                    accuracy,
                    ratio,
                    share,
                    percent(plain["useless_escalations"]),
                    tokens,
                    times(plain),
                    times(nested),
                ]
            )
    return made


def with_judge(table: list[list[str]], name: str, judged: list[list[str]]) -> list[list[str]]:
    """The rows of `judged` that a judge decides, each after that of the same system in `table`."""
    of = {row[0]: [f"{row[0]}, {name}", *row[1:]] for row in judged if row[0] in JUDGED}
    return [each for row in table for each in (row, of.get(row[0])) if each]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("curves", type=Path)
    parser.add_argument("times", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--also", type=Path)
    parser.add_argument("--timed-too", type=Path, nargs="*", default=[], help="further runs of `bench`")
    parser.add_argument("--at", nargs="*", default=[])
    parser.add_argument("--sampled", type=Path, nargs="*", default=[])
    parser.add_argument("--judge", nargs="+", metavar=("NAME", "FILE"))
    asked = parser.parse_args()

    def read(path: Path) -> dict:
        return json.loads(path.read_text())

    picked = {system: float(threshold) for system, threshold in (each.split("=") for each in asked.at)}
    also = read(asked.also) if asked.also else None
    timed = [read(path) for path in (asked.times, *asked.timed_too)]
    table = rows(read(asked.curves), timed, picked, [*map(read, asked.sampled)], also)
    if asked.judge:
        name, own, *times_of = asked.judge
        judged = rows(read(Path(own)), [read(Path(each)) for each in times_of], {}, [])
        table = with_judge(table, name, judged)
    asked.out.write_text(json.dumps({"columns": COLUMNS, "rows": table}, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
