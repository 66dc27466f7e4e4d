import { expect, test } from 'vitest';
import { Family } from './family.ts';
import { parseNumbers } from './knob-panel.ts';

const dflash = { needs: ['target', 'dflash'] } as const;
const plain = { needs: ['target'] } as const;

test('bundled drafters join the target that they were made for, and no other', () => {
  const family = new Family({ label: '', source: 'target' });
  expect(family.missing(dflash)).toEqual([]);
  expect(family.sources(dflash, [])).toEqual({ target: 'target', dflash: 'dflash' });
  expect(family.sources(plain, ['target', 'dflash'])).toEqual({ target: 'target', dflash: 'dflash' });
  const draftOnly = new Family({ label: '', source: 'mid' });
  expect(draftOnly.missing(dflash)).toEqual(['dflash']);
  expect(draftOnly.missing({ needs: ['target', 'draft'] })).toEqual([]);
});

test("a visitor's drafter comes before the bundled one", () => {
  const own = { kind: 'url', url: 'https://example.org/drafter/' } as const;
  const family = new Family({ label: '', source: { kind: 'url', url: 'https://example.org/model.gguf' } });
  expect(family.missing(dflash)).toEqual(['dflash']);
  family.add('dflash', { label: '', source: own });
  expect(family.missing(dflash)).toEqual([]);
  expect(family.sources(dflash, []).dflash).toEqual(own);
});

test('several numbers are read as people write them', () => {
  const limits = { min: 1, max: 16 };
  expect(parseNumbers('1, 4,8  16', limits)).toEqual([1, 4, 8, 16]);
  for (const wrong of ['', '1, 17', '0', '2.5', 'four']) expect(parseNumbers(wrong, limits)).toBeNull();
});
