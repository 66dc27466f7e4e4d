// How the next token is drawn, and how many there may be: one setting for every run that the page makes.
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
