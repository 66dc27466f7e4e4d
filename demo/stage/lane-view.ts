// A lane of the stage: a title, a counter of the target's passes, and a text whose tokens appear in time. The whole text
// is laid out from the beginning, so that nothing moves while it appears.

import { tokenSpan } from '../run/lane.ts';
import { hasRoomForLetter, LETTERS } from '../run/votes.ts';
import { make } from '../shared/elements.ts';
import { hinted } from '../shared/hints.ts';
import type { End, LaneScene } from './scene.ts';

export interface Drawn {
  readonly node: HTMLElement;
  draw(seconds: number): void;
}

/** What a moment of a scene shows: “Round 2, keep”, and a sentence. */
export interface Phase {
  readonly name: string;
  readonly about: string;
}

/** A scene, which can be gone through from phase to phase. */
export interface DrawnScene {
  readonly node: HTMLElement;
  /** `playing`: what is shown changes too fast for a sentence. */
  draw(seconds: number, playing: boolean): void;
  /** A time in each phase, ascending. */
  readonly stops: readonly number[];
  /** Null between rounds. */
  phaseAt(seconds: number): Phase | null;
}

const PASSES =
  'Times that the large model has run, after it read the problem. Each time it reads all its weights, which takes most of the time.';

/** How many of these ascending times have come. */
export const passed = (times: readonly number[], seconds: number): number => times.filter((at) => at <= seconds).length;

/** A number, and a word with its explanation. */
export const counter = (word: string, about: string): { readonly node: HTMLElement; show(count: number): void } => {
  const count = make('b', { textContent: '0' });
  return {
    node: make('p', { className: 'stage-count' }, count, ' ', hinted(word, about)),
    show(value) {
      const text = `${value}`;
      if (count.textContent !== text) count.textContent = text;
    },
  };
};

export const counterOf = (passes: readonly number[]): Drawn => {
  const { node, show } = counter('passes', PASSES);
  return { node, draw: (seconds) => show(passed(passes, seconds)) };
};

/** A square for each pass, in rows: filled once the pass has ended. */
export const squaresOf = (passes: readonly number[]): Drawn => {
  const squares = passes.map(() => make('i'));
  return {
    node: make('div', { className: 'stage-passes', ariaHidden: 'true' }, ...squares),
    draw(seconds) {
      const done = passed(passes, seconds);
      for (const [i, square] of squares.entries()) square.classList.toggle('on', i < done);
    },
  };
};

/** `marked`: tokens get the colours of their sources. */
export const textOf = ({ marks }: LaneScene, marked: boolean): Drawn => {
  let before: number | null = null;
  const tokens = marks.map(({ text, source, member, at }) => {
    const span = tokenSpan(text, marked ? source : '');
    if (marked && member !== null && member >= 0) {
      span.dataset.member = `${member}`;
      if (member !== before && hasRoomForLetter(text)) span.dataset.letter = LETTERS[member] ?? '?';
    }
    if (span.dataset.letter || member === null || member < 0) before = member;
    return { span, at };
  });
  // One text for screen readers: they would read the tokens of “27” as “2 7”.
  const spoken = make('span', { className: 'hidden' }, marks.map(({ text }) => text).join(''));
  const seen = make('span', { ariaHidden: 'true' }, ...tokens.map(({ span }) => span));
  const node = make('p', { className: marked ? 'stage-text text' : 'stage-text' }, spoken, seen);
  return {
    node,
    draw: (seconds) => {
      for (const { span, at } of tokens) span.classList.toggle('on', at <= seconds);
    },
  };
};

/** The result. Until it is shown a sentence stands in its place, so that there is no hole. */
export const endLineOf = ({
  factor,
  sentence,
}: End): { readonly node: HTMLElement; show(on: boolean, instead?: string): void } => {
  const figure = factor === null ? [] : [make('b', { className: 'stage-factor' }, factor), ' '];
  const node = make('p', { className: 'stage-end' }, make('strong', {}, ...figure, sentence));
  return {
    node,
    show(on, instead = 'At its end the recording compares what both took. All figures were measured.') {
      node.classList.toggle('on', on);
      node.dataset.instead = instead;
    },
  };
};

export const laneNode = (
  title: string,
  about: string,
  count: Pick<Drawn, 'node'>,
  ...content: readonly HTMLElement[]
): HTMLElement =>
  make(
    'section',
    { className: 'stage-lane' },
    make('div', { className: 'stage-lane-head' }, make('h3', {}, title), count.node),
    make('p', { className: 'muted' }, about),
    ...content,
  );

/** A moment of a round in plain words, the field's word for it, and what happens. */
export type Caption = readonly [name: string, term: string, about: string];

/** The four moments of a round; the current one is marked. */
export const captionsOf = (captions: readonly Caption[]): { node: HTMLElement; mark(at: number | null): void } => {
  const items = captions.map(([name, term, about]) =>
    make('li', {}, hinted(name, about), ...(term ? [make('small', {}, ` ${term}`)] : [])),
  );
  return {
    node: make('ol', { className: 'captions' }, ...items),
    mark: (at) => {
      for (const [i, item] of items.entries()) item.classList.toggle('now', i === at);
    },
  };
};
