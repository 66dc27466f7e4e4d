// The sampling settings and the token limit, which apply to every run of the page.
import type { RunRequest } from '../../src/index.ts';
import { element } from './elements.ts';

const number = (id: string, absent: number): number => {
  const value = element(id, HTMLInputElement).valueAsNumber;
  return Number.isNaN(value) ? absent : value;
};

export const sampling = () =>
  ({
    maxTokens: number('max-tokens', 256),
    temperature: number('temperature', 0),
    topP: number('top-p', 1),
    seed: number('seed', 0),
  }) satisfies Partial<RunRequest>;
