// Token counts in the shape of OpenAI's API.
import type { Metrics } from './metrics.ts';

/** Token counts in OpenAI's shape. Drafts never count as completion tokens. */
export const usage = (metrics: Metrics) => ({
  prompt_tokens: metrics.prompt_tokens,
  completion_tokens: metrics.tokens,
  total_tokens: metrics.prompt_tokens + metrics.tokens,
  prompt_tokens_details: { cached_tokens: metrics.reused_tokens },
  completion_tokens_details: {
    accepted_prediction_tokens: metrics.accepted,
    rejected_prediction_tokens: metrics.drafted - metrics.accepted,
  },
});
