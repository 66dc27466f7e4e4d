// The tokenizer inside a GGUF file as the tokenizer.json and tokenizer_config.json that text/ reads: byte-pair encoding by
// a list of merges (`tokenizer.ggml.model` = gpt2, gemma4) or by scores (llama: SentencePiece).
import { bad } from '../../base/refuse.ts';
import { shown } from '../../base/shown.ts';
import type { SentencePieceModel } from '../../text/sentencepiece.ts';
import { type TokenizerFiles, templateField } from '../checkpoint.ts';
import type { GgufValue } from './container.ts';
import { PRE_TOKENIZERS, type PreTokenizer } from './pre-tokenizers.ts';

type Metadata = ReadonlyMap<string, GgufValue>;

/** `tokenizer.ggml.token_type`, enum llama_token_type. */
const UNKNOWN = 2;
const CONTROL = 3;
const USER_DEFINED = 4;
const BYTE = 6;

/**
 * What ends a text or a turn, by its name. A file often names one end where its model writes several, or calls one an
 * ordinary token: like llama.cpp, whose list this is, we take them all for ends. Not `</s>`: besides being an end that
 * files do name, it is markup in Gemma's vocabularies.
 */
const ENDS: ReadonlySet<string> = new Set([
  '<eos>',
  '<EOT>',
  '_<EOT>',
  '[EOS]',
  '[EOT]',
  '<|end|>',
  '<|eom_id|>',
  '<|eot_id|>',
  '<|im_end|>',
  '<end_of_turn>',
  '<|endoftext|>',
  '<|end_of_text|>',
  '<end_of_utterance>',
  '<｜end▁of▁sentence｜>',
]);

/** What both kinds need of the metadata. */
interface Vocabulary {
  readonly tokens: readonly string[];
  readonly types: readonly number[];
  readonly special: ReturnType<typeof specialTokens>;
  /** Put around a text. */
  readonly before: Special | undefined;
  readonly after: Special | undefined;
}

/** Null when the file has no tokenizer. */
export const ggufTokenizer = (metadata: Metadata): TokenizerFiles | null => {
  const model = metadata.get('tokenizer.ggml.model');
  if (model === undefined || model === 'none' || model === 'no_vocab') return null;
  if (model !== 'gpt2' && model !== 'llama' && model !== 'gemma4')
    throw bad(
      `the tokenizer ${String(model)} inside the GGUF file is not supported`,
      'Supported: gpt2 and gemma4 (merges), llama (SentencePiece). Load the safetensors version: it has a tokenizer.json.',
    );
  const pre =
    model === 'llama' ? null : preTokenizerOf(model === 'gemma4' ? 'gemma4' : metadata.get('tokenizer.ggml.pre'));
  const tokens = strings(metadata, 'tokenizer.ggml.tokens');
  refuseRepeated(tokens);
  const stated = metadata.get('tokenizer.ggml.token_type') ?? tokens.map(() => 1);
  if (!Array.isArray(stated) || !stated.every((type) => Number.isInteger(type)))
    throw bad(`tokenizer.ggml.token_type is ${shown(stated)}, expected a list of numbers`);
  if (stated.length !== tokens.length)
    throw bad(`tokenizer.ggml: ${tokens.length} tokens and ${stated.length} token types`);
  const types = stated.map((type, id) => (ENDS.has(tokens[id] as string) ? CONTROL : type));
  const special = specialTokens(metadata, tokens, types, pre === null);
  const addBos = flag(metadata, 'add_bos_token') ?? pre?.addsBos ?? pre === null;
  const addEos = flag(metadata, 'add_eos_token') ?? false;
  const before = addBos ? special.bos : undefined;
  const after = addEos ? special.eos : undefined;
  const vocabulary: Vocabulary = { tokens, types, special, before, after };
  return {
    tokenizer: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: addedTokens(vocabulary, metadata.get('general.name')),
      ...(pre === null ? scored(vocabulary, metadata) : merged(vocabulary, metadata, pre)),
    },
    config: {
      tokenizer_class: 'PreTrainedTokenizerFast',
      clean_up_tokenization_spaces: false,
      add_prefix_space: false,
      add_bos_token: addBos,
      add_eos_token: addEos,
      ...(special.bos ? { bos_token: special.bos.content } : {}),
      ...(special.eos ? { eos_token: special.eos.content } : {}),
      ...(special.unknown ? { unk_token: special.unknown.content } : {}),
      ...(special.padding ? { pad_token: special.padding.content } : {}),
      ...templateField(text(metadata, 'tokenizer.chat_template'), text(metadata, 'tokenizer.chat_template.tool_use')),
    },
    generation: generation(metadata, tokens),
  };
};

