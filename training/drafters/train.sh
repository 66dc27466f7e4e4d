#!/usr/bin/env bash
# Trains and exports DFlash and EAGLE-3 for the exported target, then measures acceptance lengths. 58 minutes of training.
# RUNS names a folder for checkpoints, MODELS the folder of the exported models (default: public/models, written over).
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${RUNS:?set RUNS to a folder for checkpoints}
models=${MODELS:-../public/models}
set -x

python -m drafters.train dflash --target "$models/target" --out "$runs/dflash" --minutes 45
python -m drafters.train eagle3 --target "$models/target" --out "$runs/eagle3" --minutes 13
for kind in dflash eagle3; do
  python -m drafters.export "$kind" "$runs/$kind/checkpoint.pt" "$models/target" "$models/$kind"
done
python -m drafters.report "$models" --json data/tau.json
for kind in dflash eagle3; do # again, with the scores on the card
  python -m drafters.export "$kind" "$runs/$kind/checkpoint.pt" "$models/target" "$models/$kind" --scores data/tau.json
done
