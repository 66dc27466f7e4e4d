// Finds the usual range of a draft's step signals, for SpecGuard, and writes it next to the draft's weights.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CALIBRATION_FILE } from '../../decode/steps/calibration.ts';
import { createEngine } from '../../engine/engine.ts';
import type { Sidecar } from '../../engine/load/sidecar.ts';
import type { Prompt } from '../../engine/request.ts';
import { integer, text, type Values } from '../arguments.ts';
import { readPrompts } from '../bench/prompts.ts';
import { readSuite, suiteFile } from '../bench/suites.ts';
import { defineCommand } from '../command.ts';
import { loadOnDevice, openDevice, precisionOption } from '../device.ts';
import { readTextFile } from '../messages.ts';
import { DEFAULT_DRAFT } from '../model-source.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { cannotWrite, checkWritable } from '../writable.ts';

const OPTIONS = {
  model: text('M', `the draft: any model that generate takes (default: ${DEFAULT_DRAFT})`),
  prompts: text('F.jsonl', 'one prompt a line, as for bench (default: the last 100 validation problems)'),
  limit: integer('N', 'only the first N prompts', { least: 1 }),
  'max-tokens': integer('N', 'most tokens an answer (default: 320)', { least: 2 }),
  precision: precisionOption,
  out: text('FILE', `the file to write (default: ${CALIBRATION_FILE} in the draft's folder)`),
} as const;

/** Of the validation problems: held-out ones are measured on. */
const BUNDLED_PROMPTS = 100;
const VALIDATION = suiteFile('bundled-math', 'validation');

const readSet = async ({ prompts, limit }: Values<typeof OPTIONS>, { root }: Terminal): Promise<readonly Prompt[]> => {
  const all =
    prompts === undefined
      ? readSuite('bundled-math', await readTextFile(join(root, 'public', VALIDATION))).slice(-BUNDLED_PROMPTS)
      : readPrompts(await readTextFile(prompts), prompts);
  return all.slice(0, limit).map(({ prompt }) => prompt);
};

/** Takes the place of the model's own folder. */
const fileOf = (path: string): Sidecar => ({
  read: async () => null,
  async write(_, value) {
    await writeFile(path, `${JSON.stringify(value, null, 2)}\n`).catch((cause: Error) => {
      throw cannotWrite(path, cause);
    });
    return true;
  },
});

export const calibrate = defineCommand({
  name: 'calibrate',
  summary: "finds the usual range of a draft's step signals, for specguard",
  usage: '[--model M] [--prompts F.jsonl] [--limit N] [--max-tokens N] [--out FILE] [--json]',
  positionals: [],
  options: OPTIONS,
  async run({ values }, terminal) {
    const { model = DEFAULT_DRAFT, precision, 'max-tokens': maxTokens = 320 } = values;
    const { out } = values;
    if (out !== undefined) await checkWritable(out);
    const prompts = await readSet(values, terminal);
    using device = await openDevice(terminal);
    const loaded = await loadOnDevice(device, { model, precision }, terminal);
    const draft = out === undefined ? loaded : { ...loaded, sidecar: fileOf(out) };
    const engine = createEngine({ gpu: device.gpu });
    // Nothing is escalated, so it may stand for its target too.
    await engine.load({ target: draft, draft });
    const { calibration, kept } = await engine.calibrate({
      prompts,
      maxTokens,
      signal: terminal.signal,
      onProgress: (done, all) => terminal.progress(`answer ${done + 1} of ${all}`),
    });
    await engine.close();
    const where = out ?? `${CALIBRATION_FILE} in the folder of ${loaded.name}`;
    terminal.note(kept ? `written to ${where}` : 'not written: name a file with --out');
    if (values.json) return terminal.json(calibration);
    const ranges = { 'log-probability': calibration.logprob, ...calibration.grounding };
    const rows = Object.entries(ranges).map(([name, [low, high]]) => [name, low.toFixed(3), high.toFixed(3)]);
    await terminal.write(`${table([`of ${calibration.steps} steps`, '5 %', '95 %'], rows)}\n`);
  },
});
