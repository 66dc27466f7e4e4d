// Each suite's report, as it looks where ../shared is absent.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withoutSharedInPlaywright, withoutSharedInPytest, withoutSharedInVitest } from './absent.mjs';
import { root } from './steps.mjs';

test('vitest: the skipped tests of files that import shared.ts', () => {
  const assertionResults = [{ status: 'passed' }, { status: 'skipped' }, { status: 'pending' }];
  const report = (path: string) => ({ testResults: [{ name: join(root, path), assertionResults }] });
  expect(withoutSharedInVitest(report('src/weights/open.test.ts'))).toBe(2);
  expect(withoutSharedInVitest(report('src/trace/metrics/metrics.test.ts'))).toBe(0);
});

test('playwright: those skipped for that reason, in suites within suites', () => {
  const spec = (description: string) => ({ tests: [{ annotations: [{ type: 'skip', description }] }] });
  const inner = { specs: [spec('../shared is absent'), spec('no adapter')] };
  expect(withoutSharedInPlaywright({ suites: [inner, { specs: [spec('../shared is absent')] }] })).toBe(2);
});

test('pytest: those skipped for that reason', () => {
  const skipped = (why: string) => `<testcase><skipped type="pytest.skip" message="${why}">x</skipped></testcase>`;
  expect(withoutSharedInPytest(skipped('NOT CHECKED against x: ../shared is absent') + skipped('no torch'))).toBe(1);
});
