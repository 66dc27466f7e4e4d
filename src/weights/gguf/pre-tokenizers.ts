// How a text is cut before byte-pair merging, by the name that GGUF gives it (`tokenizer.ggml.pre`). The patterns are
// those of the models' own tokenizer.json files; llama.cpp's src/llama-vocab.cpp has the same list by the same names.

export interface PreTokenizer {
  /** Applied one after the other, each to what the one before left whole. */
  readonly patterns: readonly string[];
  /** A piece that is a token is not taken apart to be merged again. */
  readonly ignoreMerges?: true;
  /** Where the file does not say (`tokenizer.ggml.add_bos_token`). */
  readonly addsBos?: true;
  /** The vocabulary is written in plain text with `▁` for a space, not in GPT-2's byte alphabet. */
  readonly plain?: true;
}

/** White space as Unicode has it. JavaScript's \s lacks U+0085 and has U+FEFF. */
const SPACES = '\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

/** `\s` and `\S` written out; no pattern here has `\S` in a class. */
const unicode = (pattern: string): string => {
  let inClass = false;
  return pattern.replace(/\\[sS]|\\.|[[\]]/gs, (part) => {
    if (part === '[' || part === ']') inClass = part === '[';
    if (part === '\\s') return inClass ? SPACES : `[${SPACES}]`;
    return part === '\\S' ? `[^${SPACES}]` : part;
  });
};

const GPT2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
const CONTRACTIONS = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])";
const END = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
/** `digits`, and what counts as a letter, is all that differs between the Llama 3 and Qwen patterns. */
const wordsAnd = (digits: string, letters = '\\p{L}', end = END): string =>
  `${CONTRACTIONS}|[^\\r\\n\\p{L}\\p{N}]?[${letters}]+|${digits}| ?[^\\s${letters}\\p{N}]+[\\r\\n]*|${end}`;
const UPPER = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
const LOWER = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';
/** Words are also cut where the case changes (Tekken, GPT-4o). */
const casedAnd = (digits: string, suffix: string, upper = UPPER, lower = LOWER): string =>
  `[^\\r\\n\\p{L}\\p{N}]?${upper}*${lower}+${suffix}|[^\\r\\n\\p{L}\\p{N}]?${upper}+${lower}*${suffix}|${digits}` +
  `| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${END}`;
/** Three digits at a time, counted from the right. */
const THOUSANDS = '\\p{Nd}{1,3}(?=(?:\\p{Nd}{3})*(?!\\p{Nd}))';
/** Oniguruma's \w without digits: before one of these, digits do not end a word. */
const LETTERS = '\\p{Alphabetic}\\p{M}\\p{Pc}\\xb2\\xb3\\xb9\\xbc-\\xbe';
const PUNCTUATED = '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+';
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

const HAN_AND_KANA = '[一-龥\u3040-ゟ゠-ヿ]+';

const gpt2: PreTokenizer = { patterns: [GPT2] };
const digitByDigit: PreTokenizer = { patterns: ['\\p{N}', GPT2] };
const qwen2: PreTokenizer = { patterns: [wordsAnd('\\p{N}')] };
const threeDigits: PreTokenizer = { patterns: [wordsAnd('\\p{N}{1,3}')] };
const llama3: PreTokenizer = { ...threeDigits, ignoreMerges: true, addsBos: true };
const glm: PreTokenizer = { ...threeDigits, ignoreMerges: true };
const gpt4o: PreTokenizer = { patterns: [casedAnd('\\p{N}{1,3}', `${CONTRACTIONS}?`)] };
const bloom: PreTokenizer = { patterns: [' ?[^\\s|.,!?…。，、।۔،()]+'] };
const deepseek3: PreTokenizer = {
  patterns: ['\\p{N}{1,3}', HAN_AND_KANA, `${PUNCTUATED}| ?[\\p{P}\\p{S}]+[\\r\\n]*|${END}`],
};
const bailing: PreTokenizer = {
  patterns: [wordsAnd('\\p{N}', '\\p{L}', '\\s*[\\r\\n]|\\s+(?!\\S)|\\s+')],
};
const tinyAya: PreTokenizer = {
  patterns: [`(?!\\p{Nd}+[${LETTERS}])${THOUSANDS}`, casedAnd('\\p{N}{1,3}', `${CONTRACTIONS}?`)],
};
/** SentencePiece's way with byte-pair merges: whole lines are merged. */
const lines: PreTokenizer = { patterns: ['[^\\n]+|\\n+'], plain: true };
const NOT_HAN = '(?!\\p{Script=Han})';

