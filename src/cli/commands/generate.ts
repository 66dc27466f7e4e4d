// Continues a prompt. The text streams to stdout as it becomes certain; with --json every trace event is a line there,
// the last one, `done`, carrying the answer and the metrics as well.
import { decimal } from '../../base/decimal.ts';
import { refuse } from '../../base/refuse.ts';
import type { DecodingSystem } from '../../decode/core/system.ts';
import { createEngine } from '../../engine/engine.ts';
import { type LoadedModel, readerOf } from '../../engine/load/loaded-models.ts';
import type { Prompt, RunRequest } from '../../engine/request.ts';
import { SYSTEMS } from '../../systems/index.ts';
import { contentText } from '../../text/message-content.ts';
import { committedTokens, type EventOf, type Metrics, measure, type TraceEvent } from '../../trace/index.ts';
import {
  choice,
  flag,
  integer,
  integers,
  number,
  refuseWithout,
  text,
  texts,
  UsageError,
  type Values,
} from '../arguments.ts';
import { begunRun } from '../begun-run.ts';
import { type COMMON, defineCommand } from '../command.ts';
import { auxiliaryOptions, kvOption, openDevice, precisionOption } from '../device.ts';
import { checkEarly } from '../early-checks.ts';
import { readKnobs, withInner } from '../knob-options.ts';
import { messagesOption, readMessages, readTextFile } from '../messages.ts';
import { modelOption } from '../model-source.ts';
import { LEGEND, painter } from '../paint.ts';
import { loadAll, readFar, remoteOptions } from '../remote-options.ts';
import { compact, readJson, readWritten, requestOptions } from '../request-options.ts';
import { stepReaderOf } from '../step-reader.ts';
import { formatFigure } from '../table.ts';
import type { Terminal } from '../terminal.ts';

const OPTIONS = {
  model: modelOption,
  system: choice(
    SYSTEMS.map(({ id }) => id),
    'the decoding system (default: autoregressive)',
  ),
  ...auxiliaryOptions,
  ...remoteOptions,
  prompt: text('TEXT', 'the prompt'),
  'prompt-file': text('F', 'the prompt is in this file'),
  tokens: integers('1,2,3', 'the prompt as token ids', { least: 0 }),
  messages: messagesOption,
  raw: flag('continue the prompt as it is, without the chat template'),
  'max-tokens': integer('N', 'maximum tokens of the answer (default: 1024, or what the context leaves)', { least: 1 }),
  temperature: number('T', '0 (the default) takes the most probable token', { least: 0, most: 100 }),
  ...requestOptions,
  seed: integer('S', 'the same seed gives the same answer', { least: 0, most: 2 ** 32 - 1 }),
  stop: texts('TEXT', 'end before this text; may be repeated'),
  'repetition-penalty': number('X', 'above 1: tokens of prompt and answer become less likely (default: 1)', {
    least: 0.01,
    most: 100,
  }),
  'presence-penalty': number('X', 'subtracted from the logits of tokens that are in the answer', {
    least: -2,
    most: 2,
  }),
  'frequency-penalty': number('X', 'subtracted for each time that a token is in the answer', { least: -2, most: 2 }),
  'logit-bias': texts('ID=X', 'added to a token’s logit, from -100 to 100; may be repeated'),
  'min-tokens': integer('N', 'the answer does not end before it has N tokens', { least: 0 }),
  'bad-words': text('F', 'what must not be written: a JSON list of texts or lists of token ids, or a file with one'),
  'ignore-eos': flag('go on after the end-of-text token'),
  set: texts('KNOB=VALUE', 'a setting of the system, as `outrider systems ID` lists them; may be repeated'),
  logprobs: integer('N', 'with --json: each token’s log-probability, and N alternatives', { least: 0, most: 20 }),
  precision: precisionOption,
  kv: kvOption,
  marks: flag(`signs for how each part came about: ${LEGEND}`),
} as const;

type Given = Values<typeof OPTIONS & typeof COMMON>;

const SOURCES = ['prompt', 'prompt-file', 'tokens', 'messages'] as const;

