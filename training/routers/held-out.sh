#!/usr/bin/env bash
# Measures every router in the engine: thresholds on validation problems, then the held-out ones, and the harder ones at
# the same thresholds. Writes the figures of the tables and the plots. OUT names a folder for what the commands print; journals
# there let an interrupted one go on. SUITES=usual or SUITES=hard measures one set alone. Counts bear other work on the machine;
# the times of `bench` need a quiet one.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${OUT:?set OUT to a folder} suites=${SUITES:-usual hard}
problems=${PROBLEMS:-600} hard=${HARD:-600} timed=${TIMED:-90} others=${OTHERS:-40} first=${FIRST:-150}
routers=rsd,arbitrage,confidence,specguard
outrider() { npm run -s outrider -- "$@" --json; }
by() { printf "%s:inner=$1," "${@:2}"; }
inner() { by autoregressive "$@"; by dflash "$@"; }
judged="rsd arbitrage confidence specguard" rest="$(inner oracle random:share=0.2)draft-model,draft-only,majority,best-of-n"
mkdir -p "$out" && out=$(cd "$out" && pwd) # absolute: other folders are entered below
set -x

if [[ $suites == *usual* ]]; then
  outrider thresholds --systems $routers --limit 600 --journal "$out/validation.jsonl" > "$out/validation.json"
  outrider thresholds --systems $routers --split held-out --limit "$problems" --journal "$out/held-out.jsonl" \
    > "$out/held-out.json"
  outrider thresholds --systems oracle,random --split held-out --limit 150 --journal "$out/others.jsonl" > "$out/others.json"
  outrider thresholds --systems oracle:tau=0,random:share=0.2 --split held-out --limit "$problems" \
    --journal "$out/others.jsonl" > "$out/bounds.json"
  outrider thresholds --systems rsd --judge draft-judge --limit 600 --journal "$out/judge-validation.jsonl" \
    > "$out/judge-validation.json"
  outrider thresholds --systems rsd:delta=0.87 --judge draft-judge --split held-out --limit "$problems" \
    --journal "$out/judge.jsonl" > "$out/judge.json"
  outrider bench --suite bundled-math --against rsd:inner=dflash --offset "$first" --limit "$timed" \
    --systems "$(by dflash $judged)dflash" > "$out/times.json"
  for ways in "$timed dflash" "$others autoregressive"; do
    outrider bench --suite bundled-math --judge draft-judge --offset "$first" --limit "${ways% *}" \
      --systems "rsd:delta=0.87:inner=${ways#* },dflash" > "$out/times-judge-${ways#* }.json"
  done
  outrider bench --suite bundled-math --offset "$first" --limit "$others" --systems "$(by autoregressive $judged)$rest" \
    > "$out/times-others.json"
fi
if [[ $suites == *hard* ]]; then
  outrider thresholds --suite bundled-math-hard --systems $routers,random --split held-out --limit "$hard" \
    --journal "$out/hard.jsonl" > "$out/hard.json"
  outrider thresholds --suite bundled-math-hard --systems oracle:tau=0 --split held-out --limit "$hard" \
    --journal "$out/hard-others.jsonl" > "$out/hard-bounds.json"
  outrider thresholds --suite bundled-math-hard --systems rsd:delta=0.87 --judge draft-judge --split held-out \
    --limit "$hard" --journal "$out/hard-judge.jsonl" > "$out/hard-judge.json"
  outrider bench --suite bundled-math-hard --against rsd:inner=dflash --offset "$first" --limit "$others" \
    --systems "$(inner $judged)dflash,$rest" > "$out/hard-times.json"
  outrider bench --suite bundled-math-hard --judge draft-judge --offset "$first" --limit "$others" \
    --systems "$(inner rsd:delta=0.87)dflash" > "$out/hard-times-judge.json"
fi

cd training
if [[ $suites == *usual* ]]; then
  python -m routers.held_out "$out/held-out.json" "$out/times.json" ../docs/results/routers.json \
    --timed-too "$out/times-others.json" --also "$out/bounds.json" --at random=0.2 \
    --judge draft-judge "$out/judge.json" "$out"/times-judge-*.json
  python -m routers.plot "$out/held-out.json" "$out/others.json" ../docs/images/routers.svg
  python -m routers.plot "$out/held-out.json" "$out/others.json" ../docs/images/routers-useless.svg --useless
fi
if [[ $suites == *hard* ]]; then
  python -m routers.held_out "$out/hard.json" "$out/hard-times.json" ../docs/results/routers-hard.json \
    --also "$out/hard-bounds.json" --at random=0.2 --judge draft-judge "$out/hard-judge.json" "$out/hard-times-judge.json"
fi
cd ..
node .ci/tables.mjs --write
