// Chooses the thresholds of step routers on validation problems: accuracy and escalations at every threshold, and the
// one that escalates least among those that surely keep a share of the target's accuracy. Surely: in most of the
// bootstrap's draws. Measure it once, on the held-out problems.
import { join } from 'node:path';
import { checkAborted } from '../../base/errors.ts';
import { refuse } from '../../base/refuse.ts';
import type { Interval } from '../../base/statistics.ts';
import { createEngine } from '../../engine/engine.ts';
import type { RunRequest } from '../../engine/request.ts';
import draftOnly from '../../systems/draft-only.ts';
import { SYSTEMS } from '../../systems/index.ts';
import random from '../../systems/random.ts';
import { type TraceEvent, thresholdOf } from '../../trace/index.ts';
import { choice, integer, number, refuseWithout, text, UsageError, words } from '../arguments.ts';
import { type BenchEntry, readEntry } from '../bench/entries.ts';
import { type Asked, OneSteps, openJournal } from '../bench/one-steps.ts';
import { chosenPrompts, fitted, readPrompts } from '../bench/prompts.ts';
import { MATH_SUITES, readSuite, SPLITS, suiteFile } from '../bench/suites.ts';
import { atEscalation, type Sweep, type SweepPoint, sweep } from '../bench/sweep.ts';
import { defineCommand } from '../command.ts';
import { auxiliaryOptions, openDevice, precisionOption } from '../device.ts';
import { withInner } from '../knob-options.ts';
import { readTextFile } from '../messages.ts';
import { modelOption } from '../model-source.ts';
import { loadAll } from '../remote-options.ts';
import { stepReaderOf } from '../step-reader.ts';
import { table } from '../table.ts';
import { checkWritable } from '../writable.ts';

const OPTIONS = {
  model: modelOption,
  systems: words(
    'a,b,c',
    'step routers, at every threshold or the one that is set: rsd,random:share=0.2 (default: rsd,arbitrage,confidence)',
  ),
  ...auxiliaryOptions,
  prompts: text('F.jsonl', 'problems with answers, as for bench (default: those of --suite)'),
  suite: choice(MATH_SUITES, 'a set with answers (default: bundled-math)'),
  split: choice(SPLITS, 'of the suite (default: validation)'),
  offset: integer('N', 'leaves out the first N problems', { least: 0 }),
  limit: integer('N', 'at most N problems', { least: 2 }),
  keep: number('SHARE', "share of the target's accuracy to keep (default: 0.98)", { least: 0, most: 1 }),
  sure: number('SHARE', 'probability that this is so, by the bootstrap over problems (default: 0.975)', {
    least: 0,
    most: 1,
  }),
  journal: text('FILE', 'stores finished steps: an interrupted command continues from it'),
  'max-tokens': integer('N', 'most tokens an answer (default: 320)', { least: 2 }),
  precision: precisionOption,
} as const;

const SHARES = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5] as const;

const readRouter = (name: string): BenchEntry => {
  const entry = readEntry(name);
  if (!thresholdOf(entry.system))
    throw new UsageError(
      `${entry.system.id} has no threshold`,
      `These have one: ${SYSTEMS.filter((system) => thresholdOf(system)).map(({ id }) => id)}.`,
    );
  return entry;
};

const percent = (value: number | null, interval?: Interval | null): string => {
  const shown = (share: number) => (100 * share).toFixed(1);
  return value === null ? '–' : `${shown(value)}${interval ? ` [${interval.map(shown).join(', ')}]` : ''}`;
};

interface Chosen {
  readonly keep: number;
  readonly sure: number;
  readonly target: number;
  readonly problems: number;
}

const print = (sweeps: readonly Sweep[], { keep, sure, target, problems }: Chosen): string => {
  const rows = sweeps.map(({ system, knob, chosen }) => [
    system,
    knob,
    chosen ? `${chosen.threshold}` : '–',
    ...(['accuracy', 'accuracy_ratio', 'escalation_rate', 'useless_escalations', 'target_tokens'] as const).map(
      (name) => percent(chosen?.[name] ?? null, chosen?.intervals[name]),
    ),
  ]);
  const header = ['system', 'knob', 'chosen', 'accuracy, %', "of the target's", 'steps escalated', 'of them useless'];
  const at = (point: SweepPoint | null) => (point ? percent(point.accuracy) : '–');
  const equal = sweeps.map((each) => [each.system, ...SHARES.map((share) => at(atEscalation(each, share)))]);
  const shares = SHARES.map((share) => `${100 * share} %`);
  return [
    `${problems} problems; the target alone: ${percent(target)} %\nchosen to keep ${percent(keep)} % of it in ${percent(sure)} % of the bootstrap's draws, there and at all stricter thresholds\n`,
    table([...header, "target's tokens"], rows),
    '\naccuracy, %, where at most so many steps are escalated',
    table(['system', ...shares], equal),
    '\n95 % intervals by the bootstrap over problems\n',
  ].join('\n');
};

