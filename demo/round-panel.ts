// One round at a time: the newest while a run goes on, any other by the slider. The committed path is the first line and
// rejected drafts branch off below it, so a chain is two lines and a tree as many as it has ends.
import type { Role } from '../src/trace.ts';
import { element, say } from './elements.ts';
import { isAlso, roleName } from './family.ts';
import { type Cell, type DecodedRound, layOut, visible } from './rounds.ts';

const DRAFTERS: Readonly<Record<Exclude<Role, `also-${number}`>, string>> = {
  target: 'the target',
  draft: 'the draft model',
  dflash: 'DFlash',
  eagle3: 'EAGLE-3',
  lookup: 'prompt lookup',
  prm: 'the reward model',
  router: 'the router',
  remote: 'another device',
};

const drafter = (role: Role): string => (isAlso(role) ? roleName(role) : DRAFTERS[role]);

const ENDS: Readonly<Record<string, string>> = {
  corrected: 'then one corrected',
  bonus: 'then a bonus token',
  routed: 'then one by the target',
};

/** People cannot read faster. */
const REFRESH_MS = 100;

const drawCell = ({ text, fate, row, column, up }: Cell): HTMLElement => {
  const cell = document.createElement(fate === 'rejected' ? 's' : 'span');
  cell.className = `cell ${fate}`;
  cell.textContent = visible(text);
  cell.style.gridArea = `${row + 1} / ${column + 1}`;
  cell.style.setProperty('--up', `${up}`);
  if (up > 0) cell.classList.add('branch');
  return cell;
};

/** “by DFlash”; of an ensemble “5 by the draft model, 1 by the target”. */
const authors = ({ by, parents, proposers }: DecodedRound): string => {
  const each = [...new Set(proposers)].map(
    (role) => `${proposers.filter((one) => one === role).length} by ${drafter(role)}`,
  );
  if (each.length > 1) return ` (${each.join(', ')})`;
  const tree = parents.some((parent, node) => parent !== node - 1) ? ' in a tree' : '';
  return ` by ${drafter(proposers[0] ?? by ?? 'target')}${tree}`;
};

const withoutDrafts = ({ step, committed }: DecodedRound): string => {
  const count = committed.length === 1 ? 'one token' : `${committed.length} tokens`;
  if (!step) return `${count}, without drafts`;
  return step.by === 'target' ? `${count} by the target` : `${count} by ${drafter(step.by)}, accepted`;
};

const withDrafts = (round: DecodedRound): string => {
  const { pieces, path, committed, proposers } = round;
  const drafted = pieces.length - 1;
  const own = committed.length === path.length ? committed.at(-1) : undefined;
  const cut = own === undefined && (proposers.length === 0 || committed.length < path.length - 1);
  const end = cut ? 'and the answer ended' : ENDS[own?.source ?? ''];
  return [`${drafted} drafted${authors(round)}`, `${path.length - 1} accepted`, end].filter(Boolean).join(', ');
};

export const describeRound = (round: DecodedRound): string => {
  const what = round.by === null ? withoutDrafts(round) : withDrafts(round);
  const where = round.step ? `Step ${round.step.step}: ` : '';
  const text = where + (where ? what : what.charAt(0).toUpperCase() + what.slice(1));
  return `${text} · ${round.ms.toFixed(1)} ms`;
};

/** What the drawing shows, in words. */
const spokenRound = ({ pieces, path, committed, by }: DecodedRound): string => {
  if (by === null && committed.length === 1) return '';
  const quote = (texts: readonly string[]): string => texts.map((text) => `“${visible(text).trim()}”`).join(' ');
  const rejected = pieces.filter((_, node) => !path.includes(node));
  const kept = committed.map(({ text }) => text);
  return `Committed: ${quote(kept)}. Rejected: ${rejected.length > 0 ? quote(rejected) : 'nothing'}.`;
};

export class RoundPanel {
  readonly #panel = element('round', HTMLElement);
  readonly #slider = element('round-number', HTMLInputElement);
  readonly #drawing = element('round-tree', HTMLElement);
  #rounds: DecodedRound[] = [];
  #following = true;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.#slider.addEventListener('input', () => {
      this.#following = this.#slider.valueAsNumber === this.#rounds.length;
      this.#draw();
    });
  }

  /** Plain decoding has nothing to show here; `tall` leaves room for trees. */
  start(drafts: boolean, tall: boolean): void {
    this.#panel.hidden = !drafts;
    this.#drawing.classList.toggle('tall', tall);
    this.#rounds = [];
    this.#following = true;
    this.#drawing.replaceChildren();
    say('round-title', 'Round');
    for (const id of ['round-about', 'round-spoken']) say(id, '');
    this.#slider.disabled = true;
  }

  add(round: DecodedRound): void {
    if (round.round === 0 || this.#panel.hidden) return;
    this.#rounds.push(round);
    this.#timer ??= setTimeout(() => this.rest(), REFRESH_MS);
  }

  /** Shows at once what was held back. */
  rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#draw();
  }

  #draw(): void {
    const count = this.#rounds.length;
    if (count === 0) return;
    this.#slider.disabled = false;
    this.#slider.max = `${count}`;
    if (this.#following) this.#slider.valueAsNumber = count;
    const number = this.#slider.valueAsNumber;
    const round = this.#rounds[number - 1];
    if (!round) return;
    say('round-title', `Round ${number} of ${count}`);
    say('round-about', describeRound(round));
    say('round-spoken', spokenRound(round));
    this.#slider.ariaValueText = `${number} of ${count}: ${describeRound(round)}`;
    this.#drawing.replaceChildren(...layOut(round).map(drawCell));
  }
}
