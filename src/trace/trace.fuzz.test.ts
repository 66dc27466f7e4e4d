// A trace arrives by link. Damaged ones are read and folded by every metric: the outcome is a run or a named problem,
// soon.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { inputs, Watch } from '../testing/fuzz/inputs.ts';
import { mutateBytes } from '../testing/fuzz/mutate-bytes.ts';
import { mutateJson } from '../testing/fuzz/mutate-json.ts';
import { pick, random } from '../testing/fuzz/random.ts';
import { measure } from './index.ts';
import { readTraceText } from './read-trace.ts';

const SEED = 20_261_124;
const INPUTS = inputs(6_000);
const LINES = 40;

it(`${INPUTS} damaged traces: a run or a problem with its line`, async () => {
  const recorded = (name: string): string[] =>
    readFileSync(resolve(import.meta.dirname, `../../public/traces/${name}.jsonl`), 'utf8')
      .trim()
      .split('\n');
  const whole = ['problem-1', 'problem-4', 'problem-5', 'problem-6'].map((name) => recorded(name).slice(0, LINES));
  const below = random(SEED);
  const watch = new Watch();
  const problems = new Set<string>();
  let good = 0;
  for (let i = 0; i < INPUTS; i++) {
    const lines = [...pick(whole, below)];
    const at = below(lines.length);
    lines[at] = JSON.stringify(mutateJson(JSON.parse(lines[at] as string), below));
    const bytes = new TextEncoder().encode(lines.join('\n'));
    const text = below(4) === 0 ? new TextDecoder().decode(mutateBytes(bytes, bytes.length, below)) : lines.join('\n');
    let problem: string | null = null;
    await watch.input(() => {
      const read = readTraceText(text);
      problem = 'problem' in read ? read.problem : null;
      if ('problem' in read) return;
      measure(read.events);
      measure(read.plain);
    });
    if (problem === null) good++;
    else problems.add((problem as string).replaceAll(/\d+/g, '#').slice(0, 60));
    watch.check(`input ${i}: ${lines[at]?.slice(0, 2000)}`);
  }
  console.log(`${INPUTS} damaged traces: ${good} read, refused in ${problems.size} ways, ${watch}`);
  expect(good).toBeGreaterThan(INPUTS / 100);
  expect(problems.size).toBeGreaterThan(20);
}, 300_000);
