// One round, moment by moment: what the small model guesses, what the target makes of each guess in its one pass, and
// what is kept, corrected and discarded.
import { type Moment, momentsOf, rowsOf } from '../run/moments.ts';
import { outcomeOf } from '../run/outcome.ts';
import { quoted, visible } from '../run/rounds.ts';
import { make } from '../shared/elements.ts';
import { percent } from '../shared/percent.ts';
import { endOf } from '../stage/scene.ts';
import type { Drawing } from './figure.ts';
import { recordingOf } from './recording-of.ts';

/** The corrected round with the most accepted drafts. */
const choose = (moments: readonly Moment[]): Moment => {
  const corrected = moments.filter(({ committed }) => committed.at(-1)?.source === 'corrected');
  const [best] = corrected.toSorted((a, b) => b.path.length - a.path.length);
  if (!best) throw new Error('no round of this recording has a corrected token');
  return best;
};

export const roundFigure = async (): Promise<Drawing> => {
  const { events, plain } = await recordingOf('dflash');
  const moments = momentsOf(events);
  const round = choose(moments);
  const rows = rowsOf(round).filter(({ status }) => status !== 'corrected');
  const own = round.committed.at(-1)?.text ?? '';
  const before = moments.filter(({ before }) => before < round.before).flatMap(({ committed }) => committed);
  const context = make('p', { className: 'so-far' }, ...before.map(({ text }) => text.replace(/\n+/g, '\n')));
  const correction = make(
    'li',
    { className: 'guess own' },
    make('span', { className: 'chip own', textContent: visible(own) }),
    make('span', { className: 'verdict-of' }, 'by the target'),
  );
  const refused = rows.findIndex(({ status }) => status !== 'drafted');
  const wrong = quoted(rows[refused]?.text ?? '');
  const guesses = rows.map(({ text, status, target }, i) => {
    const bar = make('span', { className: 'share', ariaHidden: 'true' });
    bar.style.setProperty('--share', `${100 * (target ?? 0)}%`);
    const chip = make('span', { className: 'chip', textContent: visible(text) });
    const share = target === null ? '' : percent(target);
    const past = i > refused && refused >= 0; // its share is that after a word that was refused
    const verdict = make('span', { className: 'verdict-of' }, past && share ? `${share}, after ${wrong}` : share);
    if (past) bar.classList.add('past');
    return { kept: status === 'drafted', chip, node: make('li', { className: 'guess' }, chip, bar, verdict) };
  });
  const nodes = guesses.map(({ node }) => node);
  const list = make(
    'ol',
    { className: 'guesses', ariaLabel: 'The guesses, with the probability that the target gives each of them' },
    ...nodes.toSpliced(refused + 1, 0, correction),
  );
  const SAYS = [
    'The text so far. The target would now take one pass for each token.',
    `Draft: the small model guesses ${rows.length} tokens.`,
    'Verify: one pass of the target gives every guess the probability that it would write this token itself.',
    `Accept: the target agrees with ${refused} guesses. They are part of the answer now.`,
    `Correct: the target does not agree with ${wrong}. It writes ${quoted(own)} instead.`,
    `Guesses after it continue a text that no longer exists. One pass of the target has written ${refused + 1} tokens.`,
  ];
  return {
    node: make('div', { className: 'drawing' }, context, list),
    about:
      'Under each guess: the probability that the target gives it. ' +
      `The whole answer took ${endOf(outcomeOf(events), outcomeOf(plain)).sentence}`,
    step: 2,
    last: SAYS.length - 1,
    draw(moment) {
      for (const [i, { node, chip, kept }] of guesses.entries()) {
        node.classList.toggle('on', moment >= 1);
        node.classList.toggle('scored', moment >= 2);
        chip.classList.toggle('on', moment >= 1);
        chip.classList.toggle('kept', kept && moment >= 3);
        chip.classList.toggle('struck', !kept && moment >= (i === refused ? 4 : 5));
      }
      correction.classList.toggle('on', moment >= 4);
      correction.firstElementChild?.classList.toggle('on', moment >= 4);
    },
    says: (moment) => SAYS[moment] ?? '',
  };
};
