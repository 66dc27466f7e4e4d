// The element's attributes, each with a property of the same meaning; the property's name is the attribute's in camel
// case.
import { badConstraint, refuse } from '../base/refuse.ts';

export const TEXTS = [
  'model',
  'draft',
  'dflash',
  'dspark',
  'eagle3',
  'mtp',
  'system',
  'prompt',
  'systemPrompt',
  'base',
  'precision',
  'trace',
  'theme',
  'placeholder',
  'label',
] as const;

interface Range {
  readonly has: (value: number) => boolean;
  readonly what: string;
}

const within = (least: number, most: number): Range => ({
  has: (value) => value >= least && value <= most,
  what: `a number from ${least} to ${most}`,
});

const whole = (least: number, most = Number.POSITIVE_INFINITY): Range => ({
  has: (value) => Number.isSafeInteger(value) && value >= least && value <= most,
  what: `a whole number from ${least} ${Number.isFinite(most) ? `to ${most}` : 'on'}`,
});

/** What each may be. The engine checks what it is given too, but in its own words, and once models were fetched. */
const NUMBERS = {
  maxTokens: whole(1),
  temperature: within(0, 100),
  topP: within(0, 1),
  seed: whole(0, 2 ** 32 - 1),
  history: whole(0),
  speed: { has: (value) => value > 0 && Number.isFinite(value), what: 'a number above 0' },
} satisfies Readonly<Record<string, Range>>;

export const FLAGS = ['disabled', 'autoplay', 'rejected'] as const;
/** The attribute is JSON text, the property its value. */
export const VALUES = ['constraint'] as const;

const dashed = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

type Reflected = (typeof TEXTS | typeof FLAGS | typeof VALUES)[number] | keyof typeof NUMBERS;

const isNumber = (name: Reflected): name is keyof typeof NUMBERS => name in NUMBERS;

const NAMES = [...TEXTS, ...Object.keys(NUMBERS), ...FLAGS, ...VALUES] as readonly Reflected[];

export const OBSERVED: readonly string[] = NAMES.map(dashed);

/** Thrown where the value is used, so that the visitor and the page hear of it; null where there is none. */
const number = (text: string | null, attribute: string, { has, what }: Range): number | null => {
  if (text === null || text.trim() === '') return null;
  const value = Number(text);
  if (!has(value)) throw refuse(`the attribute ${attribute} must be ${what}, not "${text}"`);
  return value;
};

/** What the engine is given; it checks the value itself. */
const parsed = (text: string, attribute: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw badConstraint(`the attribute ${attribute} is not JSON`, 'Write {"choice": ["yes", "no"]}, for instance.');
  }
};

const accessor = (name: Reflected): PropertyDescriptor & ThisType<HTMLElement> => {
  const attribute = dashed(name);
  const isFlag = FLAGS.some((flag) => flag === name);
  const isValue = VALUES.some((each) => each === name);
  return {
    enumerable: true,
    configurable: true,
    get() {
      if (isFlag) return this.hasAttribute(attribute);
      const text = this.getAttribute(attribute);
      if (isValue) return text === null ? null : parsed(text, attribute);
      return isNumber(name) ? number(text, attribute, NUMBERS[name]) : text;
    },
    set(value: unknown) {
      if (isFlag) this.toggleAttribute(attribute, Boolean(value));
      else if (value === null || value === undefined) this.removeAttribute(attribute);
      else this.setAttribute(attribute, isValue ? JSON.stringify(value) : String(value));
    },
  };
};

/** Gives a class of elements the properties. */
export const reflect = (prototype: HTMLElement): void => {
  for (const name of NAMES) Object.defineProperty(prototype, name, accessor(name));
};

/** A property that was set before the element was defined hides the accessor: it is set once more. */
export const adopt = (element: HTMLElement): void => {
  const own = element as unknown as Record<string, unknown>;
  for (const name of [...NAMES, 'engine', 'sources']) {
    if (!Object.hasOwn(element, name)) continue;
    const value = own[name];
    delete own[name];
    own[name] = value;
  }
};
