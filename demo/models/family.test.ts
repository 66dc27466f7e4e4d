import { expect, test } from 'vitest';
import { parseNumbers } from '../systems/knob-panel.ts';
import { Family } from './family.ts';

const dflash = { needs: ['target', 'dflash'] } as const;
const plain = { needs: ['target'] } as const;

test('bundled drafters serve the target that they were made for, and no other', () => {
  const family = new Family({ label: '', source: 'target' });
  expect(family.missing(dflash)).toEqual([]);
  expect(family.sources(dflash, [])).toEqual({ target: 'target', dflash: 'dflash' });
  expect(family.sources(plain, ['target', 'dflash'])).toEqual({ target: 'target', dflash: 'dflash' });
  const draftOnly = new Family({ label: '', source: 'mid' });
  expect(draftOnly.missing(dflash)).toEqual(['dflash']);
  expect(draftOnly.missing({ needs: ['target', 'draft'] })).toEqual([]);
});

test('step systems load their judge and what makes the target faster; ensembles load their members', () => {
  let family = new Family({ label: '', source: 'target' });
  const rsd = { needs: ['target', 'draft', 'prm'], uses: ['dflash', 'policy'] } as const;
  expect(family.rolesOf(rsd)).toEqual(['target', 'draft', 'prm', 'dflash', 'policy']);
  expect(new Family({ label: '', source: 'mid' }).missing(rsd)).toEqual(['prm']);
  const ensemble = { needs: ['target', 'draft'], joins: true } as const;
  expect(family.rolesOf(ensemble)).toEqual(['target', 'draft']);
  family = family.with('also-1', { label: '', source: 'mid' });
  expect(family.rolesOf(ensemble)).toEqual(['target', 'draft', 'also-1']);
  family.setMembers([
    { label: '', source: 'mid' },
    { label: '', source: 'draft' },
  ]);
  expect(family.sources(ensemble, ['target'])).toMatchObject({ 'also-1': 'mid', 'also-2': 'draft' });
  family.setMembers([]);
  expect([family.hasMembers, family.rolesOf(ensemble)]).toEqual([false, ['target', 'draft']]);
});

test("a visitor's drafter replaces the bundled one", () => {
  const own = { kind: 'url', url: 'https://example.org/drafter/' } as const;
  const alone = new Family({ label: '', source: { kind: 'url', url: 'https://example.org/model.gguf' } });
  expect(alone.missing(dflash)).toEqual(['dflash']);
  const family = alone.with('dflash', { label: '', source: own });
  expect(family.missing(dflash)).toEqual([]);
  expect(family.sources(dflash, []).dflash).toEqual(own);
  expect(alone.missing(dflash)).toEqual(['dflash']);
  expect(family.with('target', { label: '', source: 'mid' }).missing(dflash)).toEqual(['dflash']);
});

test('a remote target replaces the local one for systems that can use it', () => {
  const far = { kind: 'remote', address: 'https://example.org', model: 'big' } as const;
  const family = new Family({ label: '', source: 'target' }).with('remote', { label: '', source: far });
  const rsd = { needs: ['target', 'draft', 'prm'], uses: ['dflash'], remote: true } as const;
  expect(family.sources(rsd, [])).toEqual({ remote: far, draft: 'draft', prm: 'prm' });
  expect(family.sources(plain, [])).toEqual({ target: 'target' });
});

test('a list of numbers may be separated by commas or spaces', () => {
  const limits = { min: 1, max: 16 };
  expect(parseNumbers('1, 4,8  16', limits)).toEqual([1, 4, 8, 16]);
  expect(parseNumbers('0.25, 0.75', { min: 0, max: 1, step: 0.05 })).toEqual([0.25, 0.75]);
  for (const wrong of ['', '1, 17', '0', '2.5', 'four']) expect(parseNumbers(wrong, limits)).toBeNull();
});
