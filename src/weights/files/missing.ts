// The error of a file that a model cannot do without. Of a model on the web its address is the likely mistake, so the
// message has it whole.
import { OutriderError } from '../../base/errors.ts';
import { bad } from '../../base/refuse.ts';
import type { FileSet } from './byte-source.ts';

const MODEL = 'A model is a folder with config.json and weights, or a .gguf file.';

/** `needs`: what a model of another kind is made of. */
export const missingFile = (files: FileSet, name: string, needs?: string): OutriderError => {
  const { addressOf, hint } = files;
  if (!addressOf)
    return bad(
      files.name === name ? `${name} is missing` : `${files.name}: ${name} is missing`,
      needs ?? onDisk(files),
    );
  return new OutriderError('download-failed', `the server has no ${addressOf(name)}`, hint ?? onServer(files, needs));
};

const onServer = ({ sentPage }: FileSet, needs = MODEL): string =>
  sentPage ? 'The server answered with a page instead of the file: check the address.' : `Check the address. ${needs}`;

const onDisk = ({ names }: FileSet): string => {
  if (names?.includes('adapter_config.json'))
    return 'It is an adapter (LoRA), not a model: merge it into its base model, and load what that gives.';
  if (names?.includes('policy.onnx'))
    return 'It is a policy for block sizes, a small ONNX network: load it as `policy`, next to a target and a drafter.';
  if (names?.some((name) => name.endsWith('.onnx')))
    return 'It holds a model for ONNX runtimes: load the repository that has it in safetensors or GGUF.';
  return names?.length ? `It has: ${names.slice(0, 12).join(', ')}.` : MODEL;
};
