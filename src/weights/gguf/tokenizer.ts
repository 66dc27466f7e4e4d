// The tokenizer inside a GGUF file as the tokenizer.json and tokenizer_config.json that the tokenizer library reads.
// Byte-level BPE only (`tokenizer.ggml.model` = gpt2): every model of the supported families since 2024 has one.
import { bad } from '../../base/refuse.ts';
import type { TokenizerFiles } from '../checkpoint.ts';
import type { GgufValue } from './container.ts';
import { PRE_TOKENIZERS, type PreTokenizer } from './pre-tokenizers.ts';

type Metadata = ReadonlyMap<string, GgufValue>;

/** `tokenizer.ggml.token_type`, enum llama_token_type. */
const UNKNOWN = 2;
const CONTROL = 3;
const USER_DEFINED = 4;

/** Null when the file has no tokenizer. */
export const ggufTokenizer = (metadata: Metadata): TokenizerFiles | null => {
  const model = metadata.get('tokenizer.ggml.model');
  if (model === undefined || model === 'none' || model === 'no_vocab') return null;
  if (model !== 'gpt2')
    throw bad(
      `the tokenizer ${String(model)} inside the GGUF file is not supported`,
      'Byte-level BPE (gpt2) is. Token ids still work, or use the safetensors version of the model.',
    );
  const name = metadata.get('tokenizer.ggml.pre') ?? 'default';
  if (typeof name !== 'string' || !Object.hasOwn(PRE_TOKENIZERS, name))
    throw bad(`the pre-tokenizer ${String(name)} is not known`, `Known: ${Object.keys(PRE_TOKENIZERS).join(', ')}.`);
  const pre = PRE_TOKENIZERS[name] as PreTokenizer;
  const tokens = strings(metadata, 'tokenizer.ggml.tokens');
  const types = (metadata.get('tokenizer.ggml.token_type') ?? tokens.map(() => 1)) as readonly number[];
  if (types.length !== tokens.length)
    throw bad(`tokenizer.ggml: ${tokens.length} tokens and ${types.length} token types`);
  const special = specialTokens(metadata, tokens);
  const addBos = (metadata.get('tokenizer.ggml.add_bos_token') ?? pre.addsBos ?? false) === true;
  const addEos = metadata.get('tokenizer.ggml.add_eos_token') === true;
  const template = metadata.get('tokenizer.chat_template');
  return {
    tokenizer: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: tokens.flatMap((content, id) => {
        const type = types[id] as number;
        if (type !== CONTROL && type !== UNKNOWN && type !== USER_DEFINED) return [];
        const plain = { single_word: false, lstrip: false, rstrip: false, normalized: false };
        return [{ id, content, ...plain, special: type !== USER_DEFINED }];
      }),
      normalizer: pre.normalizer ? { type: pre.normalizer } : null,
      pre_tokenizer: preTokenizer(pre),
      post_processor: postProcessor(addBos ? special.bos : undefined, addEos ? special.eos : undefined),
      decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
      model: {
        type: 'BPE',
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: pre.ignoreMerges ?? false,
        // fromEntries defines, where an assignment to a token named __proto__ would not.
        vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
        merges: strings(metadata, 'tokenizer.ggml.merges').map(mergePair),
      },
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
      ...(typeof template === 'string' ? { chat_template: template } : {}),
    },
    generation: generation(metadata),
  };
};

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

const specialTokens = (metadata: Metadata, tokens: readonly string[]) => {
  const of = (kind: string): Special | undefined => {
    const id = metadata.get(`tokenizer.ggml.${kind}_token_id`);
    if (id === undefined) return undefined;
    const content = typeof id === 'number' ? tokens[id] : undefined;
    if (content === undefined) throw bad(`tokenizer.ggml.${kind}_token_id is ${String(id)} of ${tokens.length} tokens`);
    return { id: id as number, content };
  };
  return { bos: of('bos'), eos: of('eos'), unknown: of('unknown'), padding: of('padding') };
};

const preTokenizer = (pre: PreTokenizer): Record<string, unknown> => ({
  type: 'Sequence',
  pretokenizers: [
    ...pre.patterns.map((Regex) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false })),
    { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
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
const generation = (metadata: Metadata): Record<string, unknown> => {
  const ids = (kinds: readonly string[]): unknown[] => [
    ...new Set(kinds.map((kind) => metadata.get(`tokenizer.ggml.${kind}_token_id`)).filter((id) => id !== undefined)),
  ];
  const [ends, bos] = [ids(['eos', 'eot', 'eom']), ids(['bos'])];
  return {
    ...(bos.length ? { bos_token_id: bos[0] } : {}),
    ...(ends.length ? { eos_token_id: ends.length === 1 ? ends[0] : ends } : {}),
  };
};
