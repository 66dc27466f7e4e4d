#!/usr/bin/env bash
# Trains the bundled language models: tokenizer, held-out problems, target, mid, draft. 114 minutes of training on two cores.
# RUNS names a folder for checkpoints, MODELS the folder of the exported models (default: public/models, written over).
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${RUNS:?set RUNS to a folder for checkpoints}
models=${MODELS:-../public/models}
set -x

python -m bundled.vocabulary "$runs/tokenizer" # 512 entries; seconds
python -m bundled.heldout # data/heldout*.jsonl, data/validation*.jsonl and the lists in public/

python -m bundled.train target --tokenizer "$runs/tokenizer" --out "$runs/target" \
  --minutes 54 --processes 2 --tokens 3600 --decay 0.4
python -m bundled.train target --tokenizer "$runs/tokenizer" --out "$runs/target-2" --start "$runs/target/checkpoint.pt" \
  --minutes 8 --processes 2 --tokens 3600 --decay 1 --rate 0.12 --focus comparison --share 0.2
python -m bundled.train mid --tokenizer "$runs/tokenizer" --out "$runs/mid" --minutes 17 --tokens 2400 --decay 0.4
python -m bundled.train draft --tokenizer "$runs/tokenizer" --out "$runs/draft" --minutes 35 --tokens 2400 --decay 0.4

python -m bundled.export target "$runs/target-2/checkpoint.pt" "$runs/tokenizer" "$models/target"
for name in mid draft; do
  python -m bundled.export "$name" "$runs/$name/checkpoint.pt" "$runs/tokenizer" "$models/$name"
done
for name in target mid draft; do
  python -m bundled.evaluate "$models/$name"
  python -m bundled.evaluate "$models/$name" --q8
done
