// Prompt lookup (Saxena 2023; n-gram speculation in vLLM and transformers). Exact, and needs no weights: where the last n
// tokens occurred before, in the prompt or in the answer, what followed them then is the draft. Wins where an answer
// quotes its input. Ours: copies run on into themselves, as in LZ77, so a repetition is drafted to full length.
import { prefill } from '../decode/prefill.ts';
import { chainOf, type Drafter, fallBackKnob, speculate } from '../decode/speculate.ts';
import type { DecodingSystem } from '../decode/system.ts';

const knobs = {
  ngram: { kind: 'number', label: 'Longest match, tokens', min: 1, max: 8, step: 1, initial: 3 },
  gamma: { kind: 'number', label: 'γ, tokens a draft', min: 1, max: 15, step: 1, initial: 7 },
  'fall-back': fallBackKnob,
} as const;

/** Where the continuation of the latest, longest earlier occurrence of the last n tokens begins; -1: there is none. */
export const lookUp = (tokens: readonly number[], ngram: number): number => {
  const end = tokens.length;
  let best = -1;
  let longest = 0;
  for (let at = end - 1; at > 0 && longest < ngram; at--) {
    let length = 0;
    while (length < ngram && length < at && tokens[at - 1 - length] === tokens[end - 1 - length]) length++;
    if (length > longest) [best, longest] = [at, length];
  }
  return best;
};

const copier = (ngram: number, gamma: number): Drafter => ({
  by: 'lookup',
  propose({ tokens }, most) {
    const from = lookUp(tokens, ngram);
    if (from < 0) return null;
    const copied: number[] = [];
    for (let i = 0; i < Math.min(gamma, most); i++)
      copied.push((from + i < tokens.length ? tokens[from + i] : copied[from + i - tokens.length]) as number);
    const tree = chainOf([tokens[tokens.length - 1] as number, ...copied]);
    return { tree, laws: null, nodes: copied.length + 1, passes: 0 };
  },
  observe() {},
});

export default {
  id: 'prompt-lookup',
  title: 'Prompt lookup',
  paper: 'https://github.com/apoorvumang/prompt-lookup-decoding',
  guarantee: 'exact',
  needs: ['target'],
  knobs,
  async start(run) {
    const target = await run.open('target');
    const { first } = await prefill(run, target);
    const { ngram, gamma } = run.knobs;
    const options = { fallBack: run.knobs['fall-back'] === 'on', drawn: false };
    return { first, round: speculate(target, copier(ngram, gamma), run, options) };
  },
} satisfies DecodingSystem<typeof knobs>;