export const thresholds = defineCommand({
  name: 'thresholds',
  summary: 'chooses the thresholds of step routers on validation problems',
  usage: '[--systems a,b,c] [--suite NAME | --prompts F.jsonl] [--limit N] [--keep SHARE] [--json]',
  positionals: [],
  options: OPTIONS,
  async run({ values }, terminal) {
    const {
      keep = 0.98,
      sure = 0.975,
      suite = 'bundled-math',
      split = 'validation',
      'max-tokens': maxTokens = 320,
    } = values;
    if (values.prompts !== undefined) {
      if (values.suite !== undefined) throw new UsageError('--prompts and --suite are both given');
      refuseWithout('--suite', values, ['split']);
    }
    const entries = (values.systems ?? ['rsd', 'arbitrage', 'confidence']).map(readRouter);
    if (values.journal !== undefined) await checkWritable(values.journal);
    const file = values.prompts ?? join(terminal.root, 'public', suiteFile(suite, split));
    const content = await readTextFile(file);
    const read =
      values.prompts === undefined ? readSuite(suite, content) : readPrompts(content, file, { answers: true });
    const problems = chosenPrompts(read, values);
    if (problems.some(({ result }) => result === null)) throw new UsageError(`${file}: a problem has no "result"`);
    using device = await openDevice(terminal);
    const ways = [...withInner(entries), random];
    const models = await loadAll(device, { target: null, judge: null }, values, ways, terminal);
    for (const judge of [models.prm, models.router])
      if (judge?.model.needsSteps)
        throw refuse(
          `${judge.name} reads where each step of the text ends, and thresholds runs every step alone`,
          'Compare a few thresholds with bench instead: --systems rsd:delta=0.5,rsd:delta=0.7.',
        );
    const engine = createEngine({ gpu: device.gpu });
    await engine.load(models, { vocabularies: 'own' });
    const reader = stepReaderOf(models);
    if (!reader) throw new UsageError('there is no target');

    const names = Object.entries(models).flatMap(([role, model]) => (model ? [[role, model.name]] : []));
    const about = { models: Object.fromEntries(names), precision: values.precision ?? null, maxTokens };
    const run = async (request: RunRequest): Promise<readonly TraceEvent[]> => {
      const events: TraceEvent[] = [];
      for await (const event of engine.run(request, terminal.signal)) events.push(event);
      checkAborted(terminal.signal);
      return events;
    };
    const asked: Asked[] = [];
    for (const [index, { prompt }] of problems.entries()) {
      // As a step system reads it, in the draft's vocabulary where the target has another.
      const [first] = await run({ prompt: fitted(prompt, reader), maxTokens: 1, system: draftOnly.id });
      if (first?.type !== 'run') throw new Error('a run that does not begin with its request');
      asked.push({ prompt: first.prompt, seed: (values.offset ?? 0) + index, maxTokens });
    }
    const options = { problems, asked, keep, sure, steps: new OneSteps(run, openJournal(values.journal, about)) };
    const counted = (name: string) => (index: number) =>
      terminal.progress(`${name}: problem ${index + 1} of ${problems.length}`);
    const sweeps: Sweep[] = [];
    for (const entry of entries) sweeps.push(await sweep(entry, { ...options, onProblem: counted(entry.name) }));
    await engine.close();
    const [{ target_accuracy }] = sweeps as [Sweep];
    if (values.json)
      await terminal.json({
        suite: values.prompts ?? suite,
        split: values.prompts === undefined ? split : null,
        prompts: problems.length,
        keep,
        sure,
        target_accuracy,
        systems: sweeps,
      });
    else await terminal.write(print(sweeps, { keep, sure, target: target_accuracy, problems: problems.length }));
  },
});
