// The prompts of a suite, or the visitor's own: JSON in the form of published sets, or text with a blank line between
// prompts.
import { type BenchPrompt, readPrompts, readSuite, type SuiteName, suiteFile } from '../../../src/cli/bench/report.ts';
import { OutriderError } from '../../../src/index.ts';

export const SUITES: Readonly<Record<SuiteName | 'own', string>> = {
  'bundled-math': 'Bundled problems, with known answers',
  'bundled-math-hard': 'Hard bundled problems, with known answers',
  'bundled-copy': 'Bundled problems that appear twice, so that text repeats',
  copy: 'Passages to repeat, for any chat model',
  own: 'Your own prompts',
};

export type SuiteChoice = keyof typeof SUITES;

export const isSuite = (name: string): name is SuiteChoice => Object.hasOwn(SUITES, name);

/** Reads prompts that were typed or opened from a file; `name` appears in errors. */
export const readOwn = (text: string, name: string): readonly BenchPrompt[] => {
  const trimmed = text.trim();
  if (trimmed === '')
    throw new OutriderError('bad-request', `${name}: there are no prompts`, 'Type a prompt, or open a file.');
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
