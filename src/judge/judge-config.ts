// What a judge's config.json says besides the network: how its input is laid out and what its answer means. Published
// checkpoints have no such fields, so their absence means the published layout.
import { bad } from '../base/refuse.ts';

/**
 * `prompt`: the very tokens: prompt, steps, candidate. `annotated`: the same with "Model 0: " before each step of the
 * draft's and "Model 1: " before each of the target's, in the judge's own tokens. `published`: the text, through the
 * judge's own tokenizer.
 */
const LAYOUTS = ['prompt', 'annotated', 'published'] as const;
export type Layout = (typeof LAYOUTS)[number];

const MEANINGS = ['reward', 'advantage'] as const;
type Meaning = (typeof MEANINGS)[number];

export interface JudgeConfig {
  readonly layout: Layout;
  /** Null: by its head. A value is a reward; classes are a router's. */
  readonly gives: Meaning | null;
  /** Ends a step in the published layout; null: the newline. */
  readonly stepToken: number | null;
}

const oneOf = <T extends string>(name: string, value: unknown, known: readonly T[]): T | null => {
  if (value === undefined || value === null) return null;
  const found = known.find((each) => each === value);
  if (found) return found;
  const message = `config.json: ${name} is ${JSON.stringify(value)}; expected one of ${known.join(', ')}`;
  throw bad(message);
};

export const readJudgeConfig = (json: Readonly<Record<string, unknown>>): JudgeConfig => {
  const step = json.step_token_id ?? null;
  if (step !== null && !(Number.isInteger(step) && (step as number) >= 0))
    throw bad(`config.json: step_token_id is ${JSON.stringify(step)}`);
  return {
    layout: oneOf('layout', json.layout, LAYOUTS) ?? 'published',
    gives: oneOf('gives', json.gives, MEANINGS),
    stepToken: step as number | null,
  };
};
