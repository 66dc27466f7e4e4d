import { expect, it } from 'vitest';
import { missingRoles } from './missing-roles.ts';
import type { ModelRole } from './system.ts';

const among =
  (...roles: ModelRole[]) =>
  (role: ModelRole): boolean =>
    roles.includes(role);

it('lists the roles for which no model is loaded', () => {
  const steps = { needs: ['target', 'draft', 'prm'] } as const;
  expect(missingRoles(steps, among('target', 'also-1'))).toEqual(['draft', 'prm']);
  expect(missingRoles(steps, among('target', 'draft', 'prm'))).toEqual([]);
});

it('lets members that were named take the place of an ensemble’s draft', () => {
  const ensemble = { needs: ['target', 'draft'], joins: true } as const;
  expect(missingRoles(ensemble, among('target'))).toEqual(['draft']);
  expect(missingRoles(ensemble, among('target', 'draft'))).toEqual([]);
  expect(missingRoles(ensemble, among('target', 'also-1', 'also-2'))).toEqual([]);
});

it('lets a role that is named for it take the place of another', () => {
  const system = { needs: ['target', 'dflash'], instead: { dflash: 'dspark' } } as const;
  expect(missingRoles(system, among('target', 'dspark'))).toEqual([]);
  expect(missingRoles(system, among('target', 'eagle3'))).toEqual(['dflash']);
});
