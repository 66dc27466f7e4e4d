// What a judge makes of a text, and what a draft's own attention and probabilities do (SpecGuard's signals): raw
// numbers for comparisons with other implementations.
import { MOST_ROWS } from '../../base/pass-rows.ts';
import { probabilitiesOf } from '../../judge/probabilities.ts';
import type { LanguageModel, Rollout } from '../../model/interface.ts';
import { choice, flag, integer, integers, refuseWithout, text, UsageError } from '../arguments.ts';
import { rolloutCost } from '../bench/rollout-cost.ts';
import { defineCommand } from '../command.ts';
import { loadOnDevice, openDevice, precisionOption } from '../device.ts';
import { modelOption, modelSource, readModelName } from '../model-source.ts';
import { finite } from '../raw-output.ts';
import { openDiskStore } from '../store.ts';
import type { Terminal } from '../terminal.ts';

const VARIANTS = ['threshold', 'renormalised', 'plain', 'residual'] as const;

const layersOf = (value: string | undefined): Rollout['layers'] => {
  if (value === undefined) return 3;
  const count = Number(value);
  if (value === 'all' || (Number.isInteger(count) && count > 0)) return value === 'all' ? value : count;
  throw new UsageError(`--layers ${value}: expected a number of layers, or all`);
};

/** log softmax of a row at one token. */
const logprob = (row: Float32Array, token: number): number => {
  const top = row.reduce((a, b) => Math.max(a, b));
  return (row[token] as number) - top - Math.log(row.reduce((sum, logit) => sum + Math.exp(logit - top), 0));
};

/** Every token from `from` on: its attention rollout over the sources, and its log-probability. */
const signalsOf = async (
  model: LanguageModel,
  tokens: readonly number[],
  from: number,
  rollout: Rollout,
  { signal }: Terminal,
): Promise<{ grounding: number[]; logprob: number[] }> => {
  using cursor = await model.open({ capacity: tokens.length, rollout });
  cursor.groundOn(from);
  const logprobs: number[] = [];
  if (from > 1) await cursor.extend(tokens.slice(0, from - 1), { signal });
  for (let row = from - 1; row < tokens.length; row += MOST_ROWS) {
    const part = tokens.slice(row, row + MOST_ROWS);
    const pass = cursor.forward({ tokens: part, parents: part.map((_, i) => i - 1) });
    const scores = finite(await pass.logits.read());
    signal.throwIfAborted();
    part.forEach((_, i) => {
      const next = tokens[row + i + 1];
      const own = scores.subarray(i * model.vocabulary, (i + 1) * model.vocabulary);
      if (next !== undefined) logprobs.push(logprob(own, next));
    });
    pass.accept(part.map((_, i) => i));
  }
  const { grounding } = await model.gather([], [{ cursor, first: from, count: tokens.length - from }]);
  return { grounding: [...(grounding[0] as Float32Array)], logprob: logprobs };
};

export const score = defineCommand({
  name: 'score',
  summary: "scores a text by a judge, or by a model's own attention and probabilities",
  usage:
    '--judge M --tokens 1,2,3 [--positions i,j] | --rollout --model M --tokens 1,2,3 --from I [--variant V] [--cost N]',
  positionals: [],
  options: {
    judge: text('M', 'a reward model or a token classifier: a folder, model.onnx, an address, or a bundled one'),
    tokens: integers('1,2,3', "the text, in the judge's or the model's own token ids", { least: 0 }),
    positions: integers('i,j', 'score at these tokens, from 0 (default: the last)', { least: 0 }),
    rollout: flag('attention rollout of each token from --from on, and its log-probability'),
    model: modelOption,
    from: integer('I', 'the tokens before this one are the sources', { least: 1 }),
    variant: choice(
      VARIANTS,
      'threshold drops entries below 0.01, renormalised lets the others sum to one again, residual adds the identity (default: threshold)',
    ),
    layers: text('N', 'the last N layers are rolled out, or all (default: 3)'),
    skip: integer('N', 'the first N tokens are not sources: 1 leaves out the attention sink (default: 0)', {
      least: 0,
    }),
    cost: integer('N', 'also time N drafts after the tokens, with rollout and without', { least: 1 }),
    precision: precisionOption,
  },
  async run({ values }, terminal) {
    const { judge, tokens, positions, rollout, from, variant = 'threshold', skip = 0 } = values;
    if (!tokens?.length) throw new UsageError('score needs --tokens 1,2,3');
    if (rollout === (judge !== undefined)) throw new UsageError('score needs either --judge M or --rollout');
    if (rollout) {
      refuseWithout('--judge', values, ['positions']);
      if (from === undefined || from >= tokens.length)
        throw new UsageError(`--rollout needs --from I, below the ${tokens.length} tokens`);
      const layers = layersOf(values.layers);
      using device = await openDevice(terminal);
      const { model } = await loadOnDevice(device, values, terminal);
      const outside = tokens.find((token) => token >= model.vocabulary);
      if (outside !== undefined)
        throw new UsageError(`token ${outside} is outside the vocabulary of ${model.vocabulary}`);
      const how = { layers, variant, skip };
      const signals = await signalsOf(model, tokens, from, how, terminal);
      const { cost: repeats } = values;
      const cost = repeats && (await rolloutCost(model, tokens, how, repeats, terminal.signal));
      await terminal.json({ ...signals, ...(cost && { cost }) });
      return;
    }
    refuseWithout('--rollout', values, ['model', 'from', 'variant', 'layers', 'skip', 'cost']);
    const beyond = positions?.find((position) => position >= tokens.length);
    if (beyond !== undefined) throw new UsageError(`position ${beyond} is not below the ${tokens.length} tokens`);
    const name = judge as string;
    const source = await modelSource(name, terminal);
    using device = await openDevice(terminal);
    const precision = readModelName(name).precision ?? values.precision;
    const options = { precision, signal: terminal.signal, store: openDiskStore() };
    const { labels, at } = await probabilitiesOf(device.gpu, source, tokens, positions ?? [tokens.length - 1], options);
    for (const row of at) finite(row);
    // A value: one number a position. Classes: the probability of each, one list a position where those were named.
    if (!labels) await terminal.json({ scores: at.map(([reward]) => reward) });
    else await terminal.json({ scores: positions ? at : at[0], labels });
  },
});
