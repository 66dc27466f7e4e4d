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
export const NUMBERS = ['maxTokens', 'temperature', 'topP', 'seed', 'history', 'speed'] as const;
export const FLAGS = ['disabled', 'autoplay', 'rejected'] as const;
/** The attribute is JSON text, the property its value. */
export const VALUES = ['constraint'] as const;

const dashed = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const OBSERVED: readonly string[] = [...TEXTS, ...NUMBERS, ...FLAGS, ...VALUES].map(dashed);

type Reflected = (typeof TEXTS | typeof NUMBERS | typeof FLAGS | typeof VALUES)[number];

/** Thrown where the value is used, so that the visitor and the page hear of it; null where there is none. */
const number = (text: string | null, attribute: string): number | null => {
  if (text === null || text.trim() === '') return null;
  const value = Number(text);
  if (!Number.isFinite(value)) throw refuse(`the attribute ${attribute} must be a number, not "${text}"`);
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
  const isNumber = NUMBERS.some((each) => each === name);
  const isValue = VALUES.some((each) => each === name);
  return {
    enumerable: true,
    configurable: true,
    get() {
      if (isFlag) return this.hasAttribute(attribute);
      const text = this.getAttribute(attribute);
      if (isValue) return text === null ? null : parsed(text, attribute);
      return isNumber ? number(text, attribute) : text;
    },
    set(value: unknown) {
      if (isFlag) this.toggleAttribute(attribute, Boolean(value));
      else if (value === null || value === undefined) this.removeAttribute(attribute);
      else this.setAttribute(attribute, isValue ? JSON.stringify(value) : String(value));
    },
  };
};

const NAMES: readonly Reflected[] = [...TEXTS, ...NUMBERS, ...FLAGS, ...VALUES];

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
