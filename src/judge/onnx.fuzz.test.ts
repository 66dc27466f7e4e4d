// ONNX files come from strangers. Damaged ones are opened and run: the outcome is a network or `bad-checkpoint`, soon.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import { writeOnnx } from '../testing/files/onnx-writer.ts';
import { inputs, Watch } from '../testing/fuzz/inputs.ts';
import { mutateBytes } from '../testing/fuzz/mutate-bytes.ts';
import { random } from '../testing/fuzz/random.ts';
import { openOnnx, openTextOnnx } from './onnx.ts';

const SEED = 20_261_132;
const INPUTS = inputs(150);

const policy = new Uint8Array(readFileSync(resolve(import.meta.dirname, '../../public/models/blockpilot/policy.onnx')));
/** As public/models/blockpilot/config.json has it. */
const shape = { input: { name: 'features', width: 512 }, output: { name: 'tau', width: 8 } };
const text = writeOnnx({
  nodes: [{ op: 'Gather', inputs: ['table', 'input_ids'], output: 'rows' }],
  constants: { table: { shape: [4, 2], values: new Float32Array(8) } },
  inputs: ['input_ids'],
  output: { name: 'rows', shape: [1, 'length', 2] },
});

it(`${INPUTS} damaged ONNX files: a network or bad-checkpoint`, async () => {
  const below = random(SEED);
  const watch = new Watch();
  const messages = new Set<string>();
  let good = 0;
  for (let i = 0; i < INPUTS; i++) {
    const isText = below(2) === 0;
    const whole = isText ? text : policy;
    let file = mutateBytes(whole, 400, below);
    for (let more = below(3); more > 0; more--) file = mutateBytes(file, 400, below);
    try {
      await watch.input(async () => {
        if (isText) {
          using network = await openTextOnnx('x.onnx', file);
          await network.run([1, 2, 3]);
        } else {
          using network = await openOnnx('x.onnx', file, shape);
          await network.run(new Float32Array(shape.input.width));
        }
      });
      good++;
    } catch (error) {
      if (!(error instanceof OutriderError) || error.code !== 'bad-checkpoint')
        throw new Error(`input ${i}: ${Buffer.from(file).toString('base64').slice(0, 2000)}`, { cause: error });
      messages.add(error.message.replaceAll(/[\d.]+/g, '#').slice(0, 200));
    }
  }
  console.log(`${INPUTS} damaged ONNX files: ${good} run, refused in ${messages.size} ways, ${watch}`);
  expect(good).toBeGreaterThan(INPUTS / 100);
  expect(messages.size).toBeGreaterThan(3);
  watch.check();
}, 900_000);
