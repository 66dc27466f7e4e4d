// Finds what is usual for a draft's steps, for SpecGuard, and writes it beside the draft's weights.
import { existsSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readPrompts } from '../bench/prompts.ts';
import { readSuite } from '../bench/suites.ts';
import { calibrate as runCalibration } from '../calibrate.ts';
import { CALIBRATION_FILE } from '../decode/calibration.ts';
import { createEngine } from '../engine.ts';
import type { Prompt } from '../request.ts';
import { integer, text, type Values } from './arguments.ts';
import { defineCommand } from './command.ts';
import { loadOnDevice, openDevice, precisionOption } from './device.ts';
import { readTextFile } from './messages.ts';
import { bundledNames, DEFAULT_DRAFT, readModelName } from './model-source.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

const OPTIONS = {
  model: text('M', `the draft: a folder, a .gguf file, an address, or a bundled model (default: ${DEFAULT_DRAFT})`),
  prompts: text('F.jsonl', 'one prompt a line, as for bench (default: the last 100 bundled problems)'),
  limit: integer('N', 'only the first N prompts', { least: 1 }),
  'max-tokens': integer('N', 'most tokens an answer (default: 320)', { least: 2 }),
  precision: precisionOption,
  out: text('FILE', `where it goes (default: ${CALIBRATION_FILE} in the draft's folder)`),
} as const;

/** Of the bundled problems, so that the first 500 are left to measure on. */
const BUNDLED_PROMPTS = 100;

const readSet = async ({ prompts, limit }: Values<typeof OPTIONS>, { root }: Terminal): Promise<readonly Prompt[]> => {
  const all =
    prompts === undefined
      ? readSuite('bundled-math', await readTextFile(join(root, 'public/problems.json'))).slice(-BUNDLED_PROMPTS)
      : readPrompts(await readTextFile(prompts), prompts);
  return all.slice(0, limit).map(({ prompt }) => prompt);
};

/** Null where the model is no folder: an address, or one file. */
const folderOf = (name: string, root: string): string | null => {
  if (bundledNames(root).includes(name)) return join(root, 'public/models', name);
  return existsSync(name) && statSync(name).isDirectory() ? name : null;
};

export const calibrate = defineCommand({
  name: 'calibrate',
  summary: "finds what is usual for a draft's steps, for specguard",
  usage: '[--model M] [--prompts F.jsonl] [--limit N] [--max-tokens N] [--out FILE] [--json]',
  positionals: [],
  options: OPTIONS,
  async run({ values }, terminal) {
    const { model = DEFAULT_DRAFT, precision, 'max-tokens': maxTokens = 320 } = values;
    const prompts = await readSet(values, terminal);
    const folder = folderOf(readModelName(model).name, terminal.root);
    const out = values.out ?? (folder && join(folder, CALIBRATION_FILE));
    using device = await openDevice(terminal);
    const draft = await loadOnDevice(device, { model, precision }, terminal);
    const engine = createEngine({ gpu: device.gpu });
    await engine.load({ target: draft, draft });
    const calibration = await runCalibration(engine, {
      prompts,
      layers: draft.model.layers,
      maxTokens,
      signal: terminal.signal,
      onProgress: (done, all) => terminal.progress(`answer ${done + 1} of ${all}`),
    });
    await engine.close();
    if (out !== null) await writeFile(out, `${JSON.stringify(calibration, null, 2)}\n`);
    terminal.note(out === null ? 'not written: name a file with --out' : `written to ${out}`);
    if (values.json) return terminal.json(calibration);
    const ranges = { 'log-probability': calibration.logprob, ...calibration.grounding };
    const rows = Object.entries(ranges).map(([name, [low, high]]) => [name, low.toFixed(3), high.toFixed(3)]);
    await terminal.write(`${table([`of ${calibration.steps} steps`, '5 %', '95 %'], rows)}\n`);
  },
});
