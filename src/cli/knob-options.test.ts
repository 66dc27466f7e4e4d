import { expect, test } from 'vitest';
import { SYSTEMS } from '../systems/index.ts';
import { readKnobs } from './knob-options.ts';

const read = (id: string, ...settings: string[]) => {
  const system = SYSTEMS.find((known) => known.id === id);
  if (!system) throw new Error(`no system ${id}`);
  return readKnobs(system, settings);
};

test('a draft size that is given holds for every round', () => {
  expect(read('dflash', 'block-size=4')).toEqual({ 'fall-back': 'off', 'block-size': 4 });
  expect(read('eagle3', 'shape=chain', 'depth=4')).toEqual({ 'fall-back': 'off', shape: 'chain', depth: 4 });
  expect(read('prompt-lookup', 'gamma=7', 'fall-back=on')).toEqual({ 'fall-back': 'on', gamma: 7 });
});

test('without one, or where it follows the acceptance, a run may fall back', () => {
  expect(read('dflash', 'draft=greedy')).toEqual({ draft: 'greedy' });
  expect(read('draft-model', 'gamma=0')).toEqual({ gamma: 0 });
  expect(read('cos', 'gamma=5,1')).toEqual({ gamma: [5, 1] });
});

test('a setting without a value names where the right ones are', () => {
  const hint = 'outrider systems draft-model lists its knobs and their values.';
  expect(() => read('draft-model', 'gamma')).toThrow(expect.objectContaining({ hint }));
});

test('a knob is set once', () => {
  expect(() => read('draft-model', 'gamma=2', 'gamma=3')).toThrow('--set: gamma is given twice');
});
