#!/usr/bin/env bash
# Makes harder step data and trains the bundled router in three stages (21 minutes of one core). Needs the exported reward model.
# RUNS names a folder for data and checkpoints, MODELS the folder of the exported models (default: public/models, written over).
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${RUNS:?set RUNS to a folder for data and checkpoints}
models=${MODELS:-../public/models}
mkdir -p "$runs/hard" "$runs/usual"
set -x

for seed in $(seq 8101 8152) $(seq 8201 8212); do
  python -m routers.steps "$models" "$runs/hard/$seed.jsonl" --problems 200 --level hard --seed "$seed" --target-samples 0
done
for seed in $(seq 8301 8322); do
  python -m routers.steps "$models" "$runs/usual/$seed.jsonl" --problems 300 --seed "$seed" --target-samples 0
done
python -m routers.steps "$models" "$runs/valid.jsonl" --problems 500 --level hard --seed 3998 --target-samples 0

hard=("$runs"/hard/*.jsonl) # 64 files, by seed
cat "${hard[@]:0:30}" > "$runs/first.jsonl" # 6,000 problems
cat "${hard[@]:0:63}" > "$runs/second.jsonl" # 12,600
cat "$runs"/usual/*.jsonl "${hard[@]: -32}" > "$runs/third.jsonl" # 6,600 as trained and 6,400

stage() {
  python -m routers.router "$models/prm" "$runs/$1.jsonl" "$runs/valid.jsonl" "$runs/router-$1.pt" \
    --language 0.3 --every 1 "${@:2}"
}
stage first --epochs 3 --rate 0.2
stage second --epochs 2 --rate 0.2 --start "$runs/router-first.pt" --seed 12
stage third --epochs 1.4 --rate 0.15 --start "$runs/router-second.pt" --seed 13
python -m routers.export router "$runs/router-third.pt" "$models/router"
