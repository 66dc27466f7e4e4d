// “Put this on your page”: two lines to copy, and next to them the element itself. It plays a recording, and loads a
// model only when the visitor asks it something. Its code is fetched when it comes near.
import { copyOnClick } from './shared/copy.ts';
import { element, make } from './shared/elements.ts';
import { showFault } from './shared/faults.ts';
import { lazily } from './shared/lazily.ts';
import { wantsStillness } from './shared/stillness.ts';

const live = (place: HTMLElement) =>
  lazily(
    () => import('../src/widget/index.ts'),
    () => {
      const widget = make('outrider-chat');
      Object.assign(widget, { label: 'Recorded', trace: './traces/problem-1.jsonl', speed: 0.125, rejected: true });
      widget.autoplay = !wantsStillness();
      place.replaceChildren(widget);
      return widget;
    },
  );

export const startEmbed = (): void => {
  const place = element('embed-live', HTMLElement);
  const widget = live(place);
  const near = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      const disconnect = (): void => near.disconnect();
      widget().then(disconnect, () => {}); // the next time that it comes near, and the button, try again
    },
    { rootMargin: '200px' },
  );
  near.observe(place);
  const ask = async (): Promise<void> => {
    const chat = await widget();
    chat.removeAttribute('trace'); // without a recording it is a chat
    chat.label = 'Live';
    chat.focus();
  };
  element('embed-ask', HTMLButtonElement).addEventListener('click', () => void ask().catch(showFault));
  copyOnClick(element('embed-copy', HTMLButtonElement), () => element('embed-lines', HTMLElement).textContent ?? '');
};
