#!/usr/bin/env bash
# Trains SmolLM2's drafter on one GPU: two processes write answers while the drafter learns from those that have come.
# It goes on from the drafter that comes with Outrider. OUT/KIND/checkpoint.pt is what `export` takes; OUT/*.log grow.
#   TARGET   SmolLM2-135M-Instruct: a folder with its GGUF file, config.json and tokenizer.json
#   DATA     a folder with GSM8K and the evaluation prompts, which are kept out of the training data
#   OUT      a folder for answers and weights
#   SECONDS_ALL      of training (default 700)
#   SECONDS_ANSWERS  of writing answers at the same time (default 2/5 of that)
#   KIND     eagle3 (default) or dspark
set -euo pipefail
target=$(realpath "${TARGET:?set TARGET to the folder of SmolLM2-135M-Instruct}") data=$(realpath "${DATA:?set DATA to a folder with the sets of prompts}")
mkdir -p "${OUT:?set OUT to a folder}"
out=$(realpath "$OUT") seconds=${SECONDS_ALL:-700} kind=${KIND:-eagle3}
cd "$(dirname "$0")/.."
export PYTHONUNBUFFERED=1 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
gpu() { python3 -m smollm2.gpu "$@" --target "$target"; }

write=(answers --data "$data" --out "$out/answers" --seconds "${SECONDS_ANSWERS:-$((seconds * 2 / 5))}")
trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
gpu "${write[@]}" --held "$out/held.npz" --seed 21 > "$out/answers-1.log" 2>&1 &
gpu "${write[@]}" --seed 22 > "$out/answers-2.log" 2>&1 &
gpu train "$kind" --answers smollm2/answers.npz "$out/answers" --held "$out/held.npz" --out "$out/$kind" \
  --seconds "$seconds" --begin ../public/models/smollm2-eagle3/model.gguf --every 75 --measured 2>&1 | tee "$out/train.log"
gpu checkpoint "$out/$kind"
