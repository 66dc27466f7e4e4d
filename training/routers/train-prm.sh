#!/usr/bin/env bash
# Makes the step data, trains the reward model (42 minutes of one core), compares router variants, exports.
# RUNS names a folder for data and checkpoints, MODELS the folder of the exported models (default: public/models, written over).
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${RUNS:?set RUNS to a folder for data and checkpoints}
models=${MODELS:-../public/models}
mkdir -p "$runs/prm-data"
set -x

python -m routers.steps "$models" "$runs/held.jsonl" --held-out --seed 3001
python -m routers.steps "$models" "$runs/router.jsonl" --problems 2500 --seed 2001
python -m routers.steps "$models" "$runs/prm-data/1001.jsonl" --problems 6000 --seed 1001 --draft-only
for seed in 1002 1003 1004 1005; do
  python -m routers.steps "$models" "$runs/prm-data/$seed.jsonl" --problems 4000 --seed "$seed" --draft-only
done

python -m routers.prm "$models" "$runs/prm-data" "$runs/held.jsonl" "$runs/prm" --minutes 28
python -m routers.prm "$models" "$runs/prm-data" "$runs/held.jsonl" "$runs/prm-2" --start "$runs/prm/checkpoint.pt" \
  --minutes 14 --decay 1 --rate 0.25 --seed 6
python -m routers.table "$runs/prm/checkpoint.pt" "$runs/router.jsonl" "$runs/held.jsonl" --problems 600 --epochs 2 \
  --json data/routers.json
python -m routers.export prm "$runs/prm-2/checkpoint.pt" "$models/prm"
