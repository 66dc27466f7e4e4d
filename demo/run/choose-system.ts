// Chooses a decoding system through the page's own control and waits until a run can start: its models may have to be
// loaded first.
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

/** The first of these that can run, once it can. Without WebGPU none is loaded, and the first names a recording. */
export const chooseSystem = async (...systems: readonly string[]): Promise<string | null> => {
  const select = element('system', HTMLSelectElement);
  const ready = () => enabled(element('race-go', HTMLButtonElement));
  await ready();
  if (select.disabled) return systems[0] ?? null;
  const possible = systems.find((id) => [...select.options].some(({ value, disabled }) => value === id && !disabled));
  if (!possible) return null;
  if (select.value === possible) return possible;
  select.value = possible;
  select.dispatchEvent(new Event('change'));
  await ready();
  return possible;
};
