// Measures decoding systems against their baselines on this machine, all on the same prompts in one session.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Interval, Spread } from '../../base/statistics.ts';
import type { Prompt } from '../../engine/request.ts';
import { choice, flag, integer, number, refuseWithout, text, UsageError, type Values, words } from '../arguments.ts';
import { type BenchReport, entriesOf, bench as runBench } from '../bench/compare.ts';
import { readEntry } from '../bench/entries.ts';
import { type BenchPrompt, chosenPrompts, QUESTIONS, readPrompts } from '../bench/prompts.ts';
import { readSuite, SPLITS, SUITE_NAMES, suiteFile } from '../bench/suites.ts';
import { defineCommand } from '../command.ts';
import { auxiliaryOptions, kvOption, openDevice, precisionOption } from '../device.ts';
import { checkEarly } from '../early-checks.ts';
import { withInner } from '../knob-options.ts';
import { readTextFile } from '../messages.ts';
import { modelOption } from '../model-source.ts';
import { loadAll, readFar, remoteOptions } from '../remote-options.ts';
import { readWritten, requestOptions } from '../request-options.ts';
import { formatBytes, formatFigure, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

const OPTIONS = {
  model: modelOption,
  systems: words(
    'a,b,c',
    'systems to compare with autoregressive; with settings: dflash:block-size=8:draft=greedy, cos:lambda=0.3/0.7',
  ),
  ...auxiliaryOptions,
  ...remoteOptions,
  against: text(
    'SYSTEM',
    'also divides accuracy, escalations and times by those of this system, named as in --systems',
  ),
  prompts: text(
    'F.jsonl',
    'one prompt a line: a string, or {"prompt": …}, {"question": …}, {"turns": …}, {"tokens": …}; .gz too',
  ),
  category: text('NAME', 'only the prompts of this category, if the file has several'),
  answers: flag('compare answers with those in the file (GSM8K, SVAMP, MATH)'),
  suite: choice(SUITE_NAMES, 'problems with known answers (…math…), or prompts that the answers repeat (…copy)'),
  split: choice(SPLITS, 'of a bundled-math suite: validation is for choosing settings (default: held-out)'),
  offset: integer('N', 'leaves out the first N prompts', { least: 0 }),
  limit: integer('N', 'at most N prompts', { least: 1 }),
  'max-tokens': integer('N', 'most tokens a run (default: 48, or 320 for a suite)', { least: 2 }),
  'stop-at-end': flag('answers end where the model ends them, not at --max-tokens only'),
  repeat: integer('N', 'runs of each system on each prompt (default: 3, or 1 for a suite)', { least: 1 }),
  temperature: number('T', '0 (the default) takes the most probable token', { least: 0, most: 100 }),
  ...requestOptions,
  seed: integer('S', 'seed of the first run; runs that are compared have the same seed', { least: 0, most: 2 ** 31 }),
  profile: flag('also times every kernel, in runs of their own'),
  precision: precisionOption,
  kv: kvOption,
} as const;

type Given = Values<typeof OPTIONS>;

const readSet = async (values: Given, { root }: Terminal): Promise<readonly BenchPrompt[] | null> => {
  const { prompts, category, answers, suite, split } = values;
  if (prompts !== undefined && suite !== undefined) throw new UsageError('--prompts and --suite are both given');
  if (prompts === undefined) refuseWithout('--prompts', values, ['category', 'answers']);
  if (split && !suite?.startsWith('bundled-math'))
    throw new UsageError(
      '--split is given without a suite that has splits',
      'Those are bundled-math and bundled-math-hard.',
    );
  if (suite) return readSuite(suite, await readTextFile(join(root, 'public', suiteFile(suite, split))));
  if (prompts === undefined) return null;
  const all = readPrompts(await readTextFile(prompts), prompts, { category, answers });
  if (all.length === 0) throw new UsageError(`${prompts} has no prompts${category ? ` of category ${category}` : ''}`);
  return all;
};

/** The commit that is measured, or null outside a checkout. */
const commitOf = (root: string): string | null => {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
    const changed = git('status', '--porcelain', '--untracked-files=no').length > 0;
    return `${git('rev-parse', '--short', 'HEAD').toString().trim()}${changed ? '+' : ''}`;
  } catch {
    return null;
  }
};

