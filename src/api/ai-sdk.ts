// A provider for the Vercel AI SDK (`ai` 7, language-model specification 4): generateText, streamText, objects and tools
// on the user's own GPU. Of the SDK only types are imported, so this entry point adds no dependency to a page.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  ProviderV4,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { checkSignal } from '../base/check-signal.ts';
import { OutriderError } from '../base/errors.ts';
import { isObject } from '../base/is-object.ts';
import { refuse } from '../base/refuse.ts';
import { shown } from '../base/shown.ts';
import type { Constraint, JsonSchema } from '../constraint/constraint.ts';
import type { Engine } from '../engine/engine.ts';
import type { RunRequest } from '../engine/request.ts';
import type { ChatMessage } from '../text/chat-template.ts';
import type { ToolFunction, Tools } from '../text/tool-calls/tools.ts';
import {
  type Answer,
  type AnswerEvent,
  answer,
  type Extras,
  leaveOnAbort,
  needEngine,
  seedOf,
  stated,
} from './completion.ts';

/** Settings that the SDK does not have: of a model, or of one call under `providerOptions.outrider`. */
export interface OutriderSettings extends Extras {
  /** The most tokens of reasoning. */
  readonly reasoningBudget?: number | undefined;
}

/** A provider of language models for the Vercel AI SDK. */
export interface OutriderProvider extends ProviderV4 {
  /** `modelId` names the answers; the models are those that the engine has loaded. */
  (modelId?: string, settings?: OutriderSettings): LanguageModelV4;
  languageModel(modelId?: string, settings?: OutriderSettings): LanguageModelV4;
}

type Message = LanguageModelV4Prompt[number];
type Part = Exclude<Message['content'], string>[number];
type Output = Extract<Part, { readonly type: 'tool-result' }>['output'];

/** The SDK checks what it hands over; a caller of the model itself may hand over anything. */
const listOf = <T>(name: string, list: readonly T[]): readonly T[] => {
  if (!Array.isArray(list)) throw refuse(`${name} must be a list, not ${shown(list)}`);
  return Array.from(list, (each, i) => {
    if (!isObject(each)) throw refuse(`${name}[${i}] must be an object, not ${shown(each)}`);
    return each as T;
  });
};

const textOf = ({ type, text }: { readonly type: string; readonly text: string }): string => {
  if (typeof text !== 'string') throw refuse(`the text of a ${type} part must be text, not ${shown(text)}`);
  return text;
};

/** What a tool gave, as the model reads it. */
const resultOf = (output: Output): string => {
  if (!isObject(output)) throw refuse(`the output of a tool must be an object { type, value }, not ${shown(output)}`);
  if (output.type === 'text' || output.type === 'error-text') return output.value;
  if (output.type === 'json' || output.type === 'error-json') return JSON.stringify(output.value);
  if (output.type === 'execution-denied') return output.reason ?? 'The call was not allowed.';
  return listOf('the output of a tool', output.value)
    .map((part) => {
      if (part.type === 'text') return textOf(part);
      throw refuse(`the model reads text, not a ${part.type} part of a tool's result`);
    })
    .join('');
};

