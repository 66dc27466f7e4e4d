// Blocks: each round, one pass of the drafter fills a row of empty places, and one pass of the target checks them.
import { momentsOf } from '../run/moments.ts';
import { statusesOf, visible } from '../run/rounds.ts';
import { make } from '../shared/elements.ts';
import { shown } from '../stage/scene.ts';
import type { Drawing } from './figure.ts';
import { recordingOf } from './recording-of.ts';

/** Moments of a round: the empty block, its guesses, and what became of them. */
const EACH = 3;

export const blockFigure = async (): Promise<Drawing> => {
  const { events } = await recordingOf('blockpilot');
  const rounds = momentsOf(events).filter(({ pieces }) => pieces.length > 1);
  const blocks = rounds.map((round) => {
    const statuses = statusesOf(round);
    const ends = statuses.indexOf('past');
    const chips = round.pieces.slice(1, ends < 0 ? undefined : ends).map((text, i) => {
      const chip = make('span', { className: 'chip on', textContent: visible(shown(text)) });
      return { chip, kept: statuses[i + 1] !== 'rejected' };
    });
    const last = round.committed.length === round.path.length ? round.committed.at(-1) : undefined;
    const own = last && shown(last.text) !== '' ? last : undefined;
    const ownChip = own && make('span', { className: `chip own ${own.source}`, textContent: visible(own.text) });
    const at = chips.findIndex(({ kept }) => !kept);
    const place = at < 0 ? chips.length : at + 1;
    const nodes = chips.map(({ chip }) => chip);
    const row = make('li', { className: 'block' }, ...nodes.toSpliced(place, 0, ...(ownChip ? [ownChip] : [])));
    return { round, chips, ownChip, row };
  });
  const list = make('ol', { className: 'blocks' }, ...blocks.map(({ row }) => row));
  const size = Math.max(...rounds.map(({ pieces }) => pieces.length));
  const tokens = rounds.reduce((sum, { committed }) => sum + committed.length, 0);
  return {
    node: make('div', { className: 'drawing' }, list),
    about:
      `${tokens} tokens in ${rounds.length} rounds: ${rounds.length} passes of the target and ${rounds.length} of the ` +
      'drafter, a network of two layers where the target has six. BlockPilot, a small policy, chose blocks of ' +
      `${size} for this prompt and this device: the last token of the text and ${size - 1} guesses.`,
    step: 0.6,
    last: EACH * rounds.length - 1,
    draw(moment) {
      for (const [i, { chips, ownChip, row }] of blocks.entries()) {
        const past = moment - EACH * i;
        row.classList.toggle('on', past >= 0);
        for (const { chip, kept } of chips) {
          chip.classList.toggle('empty', past < 1);
          chip.classList.toggle('kept', kept && past >= 2);
          chip.classList.toggle('struck', !kept && past >= 2);
        }
        ownChip?.classList.toggle('on', past >= 2);
      }
    },
    says(moment) {
      const { round } = blocks[Math.floor(moment / EACH)] as (typeof blocks)[number];
      const guesses = round.pieces.length - 1;
      const which = `Round ${round.round} of ${rounds.at(-1)?.round}`;
      if (moment % EACH === 0) return `${which}: a block of ${guesses} empty places.`;
      if (moment % EACH === 1) return `${which}: one pass of the drafter fills them all.`;
      const { committed, path } = round;
      return `${which}: the target accepts ${path.length - 1} of ${guesses}, and ${committed.length} tokens are written.`;
    },
  };
};
