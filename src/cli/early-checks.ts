// What can be known to be wrong of a request before a model is loaded, which may take minutes.
import { refuse } from '../base/refuse.ts';
import type { DecodingSystem } from '../decode/core/system.ts';
import { checkRequest } from '../engine/check-request.ts';
import { expectExact } from '../engine/job.ts';
import type { LoadedModel } from '../engine/load/loaded-models.ts';
import { readLogitRules } from '../engine/logit-rules.ts';
import type { RunRequest } from '../engine/request.ts';

/** Has every token, so that what is refused would be refused of any model. */
const ANY_MODEL = {
  name: 'the model',
  model: { vocabulary: Number.POSITIVE_INFINITY },
  tokenizer: { encode: () => [0] },
} as unknown as LoadedModel;

export const checkEarly = (request: RunRequest, system: DecodingSystem): void => {
  checkRequest(request);
  if ('tokens' in request.prompt && request.prompt.tokens.length === 0)
    throw refuse('the prompt is empty', 'Give at least one token.');
  if (request.constraint) expectExact(system, 'constraint', 'a constraint');
  const { maxTokens = Number.POSITIVE_INFINITY } = request;
  readLogitRules(request, system, ANY_MODEL, { stopTokens: new Set(), maxTokens });
};