/** One of the two ids would have no text. llama.cpp stops at such a file, and gives empty tokens names of their own. */
const refuseRepeated = (tokens: readonly string[]): void => {
  const ids = new Map<string, number>();
  for (const [id, token] of tokens.entries()) {
    const other = ids.get(token);
    if (other !== undefined && token !== '')
      throw bad(`tokenizer.ggml.tokens has ${shown(token)} twice, as ${other} and as ${id}`);
    ids.set(token, id);
  }
};

const preTokenizerOf = (name: GgufValue = 'default'): PreTokenizer => {
  if (typeof name !== 'string' || !Object.hasOwn(PRE_TOKENIZERS, name))
    throw bad(`the pre-tokenizer ${String(name)} is not known`, `Known: ${Object.keys(PRE_TOKENIZERS).join(', ')}.`);
  return PRE_TOKENIZERS[name] as PreTokenizer;
};

/** Phi-3's tokenizer drops white space after its special tokens; GGUF has no field for that, so the name tells. */
const EATS_SPACE = /phi-?3/i;
const NEVER = ['<unk>', '<s>', '<|endoftext|>'];

const addedTokens = ({ tokens, types }: Vocabulary, name: GgufValue | undefined): readonly object[] => {
  const eats = typeof name === 'string' && EATS_SPACE.test(name);
  return tokens.flatMap((content, id) => {
    const type = types[id] as number;
    // An empty token would be found everywhere.
    if ((type !== CONTROL && type !== UNKNOWN && type !== USER_DEFINED) || content === '') return [];
    const plain = { single_word: false, lstrip: false, rstrip: eats && !NEVER.includes(content), normalized: false };
    return [{ id, content, ...plain, special: type !== USER_DEFINED }];
  });
};

