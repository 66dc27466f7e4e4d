import { afterEach, expect, it, vi } from 'vitest';
import { bundledTokenizer } from '../testing/toys/text-engine.ts';
import { ConstraintCompiler } from './compile.ts';
import { loadXGrammar } from './xgrammar.ts';

afterEach(() => vi.restoreAllMocks());

it('frees grammars, compiler and vocabulary with the model that they were for', async () => {
  const { CompiledGrammar, GrammarCompiler, TokenizerInfo } = await loadXGrammar();
  const freed = [CompiledGrammar, GrammarCompiler, TokenizerInfo].map((kind) => vi.spyOn(kind.prototype, 'dispose'));
  const counts = () => freed.map(({ mock }) => mock.calls.length);
  const reader = async () => {
    const tokenizer = await bundledTokenizer();
    return { tokenizer, marks: new Map(), vocabulary: tokenizer.vocabulary, stopTokens: new Set(tokenizer.eos) };
  };
  const compiler = new ConstraintCompiler();
  const [first, second] = [await reader(), await reader()];
  const compile = (choice: string, of = first) => compiler.compile({ choice: [choice] }, of);
  await compile('yes');
  await compile('no');
  expect((await compile('yes')).cached).toBe(true);
  expect(counts()).toEqual([0, 0, 0]);
  expect((await compile('yes', second)).cached).toBe(false);
  expect(counts()).toEqual([2, 1, 1]);
  compiler[Symbol.dispose]();
  await vi.waitFor(() => expect(counts()).toEqual([3, 2, 2]));
  expect((await compile('yes')).cached).toBe(false);
});
