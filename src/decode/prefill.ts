// How every token-level system begins: the prompt goes through the model, and the first token is drawn from its last
// row. And how a token is drawn from any row, with the scores that the caller asked for.
import type { Cursor, Forward } from '../model/model.ts';
import type { Commit, ModelRole, RunContext, Sequence } from './system.ts';

/** Draws the child of `row`. One readback, and one more where alternatives are wanted. */
export const drawToken = async (pass: Forward, row: number, { sampling, alternatives }: Sequence): Promise<Commit> => {
  const [choice] = await pass.draw(row, sampling).read();
  if (!choice) throw new Error('a draw of one row came back empty');
  const top = alternatives > 0 ? await pass.top(row, alternatives) : [];
  return { tokens: [choice.token], source: ['sampled'], scores: [{ logprob: choice.logprob, top }] };
};

/** Opens the role's cursor, computes what the cache lacks of the prompt, and draws the first token. */
export const prefill = async (run: RunContext, role: ModelRole): Promise<{ cursor: Cursor; first: Commit }> => {
  const start = performance.now();
  const prompt = run.sequence.tokens;
  const cursor = await run.open(role);
  const reused = cursor.length;
  const last = await cursor.extend(prompt.slice(reused), { signal: run.signal });
  const first = await drawToken(last, 0, run.sequence);
  run.emit({ type: 'prefill', by: role, rows: prompt.length - reused, reused, ms: performance.now() - start });
  return { cursor, first };
};
