// How a text is cut before byte-pair merging, by the name that GGUF gives it (`tokenizer.ggml.pre`). The patterns are
// those of the models' own tokenizer.json files; llama.cpp's src/llama-vocab.cpp has the same list by the same names.

export interface PreTokenizer {
  /** Applied one after the other, each to what the one before left whole. */
  readonly patterns: readonly string[];
  /** A piece that is a token is not taken apart to be merged again. */
  readonly ignoreMerges?: true;
  /** Where the file does not say (`tokenizer.ggml.add_bos_token`). */
  readonly addsBos?: true;
  readonly normalizer?: 'NFC';
}

const GPT2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
/** `digits` is all that differs between the Llama 3 and Qwen 2 patterns. */
const CONTRACTIONS = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])";
const wordsAnd = (digits: string): string =>
  `${CONTRACTIONS}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;
const UPPER = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
const LOWER = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';
/** Words are also cut where the case changes (Tekken, GPT-4o). */
const casedAnd = (digits: string, suffix: string): string =>
  `[^\\r\\n\\p{L}\\p{N}]?${UPPER}*${LOWER}+${suffix}|[^\\r\\n\\p{L}\\p{N}]?${UPPER}+${LOWER}*${suffix}|${digits}` +
  '| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
/**
 * Letters that have a case, as DeepSeek LLM's tokenizer.json lists them: code points, some of which no editor keeps.
 */
const CASED_LETTERS = (
  '41-5A 61-7A B5 C0-D6 D8-F6 F8-1BA 1BC-1BF 1C4-293 295-2AF 370-373 376 377 37B-37D 37F 386 388-38A ' +
  '38C 38E-3A1 3A3-3F5 3F7-481 48A-52F 531-556 10A0-10C5 13A0-13F5 13F8-13FD 1C90-1CBA 1CBD-1CBF ' +
  '1D00-1D2B 1D6B-1D77 1D79-1D9A 1E00-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D 1F50-1F57 1F59 1F5B 1F5D ' +
  '1F5F-1F7D 1F80-1FB4 1FB6-1FBC 1FBE 1FC2-1FC4 1FC6-1FCC 1FD0-1FD3 1FD6-1FDB 1FE0-1FEC 1FF2-1FF4 ' +
  '1FF6-1FFC 2102 2107 210A-2113 2115 2119-211D 2124 2126 2128 212A-212D 212F-2134 2139 213C-213F ' +
  '2145-2149 214E 2183 2184 2C00-2C7B 2C7E-2CE4 2CEB-2CEE 2CF2 2CF3 A640-A66D A680-A69B A722-A76F ' +
  'A771-A787 A78B-A78E AB70-ABBF FB00-FB06 FB13-FB17 FF21-FF3A FF41-FF5A 10400-1044F 104B0-104D3 ' +
  '104D8-104FB 10C80-10CB2 10CC0-10CF2 118A0-118DF 1E900-1E943'
)
  .replace(/[0-9A-F]+/g, (code) => String.fromCodePoint(Number.parseInt(code, 16)))
  .replaceAll(' ', '');
const EAST_ASIAN = '[一-龥ࠀ-一가-\ud7ff]+';

const gpt2: PreTokenizer = { patterns: [GPT2] };
const digitByDigit: PreTokenizer = { patterns: ['\\p{N}', GPT2] };
const qwen2: PreTokenizer = { patterns: [wordsAnd('\\p{N}')] };
const llama3: PreTokenizer = { patterns: [wordsAnd('\\p{N}{1,3}')], ignoreMerges: true, addsBos: true };
const deepseek3: PreTokenizer = {
  patterns: [
    '\\p{N}{1,3}',
    '[一-龥\u3040-ゟ゠-ヿ]+',
    '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+' +
      '| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+',
  ],
};

export const PRE_TOKENIZERS: Readonly<Record<string, PreTokenizer>> = {
  default: { patterns: ['[\\p{P}$+<=>^~|]+', GPT2, '\\p{N}+', '[0-9][0-9][0-9]'] },
  'gpt-2': gpt2,
  'phi-2': gpt2,
  olmo: gpt2,
  mpt: gpt2,
  mellum: gpt2,
  gigachat: gpt2,
  trillion: gpt2,
  smollm: digitByDigit,
  starcoder: digitByDigit,
  refact: digitByDigit,
  'command-r': digitByDigit,
  codeshell: digitByDigit,
  exaone: digitByDigit,
  'minerva-7b': digitByDigit,
  // Qwen's own tokenizer composes characters first; the others that share its pattern do not.
  qwen2: { ...qwen2, normalizer: 'NFC' },
  'deepseek-r1-qwen': qwen2,
  stablelm2: qwen2,
  hunyuan: qwen2,
  megrez: qwen2,
  'llama-bpe': llama3,
  llama3,
  'llama-v3': llama3,
  falcon3: llama3,
  pixtral: llama3,
  'smaug-bpe': { patterns: llama3.patterns },
  dbrx: { patterns: llama3.patterns },
  'chatglm-bpe': { patterns: llama3.patterns },
  glm4: { patterns: llama3.patterns },
  tekken: { patterns: [casedAnd('\\p{N}', '')], ignoreMerges: true, addsBos: true },
  'gpt-4o': { patterns: [casedAnd('\\p{N}{1,3}', `${CONTRACTIONS}?`)] },
  falcon: { patterns: ['[\\p{P}$+<=>^~|`]+', GPT2, '[0-9][0-9][0-9]'] },
  'deepseek-llm': {
    patterns: [
      '[\\r\\n]',
      `\\s?[${CASED_LETTERS}]+`,
      '\\s?[!-/:-~！-／：-～‘-‟\u3000-。]+',
      '\\s+$',
      EAST_ASIAN,
      '\\p{N}+',
    ],
  },
  'deepseek-coder': { patterns: ['[\\r\\n]', '\\s?\\p{L}+', '\\s?\\p{P}+', EAST_ASIAN, '\\p{N}'] },
  'deepseek-v3': deepseek3,
  'hunyuan-dense': deepseek3,
};