/** A message of ours; several where it holds the results of several calls. */
const messagesOf = ({ role, content }: Message): readonly ChatMessage[] => {
  if (typeof content === 'string') return [{ role, content }];
  let text = '';
  let reasoning = '';
  const calls: unknown[] = [];
  const results: ChatMessage[] = [];
  for (const part of listOf<Part>('content', content)) {
    if (part.type === 'text') text += textOf(part);
    else if (part.type === 'reasoning') reasoning += textOf(part);
    else if (part.type === 'tool-call')
      calls.push({
        id: part.toolCallId,
        type: 'function',
        function: { name: part.toolName, arguments: JSON.stringify(part.input) },
      });
    else if (part.type === 'tool-result')
      results.push({
        role: 'tool',
        content: resultOf(part.output),
        tool_call_id: part.toolCallId,
        name: part.toolName,
      });
    else throw refuse(`the model reads text, not a ${part.type} part of a ${role} message`);
  }
  if (role === 'tool') return results;
  return [
    {
      role,
      content: text,
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    ...results,
  ];
};

/** Tools that run at the provider are not here: warningsFor names them. */
const toolsOf = ({ tools, toolChoice }: LanguageModelV4CallOptions): Tools | undefined => {
  const functions = listOf('tools', tools ?? []).flatMap((tool): readonly ToolFunction[] =>
    tool.type === 'function'
      ? [
          {
            name: tool.name,
            ...(tool.description !== undefined && { description: tool.description }),
            parameters: tool.inputSchema as NonNullable<ToolFunction['parameters']>,
            ...(tool.strict && { strict: true }),
          },
        ]
      : [],
  );
  if (functions.length === 0) return undefined;
  const choice = toolChoice?.type === 'tool' ? { name: toolChoice.toolName } : toolChoice?.type;
  return { functions, ...(choice && { choice }) };
};

const constraintOf = ({ responseFormat }: LanguageModelV4CallOptions): Constraint | undefined =>
  responseFormat?.type === 'json'
    ? { json_schema: (responseFormat.schema ?? { type: 'object' }) as JsonSchema }
    : undefined;

const reasoningOf = (
  { reasoning }: LanguageModelV4CallOptions,
  { reasoningBudget }: OutriderSettings,
): NonNullable<RunRequest['reasoning']> => ({
  ...(reasoning !== undefined && reasoning !== 'provider-default' && { enabled: reasoning !== 'none' }),
  ...(reasoningBudget !== undefined && { budget: reasoningBudget }),
});

const SETTINGS: readonly string[] = ['system', 'knobs', 'minP', 'reasoningBudget', 'onEvent'];

/** Settings that the engine would ignore: the SDK shows the warnings to the developer. */
const warningsFor = (options: LanguageModelV4CallOptions): SharedV4Warning[] => {
  const { tools } = options;
  const unknown = Object.keys(options.providerOptions?.outrider ?? {}).filter((name) => !SETTINGS.includes(name));
  return [
    ...(tools ?? []).flatMap((tool) => (tool.type === 'function' ? [] : [`tool ${tool.name}`])),
    ...unknown.map((name) => `providerOptions.outrider.${name}`),
  ].map((feature) => ({ type: 'unsupported', feature, details: 'It was ignored.' }));
};

const toRequest = (options: LanguageModelV4CallOptions, settings: OutriderSettings): RunRequest => ({
  prompt: { messages: listOf('prompt', options.prompt).flatMap(messagesOf) },
  reasoning: reasoningOf(options, settings),
  ...stated({
    tools: toolsOf(options),
    constraint: constraintOf(options),
    system: settings.system,
    knobs: settings.knobs,
    minP: settings.minP,
    maxTokens: options.maxOutputTokens,
    temperature: options.temperature,
    topP: options.topP,
    topK: options.topK,
    presencePenalty: options.presencePenalty,
    frequencyPenalty: options.frequencyPenalty,
    seed: seedOf(options.seed),
    stop: options.stopSequences,
  }),
});

type Run = AsyncGenerator<AnswerEvent, void, undefined>;

/**
 * The SDK has one setting for models of all kinds: one whose chat template has no tags for reasoning answers without
 * it, and the warnings say so. A budget, which is ours, is refused there.
 */
async function* orWithoutReasoning(
  run: (request: RunRequest) => Run,
  request: RunRequest,
  warnings: SharedV4Warning[],
): Run {
  try {
    yield* run(request);
  } catch (error) {
    const isUnknown = error instanceof OutriderError && error.unsupported === 'reasoning';
    if (!isUnknown || !request.reasoning?.enabled) throw error;
    warnings.push({ type: 'unsupported', feature: 'reasoning', details: error.message });
    const { enabled: _, ...reasoning } = request.reasoning;
    yield* run({ ...request, reasoning });
  }
}

const tokensOf = ({ usage }: Answer): LanguageModelV4Usage => {
  const { prompt_tokens: total, completion_tokens: written } = usage;
  const cacheRead = usage.prompt_tokens_details.cached_tokens;
  const reasoning = usage.completion_tokens_details.reasoning_tokens;
  return {
    inputTokens: { total, noCache: total - cacheRead, cacheRead, cacheWrite: undefined },
    outputTokens: { total: written, text: written - reasoning, reasoning: reasoning || undefined },
    raw: usage,
  };
};

const reasonOf = ({ finish_reason: raw }: Answer): LanguageModelV4FinishReason => ({
  unified: raw === 'aborted' ? 'interrupted' : raw === 'tool_calls' ? 'tool-calls' : raw,
  raw,
});

/** System, knobs, seed and metrics, which other providers do not report. */
const metadataOf = ({ report }: Answer): SharedV4ProviderMetadata => ({
  outrider: JSON.parse(JSON.stringify(report)),
});

const languageModel = (engine: Engine, modelId: string, settings: OutriderSettings): LanguageModelV4 => {
  const begin = (options: LanguageModelV4CallOptions, signal = options.abortSignal) => {
    checkSignal(options.abortSignal, 'abortSignal');
    const own: OutriderSettings = options.providerOptions?.outrider ?? {};
    const merged: OutriderSettings = { ...settings, ...stated(own) };
    const { onEvent } = merged;
    if ((onEvent ?? null) !== null && typeof onEvent !== 'function')
      throw refuse(`onEvent must be a function, not ${shown(onEvent)}`);
    const request = toRequest(options, merged);
    const warnings = warningsFor(options);
    const run = orWithoutReasoning((each) => answer(engine, each, { signal, onEvent }), request, warnings);
    return { run, warnings };
  };
  return {
    specificationVersion: 'v4',
    provider: 'outrider',
    modelId,
    supportedUrls: {},

    async doGenerate(options): Promise<LanguageModelV4GenerateResult> {
      let text = '';
      let reasoning = '';
      const calls: { toolCallId: string; toolName: string; input: string }[] = [];
      const { run, warnings } = begin(options);
      for await (const event of run)
        if (event.type === 'piece') text += event.text;
        else if (event.type === 'reasoning') reasoning += event.text;
        else if (event.type === 'call') calls[event.call] = { toolCallId: event.id, toolName: event.name, input: '' };
        else if (event.type === 'arguments') (calls[event.call] as { input: string }).input += event.text;
        else if (event.type === 'end') {
          options.abortSignal?.throwIfAborted();
          const content: LanguageModelV4Content[] = [
            ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
            ...(text === '' ? [] : [{ type: 'text' as const, text }]),
            ...calls.map((call) => ({ type: 'tool-call' as const, ...call })),
          ];
          return {
            content,
            finishReason: reasonOf(event),
            usage: tokensOf(event),
            providerMetadata: metadataOf(event),
            response: { modelId, timestamp: new Date() },
            warnings,
          };
        }
      throw new OutriderError('bug', 'the run ended without saying how');
    },

    async doStream(options) {
      checkSignal(options.abortSignal, 'abortSignal');
      const cancelled = new AbortController();
      const signal = AbortSignal.any([cancelled.signal, options.abortSignal].filter((each) => each !== undefined));
      const { run, warnings } = begin(options, signal);
      leaveOnAbort(run, signal);
      const parts = streamParts(run, modelId, options, warnings);
      return {
        stream: new ReadableStream<LanguageModelV4StreamPart>({
          async pull(controller) {
            const { done, value } = await parts.next().catch((error: unknown) => {
              options.abortSignal?.throwIfAborted(); // the SDK tells an abort by the stream's own error
              return { done: false as const, value: { type: 'error' as const, error } };
            });
            if (done) controller.close();
            else controller.enqueue(value);
          },
          cancel: () => cancelled.abort(),
        }),
      };
    },
  };
};

async function* streamParts(
  run: Run,
  modelId: string,
  options: LanguageModelV4CallOptions,
  warnings: readonly SharedV4Warning[],
): AsyncGenerator<LanguageModelV4StreamPart, void, undefined> {
  let started = false;
  const start = function* (): Generator<LanguageModelV4StreamPart> {
    if (started) return;
    started = true;
    yield { type: 'stream-start', warnings: [...warnings] };
    yield { type: 'response-metadata', modelId, timestamp: new Date() };
  };
  // Whether the model can reason is known when it answers.
  if (!reasoningOf(options, {}).enabled) yield* start();
  /** The part that is being written, and what ends it. */
  let open: LanguageModelV4StreamPart | null = null;
  let last = { id: '', name: '', input: '' };
  let parts = 0;
  const close = function* (): Generator<LanguageModelV4StreamPart> {
    if (open) yield open;
    if (open?.type === 'tool-input-end')
      yield { type: 'tool-call', toolCallId: last.id, toolName: last.name, input: last.input };
    open = null;
  };
  for await (const event of run) {
    if (event.type !== 'begun') yield* start();
    if (event.type === 'piece' || event.type === 'reasoning') {
      const kind = event.type === 'piece' ? 'text' : 'reasoning';
      if (open?.type !== `${kind}-end`) {
        yield* close();
        last = { id: `${kind}-${parts++}`, name: '', input: '' };
        open = { type: `${kind}-end`, id: last.id };
        yield { type: `${kind}-start`, id: last.id };
      }
      yield { type: `${kind}-delta`, id: last.id, delta: event.text };
    } else if (event.type === 'call') {
      yield* close();
      last = { id: event.id, name: event.name, input: '' };
      open = { type: 'tool-input-end', id: event.id };
      yield { type: 'tool-input-start', id: event.id, toolName: event.name };
    } else if (event.type === 'arguments') {
      last.input += event.text;
      yield { type: 'tool-input-delta', id: last.id, delta: event.text };
    } else if (event.type === 'end') {
      options.abortSignal?.throwIfAborted();
      yield* close();
      const finishReason = reasonOf(event);
      yield { type: 'finish', finishReason, usage: tokensOf(event), providerMetadata: metadataOf(event) };
    }
  }
  options.abortSignal?.throwIfAborted();
}

/** A provider for the AI SDK over this engine. `settings` holds for models that do not say otherwise. */
export const createOutrider = (engine: Engine, settings: OutriderSettings = {}): OutriderProvider => {
  needEngine(engine);
  const model = (modelId = 'outrider', own: OutriderSettings = {}): LanguageModelV4 => {
    const strange = Object.keys({ ...settings, ...own }).find((name) => !SETTINGS.includes(name));
    if (strange !== undefined)
      throw refuse(`a model has no setting "${strange}"`, `There are: ${SETTINGS.join(', ')}.`);
    return languageModel(engine, modelId, { ...settings, ...stated(own) });
  };
  const none = (kind: string) => (): never => {
    throw refuse(`this engine has no ${kind} models`, 'Use a language model.');
  };
  return Object.assign(model, {
    specificationVersion: 'v4' as const,
    languageModel: model,
    embeddingModel: none('embedding'),
    imageModel: none('image'),
  });
};