const rate = (spread: Spread | null): string =>
  spread ? `${formatFigure(spread.median)} (${formatFigure(spread.min)}–${formatFigure(spread.max)})` : '–';

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const figure = (value: number | null, digits = 2): string => (value === null ? '–' : value.toFixed(digits));

const percent = (value: number | null): string => (value === null ? '–' : `${(100 * value).toFixed(1)} %`);

/** A figure of all prompts with its interval. */
const estimate = (value: number | null, interval: Interval | null, shown: (value: number) => string): string =>
  value === null ? '–' : `${shown(value)}${interval ? ` [${interval.map(shown).join(', ')}]` : ''}`;

const percents = (value: number): string => (100 * value).toFixed(1);

const printIntervals = (systems: BenchReport['systems']): string => {
  const ratio = (value: number) => value.toFixed(2);
  const rows = systems.map(({ intervals, whole_answers: whole, ...s }) => [
    s.system,
    estimate(s.tokens_per_round, intervals.tokens_per_round, ratio),
    estimate(s.speedup?.median ?? null, intervals.speedup, ratio),
    estimate(whole.total_speedup, intervals.total_speedup, ratio),
    estimate(s.accuracy, intervals.accuracy, percents),
    estimate(s.accuracy_ratio, intervals.accuracy_ratio, percents),
    estimate(s.escalation_rate, intervals.escalation_rate, percents),
    estimate(s.target_tokens, intervals.target_tokens, (tokens) => tokens.toFixed(0)),
  ]);
  const header = ['system', 'τ', '× plain', '× plain, all answers', 'accuracy, %', "of plain's, %"];
  return `\nwith 95 % intervals\n${table([...header, "target's steps, %", "target's tokens"], rows)}\n`;
};

const printAgainst = (systems: BenchReport['systems']): string => {
  const [named] = systems.flatMap(({ against }) => against?.system ?? []);
  if (named === undefined) return '';
  const rows = systems.flatMap(({ system, against }) => {
    if (!against) return [];
    const figures = ['accuracy', 'escalated', 'target_tokens', 'total_ms'] as const;
    const shown = (value: number) => value.toFixed(3);
    return [[system, ...figures.map((name) => estimate(against.ratios[name], against.intervals[name], shown))]];
  });
  const header = ['system', 'accuracy', 'escalated steps', "target's tokens", 'time of all answers'];
  return `\ndivided by those of ${named}, with 95 % intervals\n${table(header, rows)}\n`;
};

/** The slowest kernels of a round, each with its share. */
const printProfile = ({ system, rounds, kernels }: NonNullable<BenchReport['profiles']>[number]): string => {
  const all = kernels.reduce((sum, { ms }) => sum + ms, 0);
  const rows = kernels
    .slice(0, 12)
    .map(({ name, ms, dispatches }) => [
      name,
      `${(ms / rounds).toFixed(3)} ms`,
      percent(ms / all),
      `${(dispatches / rounds).toFixed(1)} dispatches`,
    ]);
  return `\n${system}: a round by kernel, each in a pass of its own\n${table(null, rows)}\n`;
};

