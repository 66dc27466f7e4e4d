#!/usr/bin/env bash
# Measures SmolLM2 with drafters on eight sets of prompts, for the tables of docs/speculation.md: one file a set, and in
# OUT/sampled the same at temperature 1. Needs a quiet machine for about an hour. The first prompts of each set are left
# out: the drafters were chosen and watched by them (evaluate.py), and others were measured before. Greedy answers end
# where the model ends them, or at 80 tokens; drawn ones, which differ from system to system, all have 80.
#   DATA   a folder with gsm8k-test.jsonl, humaneval.jsonl.gz, mt-bench.jsonl and spec-bench.jsonl
#   MODEL  SmolLM2-135M-Instruct.Q4_1.gguf, or a folder with it alone
#   OUT    a folder for what the commands print
#   DSPARK if given, a DSpark drafter of the model: it is measured instead of the EAGLE-3 drafter that comes with Outrider
set -euo pipefail
cd "$(dirname "$0")/../.."
data=${DATA:?set DATA to a folder with the sets of prompts} model=${MODEL:?set MODEL to SmolLM2-135M-Instruct}
out=${OUT:?set OUT to a folder} limit=${LIMIT:-10} sampled=${SAMPLED:-6} first=73
if [ -n "${DSPARK:-}" ]; then
  drafter=$DSPARK
  greedy=dspark:block-size=3,combined,prompt-lookup
  drawn=dspark:block-size=3,dspark:block-size=3:draft=greedy
else
  drafter=smollm2-eagle3
  chain=eagle3:shape=chain:depth=0
  greedy=$chain,eagle3:depth=0,combined,suffix-decoding
  drawn=$chain,combined
fi
mkdir -p "$out/sampled"
spread=$(mktemp)
trap 'rm "$spread"' EXIT
# That file is sorted by category. The watched ones are every tenth.
awk 'NR % 8 == 3 && NR % 10 != 1' "$data/mt-bench.jsonl" > "$spread"

bench() { # SET, then what to measure
  local prompts=("$data/spec-bench.jsonl" --category "$1" --offset $first)
  case $1 in
    gsm8k) prompts=("$data/gsm8k-test.jsonl" --offset $first) ;;
    humaneval) prompts=("$data/humaneval.jsonl.gz" --offset $first) ;;
    mt-bench) prompts=("$spread") ;;
  esac
  npm run -s outrider -- bench --json --seed 1 --model "$model" --drafter "$drafter" --max-tokens 80 --repeat 1 \
    --prompts "${prompts[@]}" "${@:2}"
}
for set in gsm8k math_reasoning humaneval translation mt-bench qa rag summarization; do
  bench $set --limit "$limit" --stop-at-end --systems $greedy > "$out/$set.json"
done
for set in gsm8k math_reasoning humaneval translation mt-bench qa rag summarization; do
  bench $set --limit "$sampled" --temperature 1 --systems $drawn > "$out/sampled/$set.json"
done
