import { expect, it } from 'vitest';
import { callCli } from '../../testing/run-cli.ts';

it.each([
  ['nowhere/ranges.json', 'no such file or directory'],
  ['package.json/ranges.json', 'not a directory'],
  ['src', 'it is a folder'],
])('refuses to write to %s before it opens a device', async (path, why) => {
  const { status, stdout, stderr } = await callCli('calibrate', '--out', path);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(`cannot write ${path}: `);
  expect(stderr).toContain(why);
  expect(stderr).not.toContain('device:');
});
