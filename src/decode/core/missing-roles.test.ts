import { expect, it } from 'vitest';
import { lacking } from './missing-roles.ts';
import type { ModelRole } from './system.ts';

const among =
  (...roles: ModelRole[]) =>
  (role: ModelRole): boolean =>
    roles.includes(role);

it('lists the roles that nobody fills', () => {
  const steps = { needs: ['target', 'draft', 'prm'] } as const;
  expect(lacking(steps, among('target', 'also-1'))).toEqual(['draft', 'prm']);
  expect(lacking(steps, among('target', 'draft', 'prm'))).toEqual([]);
});

it('lets members that were named take the place of an ensemble’s draft', () => {
  const ensemble = { needs: ['target', 'draft'], joins: true } as const;
  expect(lacking(ensemble, among('target'))).toEqual(['draft']);
  expect(lacking(ensemble, among('target', 'draft'))).toEqual([]);
  expect(lacking(ensemble, among('target', 'also-1', 'also-2'))).toEqual([]);
});
