#!/usr/bin/env bash
# Simulates routing on the held-out problems, as trained and harder. Needs train-prm.sh and train-router.sh.
# RUNS names the folder with their checkpoints, MODELS the folder of the exported models (default: public/models).
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${RUNS:?set RUNS to the folder with the checkpoints}
models=${MODELS:-../public/models}
mkdir -p "$runs/hard-prm"
set -x

# As trained.
python -m routers.curves "$models" --prm "$models/prm" --router "$runs/router-third.pt" --json data/routers-curves.json
python -m routers.curves "$models" --target mid # the bounds of another pair

# A reward model retrained on harder problems, 5 minutes of one core.
python -m routers.steps "$models" "$runs/held-hard.jsonl" --held-out --problems 100 --level hard --seed 3002 --target-samples 0
for seed in $(seq 7101 7126); do
  python -m routers.steps "$models" "$runs/hard-prm/$seed.jsonl" --problems 100 --level hard --seed "$seed" --target-samples 0
done
python -m routers.prm "$models" "$runs/hard-prm" "$runs/held-hard.jsonl" "$runs/prm-hard" --start "$models/prm" \
  --minutes 5 --decay 1 --rate 0.15 --seed 7

# Harder problems.
python -m routers.curves "$models" --level hard --problems 500 --prm "$models/prm" --router "$runs/router-third.pt" \
  --json data/routers-hard-curves.json
python -m routers.curves "$models" --level hard --problems 500 --prm "$runs/prm-hard/checkpoint.pt" \
  --json data/routers-hard-retrained-curves.json
