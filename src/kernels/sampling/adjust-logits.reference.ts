import type { LogitRules } from './adjust-logits.ts';

/** What a banned token's logit becomes. */
export const BANNED = -1e30;

/** The logits of the token after `text`, whose first `prompt` tokens are the prompt. */
export const adjustReference = (
  logits: readonly number[],
  text: readonly number[],
  prompt: number,
  { repetition, presence, frequency, biases, bans }: LogitRules,
): number[] => {
  const adjusted = [...logits];
  for (const { token, bias } of biases) adjusted[token] = Math.fround((adjusted[token] as number) + bias);
  for (const token of new Set(text)) {
    const times = text.slice(prompt).filter((each) => each === token).length;
    const logit = adjusted[token] as number;
    const repeated = logit > 0 ? logit / repetition : logit * repetition;
    adjusted[token] = Math.fround(repeated - frequency * times - (times > 0 ? presence : 0));
  }
  for (const { token, after, until } of bans) {
    const ends = after.length === 0 || text.slice(-after.length).join() === after.join();
    if (ends && text.length - prompt < until) adjusted[token] = BANNED;
  }
  return adjusted;
};
