#!/usr/bin/env bash
# Trains the bundled BlockPilot policy and prints the tables of its README.
# RUNS names a folder for data, MODELS the folder of the exported models (default: public/models, written over).
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${RUNS:?set RUNS to a folder for data}
models=${MODELS:-../public/models}
mkdir -p "$runs"
set -x

python -m blockpilot.dump "$models" "$runs/train.npz" --problems 2400
python -m blockpilot.dump "$models" "$runs/held-out.npz" --held-out
# --costs FILE takes the round times of another device: JSON {"block size": milliseconds}
python -m blockpilot.table "$runs/train.npz" "$runs/held-out.npz" --width 64 --out "$models/blockpilot/policy.onnx"