const merged = (
  { tokens, before, after }: Vocabulary,
  metadata: Metadata,
  pre: PreTokenizer,
): Readonly<Record<string, unknown>> => ({
  // Nothing is composed first, as in llama.cpp; Qwen's own tokenizer.json does compose (NFC).
  normalizer: pre.plain ? { type: 'Replace', pattern: { String: ' ' }, content: '▁' } : null,
  pre_tokenizer: preTokenizer(pre),
  post_processor: postProcessor(before, after),
  decoder: pre.plain
    ? PLAIN_DECODER
    : { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
  model: {
    type: 'BPE',
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: pre.plain ?? false,
    ignore_merges: pre.ignoreMerges ?? false,
    // fromEntries defines, where an assignment to a token named __proto__ would not.
    vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    merges: strings(metadata, 'tokenizer.ggml.merges').map(mergePair),
  },
});

const PLAIN_DECODER = {
  type: 'Sequence',
  decoders: [{ type: 'Replace', pattern: { String: '▁' }, content: ' ' }, { type: 'ByteFallback' }, { type: 'Fuse' }],
};

const scored = (
  { tokens, types, special, before, after }: Vocabulary,
  metadata: Metadata,
): Readonly<Record<string, unknown>> => {
  const scores = metadata.get('tokenizer.ggml.scores');
  if (!Array.isArray(scores) || scores.length !== tokens.length || !scores.every(isScore))
    throw bad('tokenizer.ggml.scores is missing, or is not a number for each token');
  const bytes = Array.from({ length: 256 }, (): number | null => null);
  const closed: number[] = [];
  tokens.forEach((token, id) => {
    const type = types[id] as number;
    const [, byte] = /^<0x([0-9A-F]{2})>$/.exec(token) ?? [];
    if (type === BYTE && byte !== undefined) bytes[Number.parseInt(byte, 16)] = id;
    if (type === BYTE || type === CONTROL || type === UNKNOWN) closed.push(id);
  });
  const addsSpace = flag(metadata, 'add_space_prefix') ?? true;
  const ids = (token: Special | undefined): readonly number[] => (token ? [token.id] : []);
  const model: SentencePieceModel = {
    type: 'SentencePiece',
    vocab: tokens.map((token, id) => [token, scores[id] as number]),
    closed,
    bytes,
    unknown: special.unknown?.id ?? null,
    addsSpace,
    before: ids(before),
    after: ids(after),
  };
  const strip = { type: 'Strip', content: ' ', start: 1, stop: 0 };
  const decoder = { ...PLAIN_DECODER, decoders: [...PLAIN_DECODER.decoders, ...(addsSpace ? [strip] : [])] };
  return { normalizer: null, pre_tokenizer: null, post_processor: null, decoder, model };
};

const text = (metadata: Metadata, key: string): string | undefined => {
  const value = metadata.get(key);
  if (value !== undefined && typeof value !== 'string') throw bad(`${key} is ${shown(value)}, expected a text`);
  return value;
};

const flag = (metadata: Metadata, name: string): boolean | undefined => {
  const value = metadata.get(`tokenizer.ggml.${name}`);
  if (value !== undefined && typeof value !== 'boolean')
    throw bad(`tokenizer.ggml.${name} is ${shown(value)}, expected true or false`);
  return value;
};

const isScore = (value: unknown): boolean => typeof value === 'number' && !Number.isNaN(value);

const strings = (metadata: Metadata, key: string): readonly string[] => {
  const value = metadata.get(key);
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
    throw bad(`${key} is missing or not a list of texts`);
  return value as readonly string[];
};

const mergePair = (merge: string, rank: number): [string, string] => {
  const [left, right, more] = merge.split(' ');
  // Tokens hold no spaces: byte-level BPE writes them as Ġ.
  if (!left || !right || more !== undefined) throw bad(`tokenizer.ggml.merges[${rank}] is ${JSON.stringify(merge)}`);
  return [left, right];
};

interface Special {
  readonly id: number;
  readonly content: string;
}

/** SentencePiece's own ids, for files that do not say. */
const USUAL: Readonly<Record<string, readonly [string, string, number]>> = {
  bos: ['<bos>', '<s>', 1],
  eos: ['<eos>', '</s>', 2],
  unknown: ['<unk>', '<unk>', 0],
};

/** Undefined where the file names none. An id beyond the tokens, such as 4294967295, names none, as in llama.cpp. */
export const specialId = (metadata: Metadata, kind: string): number | undefined => {
  const id = metadata.get(`tokenizer.ggml.${kind}_token_id`);
  if (id === undefined) return undefined;
  if (!Number.isInteger(id)) throw bad(`tokenizer.ggml.${kind}_token_id is ${shown(id)}, expected a whole number`);
  const tokens = metadata.get('tokenizer.ggml.tokens');
  return Array.isArray(tokens) && !((id as number) in tokens) ? undefined : (id as number);
};

const specialTokens = (metadata: Metadata, tokens: readonly string[], types: readonly number[], usual: boolean) => {
  const of = (kind: string): Special | undefined => {
    const id = specialId(metadata, kind) ?? (usual ? usualId(kind, tokens, types) : undefined);
    return id === undefined ? undefined : { id, content: tokens[id] as string };
  };
  return { bos: of('bos'), eos: of('eos'), unknown: of('unknown'), padding: of('padding') };
};

const usualId = (kind: string, tokens: readonly string[], types: readonly number[]): number | undefined => {
  const [first, second, at] = USUAL[kind] ?? ['', '', -1];
  const isSpecial = (id: number): boolean => types[id] === CONTROL || types[id] === UNKNOWN;
  return [tokens.indexOf(first), tokens.indexOf(second), at].find((id) => id >= 0 && isSpecial(id));
};

const preTokenizer = (pre: PreTokenizer): Record<string, unknown> => ({
  type: 'Sequence',
  pretokenizers: [
    ...pre.patterns.map((Regex) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false })),
    ...(pre.plain ? [] : [{ type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false }]),
  ],
});

const postProcessor = (bos: Special | undefined, eos: Special | undefined): Record<string, unknown> | null => {
  const around = [bos, eos].filter((token) => token !== undefined);
  if (around.length === 0) return null;
  const piece = (token: Special | undefined) => (token ? [{ SpecialToken: { id: token.content, type_id: 0 } }] : []);
  const wrapped = (id: string) => [...piece(bos), { Sequence: { id, type_id: 0 } }, ...piece(eos)];
  return {
    type: 'TemplateProcessing',
    single: wrapped('A'),
    pair: [...wrapped('A'), ...wrapped('B')],
    special_tokens: Object.fromEntries(
      around.map(({ id, content }) => [content, { id: content, ids: [id], tokens: [content] }]),
    ),
  };
};

/** generation_config.json's part: what ends a text, which may be more than one token. */
const generation = (metadata: Metadata, tokens: readonly string[]): Record<string, unknown> => {
  const named = ['eos', 'eot', 'eom'].map((kind) => specialId(metadata, kind));
  const known = tokens.flatMap((token, id) => (ENDS.has(token) ? [id] : []));
  const ends = [...new Set([...named.filter((id) => id !== undefined), ...known])];
  const bos = specialId(metadata, 'bos');
  return {
    ...(bos === undefined ? {} : { bos_token_id: bos }),
    ...(ends.length ? { eos_token_id: ends.length === 1 ? ends[0] : ends } : {}),
  };
};
