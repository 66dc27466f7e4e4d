// The true answers of published sets, and whether a text gives them: a number (GSM8K, SVAMP), or what stands in
// \boxed{…} (MATH). The bundled family ends with a sentence of its own.

export type AnswerForm = 'sentence' | 'number' | 'boxed';

type Entry = Readonly<Record<string, unknown>>;

/** What an entry of a published set gives as its answer; null where it gives none. */
export const publishedAnswer = (entry: Entry): { readonly result: string; readonly form: AnswerForm } | null => {
  const { answer, Answer, problem } = entry;
  if (typeof Answer === 'number') return { result: `${Answer}`, form: 'number' };
  if (typeof answer !== 'string') return null;
  const [, number] = /####\s*(\S+)\s*$/.exec(answer) ?? [];
  if (number !== undefined) return { result: number, form: 'number' };
  return typeof problem === 'string' ? { result: answer, form: 'boxed' } : null;
};

/** The last number of a text; thousands may be grouped by commas. */
const lastNumber = (text: string): number | null => {
  const found = text.match(/-?\d[\d,]*(?:\.\d+)?/g)?.at(-1);
  return found === undefined ? null : Number(found.replaceAll(',', ''));
};

/** The content of the last \boxed{…}, whose braces may be nested. */
const lastBoxed = (text: string): string | null => {
  const start = text.lastIndexOf('\\boxed{');
  if (start < 0) return null;
  const from = start + '\\boxed{'.length;
  let depth = 1;
  for (let i = from; i < text.length; i++) {
    if (text[i] === '{') depth++;
    if (text[i] === '}' && --depth === 0) return text.slice(from, i);
  }
  return null;
};

/** Spellings of one formula: other spaces, sizes of brackets, dollars, and forms of fractions. */
const plainFormula = (formula: string): string =>
  formula
    .replace(/\\(left|right|,|!|;| )/g, '')
    .replace(/\\[dt]frac/g, '\\frac')
    .replace(/\\text\{([^}]*)\}/g, '$1')
    .replace(/[\s$]/g, '')
    .replace(/\.$/, '');

const CHECKS: Readonly<Record<AnswerForm, (text: string, result: string) => boolean>> = {
  sentence: (text, result) => /The answer is (\d+)\.\s*$/.exec(text)?.[1] === result,
  number: (text, result) => {
    const [said, truth] = [lastNumber(text), lastNumber(result)];
    return said !== null && truth !== null && Math.abs(said - truth) < 1e-6;
  },
  boxed: (text, result) => {
    const said = lastBoxed(text);
    return said !== null && plainFormula(said) === plainFormula(result);
  },
};

/** `sentence`: as training/bundled/checker.py reads it. */
export const givesAnswer = (text: string, result: string, form: AnswerForm): boolean => CHECKS[form](text, result);
