#!/usr/bin/env bash
# Trains an Arbitrage router by our recipe, one by the paper's and a reward model, two seeds each, on the same steps, and
# compares them on the held-out problems (15 minutes of one core). RUNS names a folder for data, checkpoints and figures.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${RUNS:?set RUNS to a folder for data and checkpoints}
models=${MODELS:-../public/models}
mkdir -p "$runs/data"
set -x

for seed in 2001 2002 2003; do
  python -m routers.steps "$models" "$runs/data/$seed.jsonl" --problems 300 --seed "$seed"
done
python -m routers.steps "$models" "$runs/held.jsonl" --held-out --problems 300 --seed 3001
cat "$runs"/data/*.jsonl > "$runs/all.jsonl"

train() { python -m routers.router "$models/prm" "$runs/all.jsonl" "$runs/held.jsonl" "$1" --epochs 3 --rate 0.2 "${@:2}"; }
for seed in 9 10; do
  train "$runs/ours-$seed.pt" --language 0.3 --every 1 --seed "$seed"
  train "$runs/paper-$seed.pt" --annotated --label prm --balanced --seed "$seed"
  python -m routers.prm "$models" "$runs/data" "$runs/held.jsonl" "$runs/reward-$seed" --start "$models/prm" \
    --minutes 1 --decay 1 --rate 0.15 --seed "$seed"
done

both() { printf '%s,%s' "$1-9$2" "$1-10$2"; }
python -m routers.recipes "$models" data/routers-recipes.json "ours=$(both "$runs/ours" .pt)" \
  "the paper's=$(both "$runs/paper" .pt)" "reward model=$(both "$runs/reward" /checkpoint.pt)"
python -m routers.plot data/routers-recipes.json ../docs/images/routers-recipes.svg
