#!/usr/bin/env bash
# Compares the bundled models with transformers and transformers.js, then lints and tests this folder.
# MODELS names the folder of the exported models (default: public/models). Node needs the repository's `npm ci`.
set -euo pipefail
cd "$(dirname "$0")/.."
models=${MODELS:-../public/models}
reference=$(mktemp)
trap 'rm -f "$reference"' EXIT
set -x

for name in target mid draft; do
  python checks/transformers_greedy.py "$models/$name" 20
done
python checks/transformers_judges.py "$models" 20
python checks/transformers_families.py
python checks/reference_ids.py "$models/target" "$reference"
node checks/transformers-js.mjs "$models/target" "$reference"
ruff check .
ruff format --check .
pytest
