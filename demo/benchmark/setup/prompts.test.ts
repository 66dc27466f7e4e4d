import { expect, it } from 'vitest';
import { readOwn } from './prompts.ts';
import { readVariants } from './system-boxes.ts';

const texts = (text: string) =>
  readOwn(text, 'mine').map(({ prompt }) => ('messages' in prompt ? prompt.messages[0]?.content : null));

it('own prompts are text with a blank line between them, or JSON', () => {
  expect(texts('one\nline more\n\n\ntwo\n')).toEqual(['one\nline more', 'two']);
  expect(texts('{"prompt":"one"}\n"two"')).toEqual(['one', 'two']);
  expect(readOwn('{"question":"2+2?","result":"4"}', 'mine')[0]?.result).toBe('4');
  expect(() => readOwn(' \n', 'mine')).toThrow('mine: there are no prompts');
  expect(() => readOwn('"ok"\n{', 'my.jsonl')).toThrow('my.jsonl:2: not JSON');
});

it('a variant is a system with settings', () => {
  expect(readVariants('dflash:block-size=4, rsd ').map(({ name }) => name)).toEqual(['dflash:block-size=4', 'rsd']);
  expect(() => readVariants('warp')).toThrow('there is no system "warp"');
});
