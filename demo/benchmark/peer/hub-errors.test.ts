import { expect, it } from 'vitest';
import { hubFault } from './hub-errors.ts';

const model = { name: 'owner/model', base: null, dtype: 'q4', device: 'webgpu' };
const address = 'https://huggingface.co/owner/model/resolve/main/';

it.each([
  [`Unauthorized access to file: "${address}tokenizer.json".`, /no public model named owner\/model/],
  [`Could not locate file: "${address}config.json".`, /no public model named owner\/model/],
  [`Could not locate file: "${address}onnx/model_q4.onnx".`, /no ONNX weights of type q4 \(onnx\/model_q4\.onnx\)/],
  ['Failed to fetch', /does not respond \(Failed to fetch\)/],
])('%j is explained', (message, explained) => {
  const fault = hubFault(new Error(message), model);
  expect(fault).toMatchObject({ code: 'download-failed', message: expect.stringMatching(explained) });
  expect(fault?.hint).not.toBe('');
});

it('other errors are left unchanged', () => {
  expect(hubFault(new Error('Unsupported model type: mamba9'), model)).toBeNull();
  expect(hubFault(new Error('Failed to fetch'), { ...model, base: '/peers/' })).toBeNull();
});
