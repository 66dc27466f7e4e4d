// A provider for the Vercel AI SDK (`ai` 7, language-model specification 4): generateText and streamText on the user's
// own GPU. Of the SDK only types are imported, so this entry point adds no dependency to a page.
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
import { OutriderError } from '../base/errors.ts';
import { refuse } from '../base/refuse.ts';
import type { Engine } from '../engine/engine.ts';
import type { RunRequest } from '../engine/request.ts';
import type { ChatMessage } from '../text/chat-template.ts';
import { type Answer, answer, type Extras, leaveOnAbort, stated } from './completion.ts';

/** Settings that the SDK does not have: of a model, or of one call under `providerOptions.outrider`. */
export type OutriderSettings = Extras;

/** A provider of language models for the Vercel AI SDK. */
export interface OutriderProvider extends ProviderV4 {
  /** `modelId` names the answers; the models are those that the engine has loaded. */
  (modelId?: string, settings?: OutriderSettings): LanguageModelV4;
  languageModel(modelId?: string, settings?: OutriderSettings): LanguageModelV4;
}

const textOf = ({ role, content }: LanguageModelV4Prompt[number]): ChatMessage => ({
  role,
  content:
    typeof content === 'string'
      ? content
      : content
          .map((part) => {
            if (part.type === 'text') return part.text;
            if (part.type === 'reasoning') return ''; // the reasoning of an earlier answer is no part of the prompt
            throw refuse(`the model reads text, not a ${part.type} part of a ${role} message`);
          })
          .join(''),
});

const SETTINGS: readonly string[] = ['system', 'knobs', 'minP', 'onEvent'];

/** Settings that the engine would ignore: the SDK shows the warnings to the developer. */
const warningsFor = (options: LanguageModelV4CallOptions): SharedV4Warning[] => {
  const { tools, responseFormat, reasoning } = options;
  const asked: Readonly<Record<string, boolean>> = {
    tools: (tools?.length ?? 0) > 0,
    responseFormat: responseFormat?.type === 'json',
    reasoning: reasoning !== undefined && reasoning !== 'provider-default' && reasoning !== 'none',
  };
  const unknown = Object.keys(options.providerOptions?.outrider ?? {}).filter((name) => !SETTINGS.includes(name));
  return [
    ...Object.keys(asked).filter((feature) => asked[feature]),
    ...unknown.map((name) => `providerOptions.outrider.${name}`),
  ].map((feature) => ({ type: 'unsupported', feature, details: 'It was ignored.' }));
};

const toRequest = (options: LanguageModelV4CallOptions, { system, knobs, minP }: OutriderSettings): RunRequest => ({
  prompt: { messages: options.prompt.map(textOf) },
  ...stated({
    system,
    knobs,
    minP,
    maxTokens: options.maxOutputTokens,
    temperature: options.temperature,
    topP: options.topP,
    topK: options.topK,
    presencePenalty: options.presencePenalty,
    frequencyPenalty: options.frequencyPenalty,
    seed: options.seed,
    stop: options.stopSequences,
  }),
});

const tokensOf = ({ usage }: Answer): LanguageModelV4Usage => {
  const { prompt_tokens: total, completion_tokens: written } = usage;
  const cacheRead = usage.prompt_tokens_details.cached_tokens;
  return {
    inputTokens: { total, noCache: total - cacheRead, cacheRead, cacheWrite: undefined },
    outputTokens: { total: written, text: written, reasoning: undefined },
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
    const own = options.providerOptions?.outrider as OutriderSettings | undefined;
    const merged = { ...settings, ...own };
    return answer(engine, toRequest(options, merged), { signal, onEvent: merged.onEvent });
  };
  return {
    specificationVersion: 'v4',
    provider: 'outrider',
    modelId,
    supportedUrls: {},

    async doGenerate(options): Promise<LanguageModelV4GenerateResult> {
      let text = '';
      for await (const event of begin(options))
        if (event.type === 'piece') text += event.text;
        else if (event.type === 'end') {
          options.abortSignal?.throwIfAborted();
          const content: LanguageModelV4Content[] = text === '' ? [] : [{ type: 'text', text }];
          return {
            content,
            finishReason: reasonOf(event),
            usage: tokensOf(event),
            providerMetadata: metadataOf(event),
            response: { modelId, timestamp: new Date() },
            warnings: warningsFor(options),
          };
        }
      throw new OutriderError('bug', 'the run ended without saying how');
    },

    async doStream(options) {
      const cancelled = new AbortController();
      const signal = AbortSignal.any([cancelled.signal, options.abortSignal].filter((each) => each !== undefined));
      const run = begin(options, signal);
      leaveOnAbort(run, signal);
      const parts = streamParts(run, modelId, options);
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
  run: ReturnType<typeof answer>,
  modelId: string,
  options: LanguageModelV4CallOptions,
): AsyncGenerator<LanguageModelV4StreamPart, void, undefined> {
  yield { type: 'stream-start', warnings: warningsFor(options) };
  yield { type: 'response-metadata', modelId, timestamp: new Date() };
  const id = 'answer';
  let open = false;
  for await (const event of run) {
    if (event.type === 'piece') {
      if (!open) yield { type: 'text-start', id };
      open = true;
      yield { type: 'text-delta', id, delta: event.text };
    } else if (event.type === 'end') {
      options.abortSignal?.throwIfAborted();
      if (open) yield { type: 'text-end', id };
      const finishReason = reasonOf(event);
      yield { type: 'finish', finishReason, usage: tokensOf(event), providerMetadata: metadataOf(event) };
    }
  }
  options.abortSignal?.throwIfAborted();
}

/** `settings`: for every model that does not say otherwise. */
export const createOutrider = (engine: Engine, settings: OutriderSettings = {}): OutriderProvider => {
  const model = (modelId = 'outrider', own: OutriderSettings = {}): LanguageModelV4 =>
    languageModel(engine, modelId, { ...settings, ...own });
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
