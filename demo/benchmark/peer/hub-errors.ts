// Errors of the hub in plain words: transformers.js only names the file that it could not load.
import { OutriderError } from '../../../src/index.ts';
import type { PeerModel } from './peer-service.ts';

/** Without a login the hub answers the same for a missing and a private model. */
const REFUSED = /^(?:Could not locate|Unauthorized access to|Forbidden access to) file: "(.+)"/;
const NO_ANSWER = /^(?:Failed to fetch|NetworkError|Load failed|Gateway|Service unavailable|Bad gateway)/;

/** Null for other errors, and for models that are not from the hub. */
export const hubFault = (error: unknown, { name, base, dtype }: PeerModel): OutriderError | null => {
  if (base !== null || !(error instanceof Error)) return null;
  const failed = (message: string, hint: string): OutriderError =>
    new OutriderError('download-failed', message, hint, { cause: error });
  const file = REFUSED.exec(error.message)?.[1];
  if (file?.includes('/onnx/'))
    return failed(
      `the model ${name} on the hub has no ONNX weights of type ${dtype} (${file.slice(file.indexOf('onnx/'))})`,
      'Choose another weight type, or a model that was exported for transformers.js.',
    );
  if (file)
    return failed(
      `the hub has no public model named ${name}`,
      'Check the name: owner/name, as in its address on huggingface.co.',
    );
  if (NO_ANSWER.test(error.message))
    return failed(`huggingface.co does not respond (${error.message})`, 'Check your connection, then try again.');
  return null;
};
