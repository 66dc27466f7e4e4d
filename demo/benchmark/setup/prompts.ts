// The prompts of a suite, or the visitor's own: JSON as published sets have it, or plain text with blank lines between.
import { type BenchPrompt, readPrompts, readSuite, type SuiteName, suiteFile } from '../../../src/cli/bench/report.ts';
import { OutriderError } from '../../../src/index.ts';

export const SUITES: Readonly<Record<SuiteName | 'own', string>> = {
  'bundled-math': 'Bundled problems, with known answers',
  'bundled-math-hard': 'Hard bundled problems, with known answers',
  'bundled-copy': 'Bundled problems asked twice, to be quoted',
  copy: 'Passages to be repeated, for any chat model',
  own: 'My own prompts',
};

export type SuiteChoice = keyof typeof SUITES;

export const isSuite = (name: string): name is SuiteChoice => Object.hasOwn(SUITES, name);

/** What was typed, or was in a file. */
export const readOwn = (text: string, name: string): readonly BenchPrompt[] => {
  const trimmed = text.trim();
  if (trimmed === '')
    throw new OutriderError('bad-request', `${name}: there are no prompts`, 'Type one, or open a file.');
  if (/^[[{"]/.test(trimmed)) return readPrompts(trimmed, name);
  const asked = trimmed.split(/\n\s*\n/).map((content) => content.trim());
  return asked.map((content) => ({ prompt: { messages: [{ role: 'user', content }] }, result: null }));
};

export const promptsOf = async (
  suite: SuiteChoice,
  own: { readonly text: string; readonly name: string },
  count: number,
): Promise<readonly BenchPrompt[]> => {
  if (suite === 'own') return readOwn(own.text, own.name).slice(0, count);
  const response = await fetch(new URL(suiteFile(suite), document.baseURI));
  if (!response.ok)
    throw new OutriderError('download-failed', `${suiteFile(suite)}: HTTP ${response.status}`, 'Reload the page.');
  return readSuite(suite, await response.text()).slice(0, count);
};
