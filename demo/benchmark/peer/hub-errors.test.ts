import { expect, it } from 'vitest';
import { hubFault } from './hub-errors.ts';

const model = { name: 'owner/model', base: null, dtype: 'q4', device: 'webgpu' };
const address = 'https://huggingface.co/owner/model/resolve/main/';

it.each([
  [`Unauthorized access to file: "${address}tokenizer.json".`, /no public model named owner\/model/],
  [`Could not locate file: "${address}config.json".`, /no public model named owner\/model/],
  [`Could not locate file: "${address}onnx/model_q4.onnx".`, /no ONNX weights as q4 \(onnx\/model_q4\.onnx\)/],
  ['Failed to fetch', /does not answer \(Failed to fetch\)/],
])('%j is told in our words', (message, told) => {
  const fault = hubFault(new Error(message), model);
  expect(fault).toMatchObject({ code: 'download-failed', message: expect.stringMatching(told) });
  expect(fault?.hint).not.toBe('');
});

it('anything else is left as it was', () => {
  expect(hubFault(new Error('Unsupported model type: mamba9'), model)).toBeNull();
  expect(hubFault(new Error('Failed to fetch'), { ...model, base: '/peers/' })).toBeNull();
});
