// Any token of an answer, by hover, tap or arrow key: its source, its probability by target and drafter, and what the
// target finds probable instead.
import type { TraceEvent } from '../../src/trace/index.ts';
import { element, make } from '../shared/elements.ts';
import { hideHint, leaveHint, showHint } from '../shared/hints.ts';
import { percent } from '../shared/percent.ts';
import { type Explained, explainToken, type Moment, momentsOf, type Row } from './moments.ts';
import { alternativesText } from './round-text.ts';
import { type TokenStatus, visible } from './rounds.ts';

const SOURCES: Readonly<Record<TokenStatus, string>> = {
  anchor: '',
  drafted: '✓ Drafted, and accepted by the target.',
  rejected: '',
  past: '',
  corrected: '✎ Corrected: written by the target in place of a rejected draft.',
  bonus: '+ Bonus: written by the target after a draft that it accepted whole.',
  routed: '↑ Written by the target: the step was escalated.',
  forced: '= Forced: the constraint allows nothing else.',
  sampled: 'Written by the target, without a draft.',
};

const NONE = 'This run recorded no probabilities.';

const sourceOf = ({ status, target, draft }: Row): string =>
  status === 'sampled' && target === null && draft !== null
    ? '✓ Written by the draft model, in a step that was accepted.'
    : SOURCES[status];

/** The lines of the popover. */
export const tokenLines = ({ row, instead }: Explained): readonly string[] => {
  const { target, draft, alternatives } = row;
  const given = [
    ...(target === null ? [] : [`target ${percent(target)}`]),
    ...(draft === null ? [] : [`draft ${percent(draft)}`]),
  ];
  const refused =
    instead &&
    [
      `Rejected here: “${visible(instead.text)}”`,
      ...(instead.draft === null ? [] : [`draft ${percent(instead.draft)}`]),
      ...(instead.target === null ? [] : [`target ${percent(instead.target)}`]),
    ].join(', ');
  return [
    sourceOf(row),
    given.length > 0 ? `Probability: ${given.join(', ')}.` : NONE,
    ...(refused ? [`${refused}.`] : []),
    ...(alternatives.length > 0 ? [`Alternatives: ${alternativesText(alternatives)}.`] : []),
  ];
};

const KEYS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowRight: (at, last) => Math.min(at + 1, last),
  ArrowLeft: (at) => Math.max(at - 1, 0),
  Home: () => 0,
  End: (_, last) => last,
};

export class TokenDetails {
  readonly #box: HTMLElement;
  #events: readonly TraceEvent[] = [];
  #moments: readonly Moment[] = [];
  /** Events that the moments were read from. */
  #read = 0;
  #at = -1;

  /** `box` holds the tokens, each with its place. */
  constructor(box: HTMLElement) {
    this.#box = box;
    box.addEventListener('pointerover', ({ target }) => {
      const token = this.#tokenOf(target);
      if (token) this.#show(token);
    });
    box.addEventListener('pointerout', ({ target }) => {
      leaveHint(this.#tokenOf(target));
    });
    box.addEventListener('click', ({ target }) => {
      const token = this.#tokenOf(target);
      if (token) this.#show(token);
    });
    box.addEventListener('keydown', (event) => this.#key(event));
    box.addEventListener('focusout', () => {
      this.#mark(null);
      hideHint();
    });
  }

  /** The run that the box shows; its events may still be growing. */
  take(events: readonly TraceEvent[]): void {
    this.#events = events;
    this.#read = 0;
    this.#at = -1;
    this.#mark(null);
  }

  #tokenOf(target: EventTarget | null): HTMLElement | null {
    return target instanceof Element ? target.closest<HTMLElement>('[data-place]') : null;
  }

  get #tokens(): readonly HTMLElement[] {
    return [...this.#box.querySelectorAll<HTMLElement>('[data-place]')];
  }

  #key(event: KeyboardEvent): void {
    const tokens = this.#tokens;
    const next = KEYS[event.key]?.(this.#at, tokens.length - 1);
    const token = next === undefined ? null : tokens[next];
    if (next === undefined || !token || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.#at = next;
    token.scrollIntoView({ block: 'nearest' });
    const lines = this.#show(token);
    element('token-spoken', HTMLElement).textContent = `“${visible(token.textContent ?? '')}”. ${lines.join(' ')}`;
  }

  #mark(token: HTMLElement | null): void {
    for (const marked of this.#box.querySelectorAll('.at')) marked.classList.remove('at');
    token?.classList.add('at');
  }

  #show(token: HTMLElement): readonly string[] {
    if (this.#read !== this.#events.length) {
      this.#moments = momentsOf(this.#events);
      this.#read = this.#events.length;
    }
    const explained = explainToken(this.#moments, Number(token.dataset.place));
    if (!explained) return [];
    this.#mark(token);
    this.#at = this.#tokens.indexOf(token);
    const lines = tokenLines(explained);
    const head = make('strong', {}, `“${visible(token.textContent ?? '')}”`);
    showHint(token, head, ...lines.map((text) => make('p', {}, text)));
    return lines;
  }
}
