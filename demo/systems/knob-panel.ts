// Controls for a system's knobs, built from the system's own facts: a slider for a number, a list for a choice, a text
// line for several numbers. The visitor's settings are remembered for each system.
import type { ChoiceKnob, Knob, KnobValue, NumberKnob, NumbersKnob } from '../../src/index.ts';
import { make } from '../shared/elements.ts';

type Settings = Readonly<Record<string, KnobValue>>;

/** A control and its reader, which returns null while the entered value is invalid. */
interface Control {
  readonly node: HTMLInputElement | HTMLSelectElement;
  read(): KnobValue | null;
}

/** What 0 means, where the knob's label says so: “Depth, tokens (0: as many as pay)”. */
const meaningOfZero = (label: string): string | undefined => /^(.*) \(0: (.+)\)$/.exec(label)?.[2];

const slider = (knob: NumberKnob, value: KnobValue, shown: HTMLOutputElement): Control => {
  const { min, max, step, label } = knob;
  const node = make('input', { type: 'range', min: `${min}`, max: `${max}`, step: `${step}`, value: `${value}` });
  const show = (): void => {
    shown.value = (node.valueAsNumber === 0 && meaningOfZero(label)) || node.value;
    node.ariaValueText = shown.value;
  };
  node.addEventListener('input', show);
  show();
  return { node, read: () => node.valueAsNumber };
};

const list = (knob: ChoiceKnob, value: KnobValue): Control => {
  const options = knob.options.map((option) => new Option(option, option, false, option === value));
  const node = make('select', {}, ...options);
  return { node, read: () => node.value };
};

export const parseNumbers = (
  text: string,
  { min, max, step = 1 }: Pick<NumbersKnob, 'min' | 'max' | 'step'>,
): readonly number[] | null => {
  const numbers = text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map(Number);
  const whole = Number.isInteger(step);
  const fits = numbers.length > 0 && numbers.every((n) => (Number.isInteger(n) || !whole) && n >= min && n <= max);
  return fits ? numbers : null;
};

const line = (knob: NumbersKnob, value: KnobValue): Control => {
  const whole = Number.isInteger(knob.step ?? 1);
  const shown = [value].flat().map((each) => (typeof each === 'number' ? Number(each.toPrecision(4)) : each));
  const node = make('input', { type: 'text', inputMode: whole ? 'numeric' : 'decimal', value: shown.join(', ') });
  const read = (): readonly number[] | null => parseNumbers(node.value, knob);
  node.addEventListener('input', () =>
    node.setCustomValidity(
      read()
        ? ''
        : `Enter ${whole ? 'whole numbers' : 'numbers'} from ${knob.min} to ${knob.max}, separated by commas.`,
    ),
  );
  node.addEventListener('change', () => node.reportValidity());
  return { node, read };
};

const allowed = (knob: Knob, value: KnobValue | undefined): KnobValue => {
  if (knob.kind === 'number' && typeof value === 'number') return Math.min(knob.max, Math.max(knob.min, value));
  if (knob.kind === 'choice' && knob.options.some((option) => option === value)) return value as string;
  if (knob.kind === 'numbers' && Array.isArray(value)) return value;
  return knob.initial;
};

const NOTHING =
  'This system has no settings of its own. Temperature, seed and token limit are under Sampling, and apply to every system.';

/** At most as many knobs are shown at once, the first that the system declares; the others are under Advanced. */
const FIRST = 2;

/** The page begins at temperature 0, where some knobs set nothing. */
const isAdvanced = (name: string, { label }: Knob): boolean => name === 'fall-back' || /temperature > 0/.test(label);

/** Where the page begins with another value than the system: a tree of 16 nodes, with its anchor, has branches to see. */
const BEGINS: Readonly<Record<string, Record<string, KnobValue>>> = { eagle3: { nodes: 15 } };

export class KnobPanel {
  readonly #box: HTMLElement;
  readonly #more: HTMLElement;
  readonly #kept = new Map(Object.entries(BEGINS));
  #shown = '';
  #system = '';

  constructor(box: HTMLElement, more: HTMLElement) {
    this.#box = box;
    this.#more = more;
  }

  /** Rebuilds the controls only if they differ, so that a slider being moved stays in place. */
  show(system: string, knobs: Readonly<Record<string, Knob>>): void {
    const shown = JSON.stringify([system, knobs]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#system = system;
    const all = Object.entries(knobs);
    const first = all.filter(([name, knob]) => !isAdvanced(name, knob)).slice(0, FIRST);
    const build = ([name, knob]: (typeof all)[number]): HTMLElement => this.#build(name, knob);
    const more = all.filter((each) => !first.includes(each)).map(build);
    const none = make('p', { className: 'muted' }, NOTHING);
    this.#box.replaceChildren(...(all.length > 0 ? first.map(build) : [none]));
    this.#more.replaceChildren(...more);
  }

  /** What the page or the visitor changed; the system has initial values for the rest. */
  get settings(): Settings {
    return this.#kept.get(this.#system) ?? {};
  }

  #build(name: string, knob: Knob): HTMLElement {
    const value = allowed(knob, this.settings[name]);
    if (name in this.settings) this.#keep(name, value);
    const label = make('label', { htmlFor: `knob-${name}` }, knob.label);
    const shown = make('output');
    const control =
      knob.kind === 'number'
        ? slider(knob, value, shown)
        : knob.kind === 'choice'
          ? list(knob, value)
          : line(knob, value);
    control.node.id = `knob-${name}`;
    control.node.addEventListener('input', () => {
      const read = control.read();
      if (read !== null) this.#keep(name, read);
    });
    const className = knob.kind === 'choice' ? 'knob' : 'knob wide';
    return make('div', { className }, label, ...(knob.kind === 'number' ? [shown] : []), control.node);
  }

  #keep(name: string, value: KnobValue): void {
    this.#kept.set(this.#system, { ...this.settings, [name]: value });
  }
}
