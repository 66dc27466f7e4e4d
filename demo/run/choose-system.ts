// Chooses a decoding system, or the models of an ensemble, through the page’s own controls and waits until a run can
// start: models may have to be loaded first.
import { element } from '../shared/elements.ts';

const enabled = (button: HTMLButtonElement): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (button.disabled) return;
      observer.disconnect();
      resolve();
    };
    const observer = new MutationObserver(look);
    observer.observe(button, { attributeFilter: ['disabled'] });
    look();
  });

const ready = (): Promise<void> => enabled(element('race-go', HTMLButtonElement));

const change = async (select: HTMLSelectElement, value: string): Promise<void> => {
  select.value = value;
  select.dispatchEvent(new Event('change'));
  await ready();
};

/** Chooses which bundled models vote with the target in an ensemble. */
export const chooseMembers = async (members: 'draft' | 'mid' | 'both'): Promise<void> => {
  await ready();
  const select = element('member', HTMLSelectElement);
  if (!select.disabled && select.value !== members) await change(select, members);
};

/** The first of these that can run, once it can. Without WebGPU none is loaded, and the first names a recording. */
export const chooseSystem = async (...systems: readonly string[]): Promise<string | null> => {
  const select = element('system', HTMLSelectElement);
  await ready();
  if (select.disabled) return systems[0] ?? null;
  const possible = systems.find((id) => [...select.options].some(({ value, disabled }) => value === id && !disabled));
  if (!possible) return null;
  if (select.value !== possible) await change(select, possible);
  return possible;
};