const print = ({ device, model, prefill, systems, profiles = [], ...report }: BenchReport): string => {
  const names = [device.description, device.vendor, device.architecture, device.software ? 'software' : ''];
  const facts = table(null, [
    ['device', [...new Set(names)].filter((name) => name !== '').join(' · ')],
    ['streaming bandwidth', `${formatFigure(device.bandwidth_gb_per_second)} GB/s`],
    ['multiply-adds', `${formatFigure(device.multiply_add_gflops)} GFLOP/s`],
    ['model', `${model.name} · ${model.family} · ${formatBytes(model.bytes)} on the device`],
    ...(report.remote === undefined
      ? []
      : [['target', `${report.remote}, remote: plain decoding is that of ${model.name}`]]),
    ['prefill', `${rate(prefill.tokens_per_second)} tokens/s over ${prefill.tokens} tokens`],
    [
      'T(M)/T(1)',
      Object.entries(report.verify_cost)
        .map(([rows, cost]) => `${rows}: ${cost.toFixed(2)}`)
        .join('   '),
    ],
  ]);
  const rows = systems.map((s) => [
    s.system,
    s.baseline === 'autoregressive' ? rate(s.speedup) : `${rate(s.speedup)} of ${s.baseline}`,
    rate(s.tokens_per_second),
    figure(s.tokens_per_round),
    figure(s.passes_per_token),
    [s.dispatches_per_token, s.submits_per_token, s.readbacks_per_token].map((work) => figure(work, 1)).join(' · '),
    percent(s.bandwidth_share),
    s.lossless === null ? '–' : s.lossless ? 'yes' : 'NO',
    percent(s.accuracy),
    formatBytes(s.peak_bytes),
  ]);
  const header = ['system', 'speed-up', 'tokens/s', 'τ', 'passes', 'dispatches · submits · readbacks', 'of bandwidth'];
  const all = table([...header, 'same tokens', 'accuracy', 'peak'], rows);
  const slots = systems
    .filter((each) => each.acceptance_by_slot.length > 0)
    .map((each) => [each.system, each.acceptance_by_slot.map((rate) => rate.toFixed(2)).join(' ')]);
  const kept = slots.length > 0 ? `\nkept, by slot\n${table(null, slots)}\n` : '';
  const drawn = report.temperature > 0 ? `, temperature ${report.temperature}, seeds from ${report.seed}` : '';
  const routed = systems.filter((each) => each.escalation_rate !== null);
  const steps = routed.map((s) => [
    s.system,
    percent(s.accuracy),
    percent(s.escalation_rate),
    percent(s.useless_escalations),
    `${s.target_tokens}`,
    figure(s.judge_ms),
    rate(s.answer_ms),
    figure(s.answer_speedup?.median ?? null),
  ]);
  const stepHeader = [
    'system',
    'accuracy',
    "target's steps",
    'of them useless',
    "target's tokens",
    'judge, ms',
    'answer, ms',
    '× plain',
  ];
  const stepped = steps.length > 0 ? `\nstep by step\n${table(stepHeader, steps)}\n` : '';
  const runs = `${counted(report.prompts, 'prompt')}, ${counted(report.repeat, 'run')} each${drawn}`;
  const close = `${runs}; medians (ranges). Passes: of all models, a token. Intervals: bootstrap over prompts.\n`;
  const sure = `${printIntervals(systems)}${printAgainst(systems)}`;
  return `${facts}\n\n${all}\n${kept}${stepped}${sure}${profiles.map(printProfile).join('')}\n${close}`;
};

export const bench = defineCommand({
  name: 'bench',
  summary: 'measures decoding systems against plain decoding, and ensembles against the plain ensemble',
  usage:
    '[--model M] [--also M …] [--systems a,b,c] [--prompts F.jsonl | --suite NAME] [--max-tokens N] [--repeat N] [--json]',
  positionals: [],
  options: OPTIONS,
  async run({ values }, terminal) {
    const prompts = await readSet(values, terminal);
    const written = await readWritten(values);
    const systems = (values.systems ?? []).map(readEntry);
    const maxTokens = values['max-tokens'] ?? (values.suite ? 320 : 48);
    const asked = prompts?.map(({ prompt }) => prompt) ?? QUESTIONS.map((text) => ({ text }));
    for (const { system, knobs } of entriesOf({ systems, against: values.against }))
      for (const prompt of chosenPrompts<Prompt>(asked, values))
        checkEarly({ ...written, prompt, system: system.id, knobs, maxTokens }, system);
    const ways = systems.map(({ system }) => system);
    const far = readFar(values, ways);
    using device = await openDevice(terminal);
    const models = await loadAll(device, far, values, withInner(systems), terminal);
    const report = await runBench(device.gpu, models, {
      prompts,
      offset: values.offset,
      limit: values.limit,
      systems,
      against: values.against,
      profile: values.profile,
      temperature: values.temperature ?? 0,
      seed: values.seed ?? 0,
      written,
      cache: values.kv ?? 'f32',
      stopAtEnd: values['stop-at-end'],
      maxTokens,
      repeat: values.repeat ?? (values.suite ? 1 : 3),
      signal: terminal.signal,
      onProgress: (line) => terminal.progress(line),
      onNote: (line) => terminal.note(line),
    });
    if (values.json) await terminal.json({ ...report, commit: commitOf(terminal.root) });
    else await terminal.write(print(report));
  },
});