/** What can be known to be wrong before a model is loaded. */
const checkPrompt = (given: Given): void => {
  const named = SOURCES.filter((name) => given[name] !== undefined);
  if (named.length !== 1)
    throw new UsageError(
      named.length === 0 ? 'there is no prompt' : `--${named[0]} and --${named[1]} are both given`,
      `Give one of ${SOURCES.map((name) => `--${name}`).join(', ')}.`,
    );
  if (given.raw && given.messages !== undefined)
    throw new UsageError('--messages goes through the chat template: it cannot be --raw');
  if (!given.json) refuseWithout('--json', given, ['logprobs']);
};

/** Files are read before the model is loaded, so that a wrong name does not cost a minute. */
const readPrompt = async (given: Given): Promise<Prompt> => {
  if (given.tokens) return { tokens: given.tokens };
  if (given.messages !== undefined) return { messages: await readMessages(given.messages) };
  const file = given['prompt-file'];
  const content = file === undefined ? (given.prompt ?? '') : await readTextFile(file);
  // Editors end a file with a newline that is no part of the message; a raw prompt keeps it.
  return given.raw ? { text: content } : { messages: [{ role: 'user', content: content.replace(/\r?\n$/, '') }] };
};

const readBadWords = async (given: string): Promise<RunRequest['badWords']> => {
  const inline = given.trimStart().startsWith('[');
  const words = readJson(inline ? given : await readTextFile(given), inline ? '--bad-words' : given);
  if (!Array.isArray(words)) throw new UsageError('--bad-words: not a list', 'Give ["word", [15, 27]] or its file.');
  return words;
};

const readBias = (given: readonly string[]): Record<number, number> => {
  const biases: Record<number, number> = {};
  for (const pair of given.flatMap((pairs) => pairs.split(/[\s,]+/))) {
    const [, id, bias] = /^(\d+)=(.+)$/.exec(pair) ?? [];
    if (id === undefined || !Number.isFinite(decimal(bias ?? '', false)))
      throw new UsageError(`--logit-bias: "${pair}" is not ID=X, such as 42=-5`);
    if (Number(id) in biases) throw new UsageError(`--logit-bias: token ${id} is given twice`);
    biases[Number(id)] = Number(bias);
  }
  return biases;
};

const toRequest = (given: Given, system: DecodingSystem, prompt: Prompt): RunRequest => ({
  prompt,
  ignoreEos: given['ignore-eos'],
  stop: given.stop,
  system: system.id,
  knobs: readKnobs(system, given.set),
  ...compact({
    maxTokens: given['max-tokens'],
    temperature: given.temperature,
    seed: given.seed,
    logprobs: given.logprobs,
    repetitionPenalty: given['repetition-penalty'],
    presencePenalty: given['presence-penalty'],
    frequencyPenalty: given['frequency-penalty'],
    logitBias: given['logit-bias'].length > 0 ? readBias(given['logit-bias']) : undefined,
    minTokens: given['min-tokens'],
  }),
});

/** A base model has no chat template; then a prompt can only be meant raw. Without a tokenizer it must be ids. */
const fitPrompt = (prompt: Prompt, { tokenizer, name }: LoadedModel, given: Given, terminal: Terminal): Prompt => {
  if (!tokenizer && !('tokens' in prompt))
    throw refuse(`${name} has no tokenizer, so it cannot read a text`, 'Use --tokens 1,2,3.');
  const [message] = 'messages' in prompt && given.messages === undefined ? prompt.messages : [];
  if (!message || !tokenizer || tokenizer.hasChatTemplate) return prompt;
  terminal.note(`warning: ${name} has no chat template; the prompt is continued as it is (as with --raw)`);
  return { text: contentText(message) };
};