const LISTED: Readonly<Record<string, PreTokenizer>> = {
  default: { patterns: ['[\\p{P}$+<=>^~|]+', GPT2, '\\p{N}+', '[0-9][0-9][0-9]'] },
  smollm: digitByDigit,
  starcoder: digitByDigit,
  refact: digitByDigit,
  'command-r': digitByDigit,
  codeshell: digitByDigit,
  exaone: digitByDigit,
  'minerva-7b': digitByDigit,
  mellum2: digitByDigit,
  qwen35: { patterns: [wordsAnd('\\p{N}', '\\p{L}\\p{M}')] },
  'smaug-bpe': threeDigits,
  dbrx: threeDigits,
  'chatglm-bpe': threeDigits,
  glm4: glm,
  glm5: glm,
  'jais-2': {
    patterns: [
      wordsAnd(
        '\\p{N}{1,3}',
        '\\p{L}',
        `\\s*[\\r\\n]+|${[512, 256, 128, 64, 32, 16, 8, 4].map((n) => `\\s{${n}}(?!\\S)|`).join('')}\\s{1,2}(?!\\S)|\\s`,
      ),
    ],
  },
  minicpm5: { patterns: ['\\p{N}{1,3}', wordsAnd('\\p{N}+')], ignoreMerges: true },
  tekken: { patterns: [casedAnd('\\p{N}', '')], ignoreMerges: true, addsBos: true },
  'granite-embed-multi-97m': { ...gpt4o, ignoreMerges: true },
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
  spark2_5: {
    patterns: ['\\p{N}{1,3}', HAN_AND_KANA, `${PUNCTUATED}| ?[\\p{P}\\p{S}]+|[\\r\\n]|\\s+(?!\\S)|\\s+`, '\\p{N}'],
  },
  youtu: {
    patterns: [
      `[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|${HAN_AND_KANA}`,
      casedAnd('\\p{N}', `${CONTRACTIONS}?`),
    ],
    ignoreMerges: true,
  },
  viking: { patterns: [...bloom.patterns, '\\p{N}'] },
  chameleon: {
    patterns: ['<sentinel:[0-9]+>', 'IMGIMG[A-I]{1,4}Z', '[\\t\\n]|    |  ', '\\p{N}', '[\\p{P}!-/:-@\\[-`{-~]', GPT2],
    addsBos: true,
  },
  superbpe: { patterns: ['\\p{N}+', THOUSANDS] },
  'seed-coder': {
    patterns: [`${CONTRACTIONS}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|${END}`],
  },
  ufakzeka: {
    patterns: [`[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|${END}`],
  },
  laguna: { patterns: ['[^\\n]+|\\n+', wordsAnd('\\p{N}')] },
  afmoe: {
    patterns: [
      THOUSANDS,
      '[一-鿿㐀-䶿豈-\ufaff\u3040-ゟ゠-ヿ･-ﾟ⼀-\u2fdfเ-\u0e7f\u0e80-\u0effក-\u17ffက-႟ꩠ-ꩿꧠ-\ua9ff가-\ud7afᄀ-ᇿ]+',
      ...deepseek3.patterns.slice(2),
    ],
  },
  'exaone-moe': {
    patterns: [
      `${CONTRACTIONS}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}\\p{M}*(?: ?\\p{L}\\p{M}*)*|\\p{N}` +
        '| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+',
    ],
  },
  'kimi-k2': {
    patterns: [
      '\\p{Script=Han}+',
      casedAnd('\\p{N}{1,3}', `${CONTRACTIONS}?`, `(?:${NOT_HAN}${UPPER})`, `(?:${NOT_HAN}${LOWER})`).replace(
        '[\\r\\n/]*',
        '[\\r\\n]*',
      ),
    ],
  },
  whitespace: { patterns: ['\\S+'], plain: true },
  gemma4: { ...lines, ignoreMerges: true, addsBos: true },
  'granite-embed-multi-311m': { ...lines, ignoreMerges: true, addsBos: true },
  'sarvam-moe': lines,
};

/** Names that share a pattern with others. */
const SHARED: readonly (readonly [PreTokenizer, string])[] = [
  [
    gpt2,
    'gpt-2 phi-2 olmo mpt mellum gigachat trillion jais jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code ' +
      'roberta-bpe modern-bert a.x-4.0 exaone4 granite-docling',
  ],
  [qwen2, 'qwen2 deepseek-r1-qwen kormo f2llmv2 stablelm2 hunyuan megrez solar-open grok-2'],
  [llama3, 'llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano'],
  [gpt4o, 'gpt-4o llama4 kanana2 talkie minimax-m2'],
  [deepseek3, 'deepseek-v3 hunyuan-dense hy_v4 joyai-llm'],
  [bailing, 'bailingmoe bailingmoe2 llada-moe'],
  [tinyAya, 'tiny_aya cohere2moe'],
  [bloom, 'bloom gpt3-finnish poro-chat'],
];

const named: readonly (readonly [string, PreTokenizer])[] = [
  ...Object.entries(LISTED),
  ...SHARED.flatMap(([pre, names]) => names.split(' ').map((name) => [name, pre] as const)),
];

export const PRE_TOKENIZERS: Readonly<Record<string, PreTokenizer>> = Object.fromEntries(
  named.map(([name, pre]) => [name, { ...pre, patterns: pre.patterns.map(unicode) }]),
);
