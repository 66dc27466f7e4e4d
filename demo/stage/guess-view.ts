// The acts “guess tokens” and “let models vote”: next to plain decoding, drafts appear in a tray in bursts, a sweep
// checks them, kept ones turn green, the first wrong one is struck and corrected.
import { LETTERS } from '../run/votes.ts';
import { make } from '../shared/elements.ts';
import {
  type Caption,
  captionsOf,
  counterOf,
  type Drawn,
  type DrawnScene,
  endLineOf,
  laneNode,
  type Phase,
  squaresOf,
  textOf,
} from './lane-view.ts';
import { type Burst, DURATION, type Scene } from './scene.ts';

export interface Names {
  readonly plain: string;
  readonly plainAbout: string;
  readonly system: string;
  readonly systemAbout: string;
  readonly captions: readonly Caption[];
}

const chipNode = (text: string, member: number | null): HTMLElement => {
  const node = make('span', { className: 'chip', textContent: text });
  if (member !== null && member >= 0) {
    node.dataset.member = `${member}`;
    node.dataset.letter = LETTERS[member] ?? '?';
  }
  return node;
};

const trayOf = (burst: Burst): Drawn => {
  const { chips, own, ballot, from, checked, decided, corrected, ended } = burst;
  const nodes = chips.map(({ text, member }) => chipNode(text, member));
  const ownNode = own && make('span', { className: `chip own ${own.source}`, textContent: own.text });
  const node = make('div', { className: 'tray' });
  const first = chips.findIndex(({ status }) => status === 'rejected');
  // The target's own token follows the last accepted draft.
  const at = first < 0 ? nodes.length : first + 1;
  const ballotNode = ballot && make('span', { className: 'ballot', textContent: ballot });
  node.append(...nodes.toSpliced(at, 0, ...(ownNode ? [ownNode] : [])), ...(ballotNode ? [ballotNode] : []));
  const each = (checked - from) / (nodes.length + 1);
  return {
    node,
    draw(seconds) {
      node.classList.toggle('on', seconds >= from && (seconds < ended || ended >= DURATION - 1));
      const swept = Math.min(1, Math.max(0, (seconds - checked) / (decided - checked)));
      node.style.setProperty('--swept', `${100 * swept}%`);
      node.classList.toggle('sweeping', swept > 0 && swept < 1);
      for (const [i, chip] of nodes.entries()) {
        chip.classList.toggle('on', seconds >= from + (i + 1) * each);
        const status = chips[i]?.status;
        chip.classList.toggle('kept', seconds >= decided && status !== 'rejected');
        chip.classList.toggle('struck', seconds >= decided && status === 'rejected');
      }
      for (const each of [ownNode, ballotNode]) if (each) each.classList.toggle('on', seconds >= corrected);
    },
  };
};

/** Times of a burst in each of its phases. The last one is that of the target's own token, if there is one. */
const stopsOf = ({ checked, decided, corrected, ended, own }: Burst): readonly number[] => [
  checked - BEFORE,
  (checked + decided) / 2,
  decided,
  ...(own ? [Math.max(corrected, ended - BEFORE)] : []),
];

/** Seconds: so long before a phase ends, all of it is shown. */
const BEFORE = 0.002;

const BONUS = 'Bonus: every guess was right. The same pass gives one more token.';

export const guessView = (scene: Scene, names: Names): DrawnScene => {
  const captions = captionsOf(names.captions);
  const parts: Drawn[] = [];
  const part = (drawn: Drawn): Drawn => {
    parts.push(drawn);
    return drawn;
  };
  const lanes = make('div', { className: 'stage-lanes' });
  if (scene.plain) {
    const count = part(counterOf(scene.plain.passes));
    const squares = part(squaresOf(scene.plain.passes));
    lanes.append(laneNode(names.plain, names.plainAbout, count, part(textOf(scene.plain, false)).node, squares.node));
  }
  const count = part(counterOf(scene.system.passes));
  const trays = scene.bursts.map((burst) => part(trayOf(burst)));
  const last = trays.at(-1);
  const tray = make('div', { className: 'trays', ariaHidden: 'true' }, ...trays.map(({ node }) => node));
  const content = [part(textOf(scene.system, true)).node, ...(last ? [tray] : [])];
  const squares = part(squaresOf(scene.system.passes));
  lanes.append(laneNode(names.system, names.systemAbout, count, ...content, squares.node));
  const end = endLineOf(scene.end);
  /** Which moment of which round it is: guessing, checking, keeping or correcting. */
  const momentAt = (seconds: number): { round: number; moment: number } | null => {
    const round = scene.bursts.findIndex(({ from, ended }) => from <= seconds && seconds < ended);
    const burst = scene.bursts[round];
    if (!burst) return null;
    return { round, moment: [burst.checked, burst.decided, burst.corrected].filter((at) => at <= seconds).length };
  };
  const phaseAt = (seconds: number): Phase | null => {
    const at = momentAt(seconds);
    const [name = '', , about = ''] = (at && names.captions[at.moment]) ?? [];
    if (!at) return null;
    const bonus = at.moment === 3 && scene.bursts[at.round]?.own?.source === 'bonus';
    return { name: `Round ${at.round + 1}, ${bonus ? 'bonus' : name}`, about: bonus ? BONUS : about };
  };
  return {
    node: make('div', { className: 'scene' }, captions.node, lanes, end.node),
    stops: scene.bursts.flatMap(stopsOf),
    phaseAt,
    draw(seconds, playing) {
      for (const { draw } of parts) draw(seconds);
      // The last round stays in its tray.
      last?.node.classList.toggle('on', seconds >= (scene.bursts.at(-1)?.from ?? 0));
      captions.mark(momentAt(seconds)?.moment ?? null);
      end.show(seconds >= DURATION - 1, (playing ? null : phaseAt(seconds))?.about);
    },
  };
};