const printText = (reader: LoadedModel, given: Given, terminal: Terminal) => {
  const stream = reader.tokenizer?.stream();
  const paint = stream && painter(stream, { colour: terminal.colour, marks: given.marks });
  let printed = 0;
  let ended = true;
  const print = async (piece: string): Promise<void> => {
    await terminal.write(piece);
    if (piece !== '') ended = piece.endsWith('\n');
  };
  return async (event: TraceEvent): Promise<void> => {
    if (event.type === 'commit') {
      printed += event.text?.length ?? 0;
      await print(paint ? paint(event) : `${event.tokens.join(' ')} `);
    }
    if (event.type === 'done') {
      await print(event.text?.slice(printed) ?? ''); // what was held back when a run was aborted
      if (!ended) await terminal.write('\n');
    }
  };
};

const reasons: Readonly<Record<EventOf<'done'>['finish_reason'], string>> = {
  stop: 'the model ended its answer',
  length: 'the token budget is used up',
  aborted: 'interrupted',
};

const percent = (share: number): string => `${Math.round(100 * share)} %`;

const summary = (done: EventOf<'done'>, metrics: Metrics): string => {
  const rate = metrics.tokens_per_second;
  const reason =
    typeof done.stop === 'string' ? `stopped at ${JSON.stringify(done.stop)}` : reasons[done.finish_reason];
  return [
    `${metrics.tokens} tokens`,
    `prompt ${metrics.prompt_tokens} in ${Math.round(metrics.prefill_ms)} ms`,
    ...(rate === null ? [] : [`${formatFigure(rate)} tokens/s`]),
    ...(metrics.drafted > 0 ? [`${(metrics.tokens_per_round ?? 0).toFixed(2)} tokens a round`] : []),
    ...(metrics.steps > 0 ? [`${metrics.steps} steps, ${percent(metrics.escalation_rate ?? 0)} by the target`] : []),
    reason,
  ].join(' · ');
};

export const generate = defineCommand({
  name: 'generate',
  summary: 'continues a prompt, with any decoding system',
  usage:
    '[--model M] [--system ID] [--draft M] [--drafter M] [--judge M] [--also M …] (--prompt TEXT | --prompt-file F | --tokens 1,2,3 | --messages F.json) [options]',
  positionals: [],
  options: OPTIONS,
  async run({ values }, terminal) {
    checkPrompt(values);
    const system = SYSTEMS.find(({ id }) => id === (values.system ?? 'autoregressive')) as DecodingSystem;
    const written = await readWritten(values);
    const badWords = values['bad-words'] === undefined ? undefined : await readBadWords(values['bad-words']);
    const request = {
      ...toRequest(values, system, await readPrompt(values)),
      ...written,
      ...compact({ badWords }),
    };
    checkEarly(request, system);
    const far = readFar(values, [system]);
    using device = await openDevice(terminal);
    const models = await loadAll(device, far, values, withInner([{ system, knobs: request.knobs ?? {} }]), terminal);
    const reader = (system.remote ? stepReaderOf(models) : readerOf(models)) as LoadedModel;
    const engine = createEngine({ gpu: device.gpu });
    const loaded = Object.entries(
      (await engine.load(models, { cache: values.kv ?? 'f32', vocabularies: 'own' })).models,
    );
    const names = Object.fromEntries(loaded.map(([role, { name }]) => [role, name]));
    const prompt = fitPrompt(request.prompt, reader, values, terminal);

    const print = printText(reader, values, terminal);
    const events: TraceEvent[] = [];
    for await (const told of begunRun(engine.run({ ...request, prompt }, terminal.signal))) {
      const event = told.type === 'run' ? { ...told, models: names } : told;
      events.push(event);
      if (event.type === 'calibration' && !event.calibrated)
        terminal.note('warning: this draft is not calibrated, so default ranges apply; see outrider calibrate');
      if (event.type === 'remote' && event.fault)
        terminal.note(`warning: ${event.fault.message}; the draft goes on alone`);
      if (event.type === 'route' && event.fault)
        terminal.note(`warning: ${event.fault.message}; the target writes the steps from here on`);
      if (event.type === 'done') {
        const metrics = measure(events);
        if (values.json) await terminal.json({ ...event, tokens: committedTokens(events), metrics });
        else await print(event);
        terminal.note(summary(event, metrics));
      } else if (values.json) await terminal.json(event);
      else await print(event);
    }
    await engine.close();
  },
});
