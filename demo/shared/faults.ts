// Shows errors: what is wrong and what to do about it.
import { type Fault, type Remedy, toFault } from '../../src/index.ts';
import { element, say } from './elements.ts';
import { capitalised } from './words.ts';

/** Used where the engine's own hint is empty. */
const WHAT_TO_DO: Readonly<Record<Fault['code'], string>> = {
  'no-webgpu': 'Open the page in a browser with WebGPU.',
  'out-of-memory': 'Choose a smaller model or a lower precision.',
  'device-lost': 'Load the model again.',
  'download-failed': 'Check the address and your connection, then try again.',
  'bad-checkpoint': 'Choose another file, or download this one again.',
  'bad-trace': 'Save the trace again, and open the new file.',
  'bad-constraint': 'Change the constraint and try again.',
  'bad-request': 'Change the request and try again.',
  'vocabulary-mismatch': 'Choose models with the same vocabulary.',
  aborted: '',
  bug: 'Please report this message.',
};

/** Capitalises and ends a sentence. A name (a first word with a dot or an underscore) or an address keeps its spelling. */
export const sentence = (text: string): string => {
  const start = /^\w*(?:[._]|:\/\/)/.test(text) ? text : capitalised(text);
  return text === '' || /[.!?]$/.test(start) ? start : `${start}.`;
};

/** What the button of an error does: what would fit, or, where the models are gone, loading them again. */
export type Offer = Remedy | 'reload';

let take: ((offer: Offer) => void) | null = null;

/** Who acts on the button of an error; a page without it has no such button. */
export const onOffer = (act: (offer: Offer) => void): void => {
  take = act;
};

const offerOf = ({ code, remedy }: Fault): Offer | null => remedy ?? (code === 'device-lost' ? 'reload' : null);

/** For people: `an f16 cache`, `a q8 cache`. */
export const cacheName = (cache: NonNullable<Remedy['cache']>): string =>
  cache === 'f16' ? 'an f16 cache' : 'a q8 cache';

const labelOf = (offer: Offer): string => {
  if (offer === 'reload') return 'Load the models again';
  return offer.cache ? `Use ${cacheName(offer.cache)}` : `Limit answers to ${offer.maxTokens} tokens`;
};

const showOffer = (offer: Offer | null): void => {
  const act = take;
  if (!act) return;
  const button = element('fault-remedy', HTMLButtonElement);
  button.hidden = offer === null;
  if (offer === null) return;
  button.textContent = labelOf(offer);
  button.onclick = () => {
    hideFault();
    act(offer);
  };
};

export const hideFault = (): void => {
  element('fault', HTMLElement).hidden = true;
};

/** Where errors are shown that no form caused. */
let before: Element | null = null;

/** Moves the error next to the form that caused it, or back to the top. */
const moveTo = (form: HTMLElement | undefined): void => {
  const fault = element('fault', HTMLElement);
  before ??= fault.previousElementSibling;
  if (form) form.append(fault);
  else if (fault.previousElementSibling !== before) before?.after(fault);
};

/** Shows anything that was thrown, except an abort, and returns it as data. `form`: what the visitor filled in. */
export const showFault = (error: unknown, form?: HTMLElement): Fault => {
  const fault = toFault(error);
  if (fault.code === 'aborted') return fault;
  moveTo(form);
  say('fault-message', sentence(fault.message));
  say('fault-hint', sentence(fault.hint || WHAT_TO_DO[fault.code]));
  showOffer(offerOf(fault));
  const shown = element('fault', HTMLElement);
  shown.hidden = false;
  shown.scrollIntoView({ block: 'nearest' }); // what failed may have been started further down the page
  return fault;
};
