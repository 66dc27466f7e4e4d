// Chooses a decoding system, or the models of an ensemble, through the page’s own controls and waits until a run can
// start: models may have to be loaded first.
import { OutriderError } from '../../src/index.ts';
import { element } from '../shared/elements.ts';

const NO_PROBLEM = new OutriderError('bad-request', 'there is no problem to solve', 'Write one or choose an example.');
const NO_MODEL = new OutriderError('bad-request', 'no model is loaded', 'Choose a model.');
const STOPPED = new OutriderError('aborted', 'stopped');

/** Waits for a load or a run to end. Null once a run can start; otherwise why none can. */
export const obstacle = (signal?: AbortSignal): Promise<OutriderError | null> =>
  new Promise((resolve) => {
    const [go, raceGo] = [element('go', HTMLButtonElement), element('race-go', HTMLButtonElement)];
    const [lamp, problem] = [element('lamp', HTMLElement), element('problem', HTMLTextAreaElement)];
    const end = (why: OutriderError | null): void => {
      observer.disconnect();
      resolve(why);
    };
    const look = (): void => {
      const running = !go.disabled;
      if (signal?.aborted) end(STOPPED);
      else if (!raceGo.disabled) end(null);
      else if (!running && problem.value.trim() === '') end(NO_PROBLEM);
      else if (!running && lamp.dataset.state === 'off') end(NO_MODEL);
    };
    const observer = new MutationObserver(look);
    for (const node of [go, raceGo, lamp]) observer.observe(node, { attributeFilter: ['disabled', 'data-state'] });
    signal?.addEventListener('abort', look, { once: true });
    look();
  });

const change = async (select: HTMLSelectElement, value: string, signal?: AbortSignal): Promise<boolean> => {
  select.value = value;
  select.dispatchEvent(new Event('change'));
  return (await obstacle(signal)) === null && select.value === value; // the visitor may have chosen another meanwhile
};

/** Chooses which bundled models vote with the target in an ensemble. */
export const chooseMembers = async (members: 'draft' | 'mid' | 'both'): Promise<void> => {
  if (await obstacle()) return;
  const select = element('member', HTMLSelectElement);
  if (!select.disabled && select.value !== members) await change(select, members);
};

/**
 * The first of these that can run, once it can; null if none can. Without WebGPU none is loaded, and the first names a
 * recording.
 */
export const chooseSystem = async (systems: readonly string[], signal?: AbortSignal): Promise<string | null> => {
  const select = element('system', HTMLSelectElement);
  if (await obstacle(signal)) return null;
  if (select.disabled) return systems[0] ?? null;
  const possible = systems.find((id) => [...select.options].some(({ value, disabled }) => value === id && !disabled));
  if (!possible) return null;
  return select.value === possible || (await change(select, possible, signal)) ? possible : null;
};
