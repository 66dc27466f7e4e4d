// “Put this on your page”: two lines to copy, and next to them the element itself. It plays a recording, and loads a
// model only when the visitor asks it something. Its code is fetched when it comes near.
import { copyOnClick } from './shared/copy.ts';
import { element, make } from './shared/elements.ts';
import { wantsStillness } from './shared/stillness.ts';

const live = async (place: HTMLElement): Promise<HTMLElement> => {
  await import('../src/widget/index.ts');
  const widget = make('outrider-chat');
  Object.assign(widget, { label: 'Live', trace: './traces/problem-1.jsonl', speed: 0.125, rejected: true });
  widget.autoplay = !wantsStillness();
  place.replaceChildren(widget);
  return widget;
};

export const startEmbed = (): void => {
  const place = element('embed-live', HTMLElement);
  let made: Promise<HTMLElement> | null = null;
  const near = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      near.disconnect();
      made ??= live(place);
    },
    { rootMargin: '200px' },
  );
  near.observe(place);
  element('embed-ask', HTMLButtonElement).addEventListener('click', async () => {
    made ??= live(place);
    const widget = await made;
    widget.removeAttribute('trace'); // without a recording it is a chat
    widget.focus();
  });
  copyOnClick(element('embed-copy', HTMLButtonElement), () => element('embed-lines', HTMLElement).textContent ?? '');
};
