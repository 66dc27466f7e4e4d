// The input of a judge: the problem, the steps so far and a candidate, as token ids of the judge's own vocabulary. The
// row of the candidate's last id gives the answer.
import type { OutriderError } from '../base/errors.ts';
import { bad, refuse } from '../base/refuse.ts';
import type { Judge, JudgedStep } from '../decode/core/system.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import type { JudgeConfig } from './judge-config.ts';

export interface Laid {
  /** Problem and steps: the same for every candidate. */
  readonly context: readonly number[];
  readonly candidates: readonly (readonly number[])[];
}

/** The prompt, and what was asked in it as plain text; null: nothing but the prompt is known. */
export interface Problem {
  readonly tokens: readonly number[];
  readonly question: string | null;
}

export type LayOut = (
  problem: Problem,
  steps: readonly JudgedStep[],
  candidates: readonly (readonly number[])[],
) => Laid;

/** The judge's own tokenizer, and that of the model whose tokens it is shown. */
export interface Tokenizers {
  readonly own: Tokenizer | null;
  readonly target: Tokenizer | null;
}

/** Who wrote a step, for a router. */
export const NOTES = { draft: 'Model 0: ', target: 'Model 1: ' } as const;

const asTheyAre: LayOut = (problem, steps, candidates) => ({
  context: [...problem.tokens, ...steps.flatMap(({ tokens }) => tokens)],
  candidates,
});

/** A candidate is always the draft's. */
const annotated = ({ own }: Tokenizers, name: string): LayOut => {
  if (!own) throw lacksTokenizer(name, 'notes who wrote each step');
  const notes = { draft: own.encode(NOTES.draft), target: own.encode(NOTES.target) };
  return (problem, steps, candidates) => ({
    context: [...problem.tokens, ...steps.flatMap(({ tokens, by }) => [...notes[by], ...tokens])],
    candidates: candidates.map((tokens) => [...notes.draft, ...tokens]),
  });
};

/**
 * A reward model reads BOS, problem, newline, and steps that each end with the step's token, encoded one by one; a
 * router reads the same with a note before each step. Blank lines that end a step are the step's token. The problem is
 * the question alone, because neither has ever read the target's chat template.
 */
const published = ({ own, target }: Tokenizers, name: string, { stepToken }: JudgeConfig, noted: boolean): LayOut => {
  if (!own) throw lacksTokenizer(name, 'reads text');
  if (!target)
    throw refuse(
      `${name} reads text, and the target has no tokenizer to write its tokens out`,
      'Put tokenizer.json into the target\'s folder, or take a judge that shares its vocabulary ("layout": "prompt").',
    );
  const ending = stepToken === null ? own.encode('\n').slice(-1) : [stepToken];
  const encode = (tokens: readonly number[], by: JudgedStep['by']): number[] => {
    const text = target.decode(tokens).trimEnd();
    return [...own.encode(noted ? NOTES[by] + text : text), ...ending];
  };
  return (problem, steps, candidates) => ({
    context: [
      ...own.encode(`${(problem.question ?? target.decode(problem.tokens)).trim()}\n`, { special: true }),
      ...steps.flatMap(({ tokens, by }) => encode(tokens, by)),
    ],
    candidates: candidates.map((tokens) => encode(tokens, 'draft')),
  });
};

const lacksTokenizer = (name: string, why: string): OutriderError =>
  bad(`${name} ${why} and has no tokenizer`, 'Put its tokenizer.json and tokenizer_config.json into its folder.');

/** `gives`: routers are told who wrote each step. */
export const layoutOf = (config: JudgeConfig, gives: Judge['gives'], name: string, tokenizers: Tokenizers): LayOut => {
  if (config.layout === 'prompt') return asTheyAre;
  if (config.layout === 'annotated') return annotated(tokenizers, name);
  return published(tokenizers, name, config, gives === 'advantage');
};

/**
 * Rows for a text of so many tokens: notes of nine tokens before steps of a dozen, or another vocabulary altogether.
 */
export const rowsFor = ({ layout }: JudgeConfig, tokens: number): number =>
  layout === 'prompt' ? tokens : 2 * tokens + 32;
