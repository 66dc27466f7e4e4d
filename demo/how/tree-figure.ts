// A draft tree: it grows by one level for each pass of the drafter, the target scores all of it in one pass, and the
// path on which the target agrees is kept.

import { drawCell } from '../inspect/round-view.ts';
import { type Moment, momentsOf } from '../run/moments.ts';
import { layOut, quoted } from '../run/rounds.ts';
import { make } from '../shared/elements.ts';
import type { Drawing } from './figure.ts';
import { recordingOf } from './recording-of.ts';

/** Accepted drafts that were not the drafter's first guess at their place. */
const rescued = ({ parents, path }: Moment): readonly number[] =>
  path.filter((node) => node > 0 && parents.indexOf(parents[node] ?? -1) !== node);

/** The places at which the drafter proposed more than one token. */
const branches = ({ parents }: Moment): number =>
  new Set(parents.filter((parent, node) => parent >= 0 && parents.indexOf(parent) !== node)).size;

const choose = (moments: readonly Moment[]): Moment => {
  const trees = moments.filter((moment) => branches(moment) > 0);
  const chosen = trees.find((moment) => rescued(moment).length > 0) ?? trees[0];
  if (!chosen) throw new Error('no round of this recording drafts a tree');
  return chosen;
};

export const treeFigure = async (): Promise<Drawing> => {
  const { events } = await recordingOf('eagle3');
  const moments = momentsOf(events);
  const round = choose(moments);
  const cells = layOut(round);
  const levels = Math.max(...cells.map(({ column, status }) => (status === 'bonus' ? 0 : column)));
  const nodes = cells.map(drawCell);
  const before = moments.slice(0, moments.indexOf(round)).flatMap(({ committed }) => committed);
  const context = make('p', { className: 'so-far' }, ...before.map(({ text }) => text.replace(/\n+/g, '\n')));
  const box = make('div', { className: 'tree', tabIndex: 0, role: 'img', ariaLabel: 'The tree of drafts' }, ...nodes);
  const guesses = round.pieces.length - 1;
  const kept = round.path.length - 1;
  const own = round.committed.at(-1);
  const [second] = rescued(round);
  const first = second === undefined ? -1 : round.parents.indexOf(round.parents[second] ?? -1);
  const saved =
    second === undefined
      ? ''
      : ` Here the drafter’s first guess, ${quoted(round.pieces[first] ?? '')}, was wrong, and its second, ` +
        `${quoted(round.pieces[second] ?? '')}, was right: a chain would have ended there.`;
  const [verified, decided] = [levels + 1, levels + 2];
  return {
    node: make('div', { className: 'drawing' }, context, box),
    about: `A round of EAGLE-3. The first row is the path that was kept; rejected branches hang below it.${saved}`,
    step: 1,
    last: levels + 3,
    draw(moment) {
      for (const [i, { column, status }] of cells.entries()) {
        const isOwn = status === 'bonus' || status === 'corrected';
        const from = isOwn ? levels + 3 : column;
        nodes[i]?.classList.toggle('later', moment < from);
        nodes[i]?.classList.toggle('undecided', status !== 'anchor' && !isOwn && moment < decided);
      }
      box.classList.toggle('checking', moment === verified);
    },
    says(moment) {
      if (moment === 0) return 'The last token of the text so far. The tree grows from it.';
      if (moment <= levels) return `Draft: pass ${moment} of the drafter adds the guesses for position ${moment}.`;
      if (moment === verified) return `Verify: one pass of the target scores all ${guesses} guesses.`;
      if (moment === decided)
        return `Accept: the path on which the target agrees, ${kept} tokens long. The branches are dropped.`;
      return `The target adds a token of its own, ${quoted(own?.text ?? '')}: ${kept + 1} tokens in one round.`;
    },
  };
};
