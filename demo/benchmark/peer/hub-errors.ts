// What went wrong at the hub, in our words: transformers.js names a file that it did not get.
import { OutriderError } from '../../../src/index.ts';
import type { PeerModel } from './peer-service.ts';

/** The hub answers strangers alike where there is no model and where it is private. */
const REFUSED = /^(?:Could not locate|Unauthorized access to|Forbidden access to) file: "(.+)"/;
const NO_ANSWER = /^(?:Failed to fetch|NetworkError|Load failed|Gateway|Service unavailable|Bad gateway)/;

/** Null: something else went wrong, or the model is not the hub's. */
export const hubFault = (error: unknown, { name, base, dtype }: PeerModel): OutriderError | null => {
  if (base !== null || !(error instanceof Error)) return null;
  const fault = (message: string, hint: string): OutriderError =>
    new OutriderError('download-failed', message, hint, { cause: error });
  const file = REFUSED.exec(error.message)?.[1];
  if (file?.includes('/onnx/'))
    return fault(
      `the hub's model ${name} has no ONNX weights as ${dtype} (${file.slice(file.indexOf('onnx/'))})`,
      'Choose other weights for it, or a model that was exported for transformers.js.',
    );
  if (file)
    return fault(
      `the hub has no public model named ${name}`,
      'Check the name: owner/name, as it stands in its address on huggingface.co.',
    );
  if (NO_ANSWER.test(error.message))
    return fault(`huggingface.co does not answer (${error.message})`, 'Check your connection, then try again.');
  return null;
};
