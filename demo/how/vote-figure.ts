// A vote: the tokens up to the one on which the models agree least, each with its probability by every model.

import { VoteView } from '../inspect/vote-view.ts';
import { roleName } from '../models/family.ts';
import { momentsOf } from '../run/moments.ts';
import { quoted } from '../run/rounds.ts';
import { barsOf, type VotedToken } from '../run/votes.ts';
import { make } from '../shared/elements.ts';
import type { Drawing } from './figure.ts';
import { recordingOf } from './recording-of.ts';

/** Tokens shown before the closest vote, which is the last. */
const BEFORE = 8;

export const voteFigure = async (): Promise<Drawing> => {
  const { events } = await recordingOf('cos');
  const moments = momentsOf(events);
  const models = moments[0]?.models ?? {};
  const tokens = moments.flatMap(({ votes }) => votes);
  const closest = tokens.indexOf(tokens.toSorted((a, b) => a.vote.r - b.vote.r)[0] as VotedToken);
  const from = Math.max(0, closest - BEFORE);
  const chosen = tokens.slice(from, closest + 1);
  const spans = tokens
    .slice(0, from + chosen.length)
    .map(({ text }) => make('span', { textContent: text.replace(/\n+/g, '\n') }));
  const text = make('p', { className: 'so-far' }, ...spans);
  const view = new VoteView();
  const names = (tokens[0]?.vote.own ?? []).map(({ by }) => roleName(by, models));
  return {
    node: make('div', { className: 'drawing' }, text, view.node),
    about:
      `Three models vote: ${names.join(', ')}. Each bar is a model’s probability of the token that was written; ` +
      'the first bar is their average.',
    step: 1.5,
    last: chosen.length - 1,
    draw(moment) {
      for (const [i, span] of spans.entries()) {
        span.classList.toggle('later', i > from + moment);
        span.classList.toggle('now-voted', i === from + moment);
      }
      view.show({ votes: chosen.slice(moment, moment + 1), before: from + moment, models });
    },
    says(moment) {
      const token = chosen[moment] as VotedToken;
      const others = barsOf(token).flatMap(({ member, instead }) =>
        instead && member !== null ? [`the ${names[member]} prefers ${quoted(instead.text)}`] : [],
      );
      if (others.length === 0) return `All of them agree on ${quoted(token.text)}.`;
      return `Here ${others.join(' and ')}, yet the average is highest for ${quoted(token.text)}.`;
    },
  };
};
