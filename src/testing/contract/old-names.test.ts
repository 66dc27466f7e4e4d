// The names that the package exported before the renaming still work. To be deleted with 0.2.0, as the names are.
import { expect, expectTypeOf, it } from 'vitest';
import {
  type Beside,
  type DeviceTensor,
  type Held,
  type HeldRow,
  type KeptRow,
  lacking,
  missingRoles,
  type Sidecar,
  SYSTEMS,
} from '../../index.ts';

it('exports functions under their old names', () => {
  expect(lacking).toBe(missingRoles);
  const [system] = SYSTEMS;
  expect(system && lacking(system, () => false)).toEqual(system?.needs);
});

it('exports types under their old names', () => {
  expectTypeOf<Held>().toEqualTypeOf<DeviceTensor>();
  expectTypeOf<HeldRow>().toEqualTypeOf<KeptRow>();
  expectTypeOf<Beside>().toEqualTypeOf<Sidecar>();
});
