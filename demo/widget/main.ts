// The widget page: a configurator, and uses. Each use is an HTML file that is both put on the page and shown as source, so
// that the code that is read is the code that runs.
import '../../src/widget/index.ts';
import { copyOnClick } from '../shared/copy.ts';
import { make } from '../shared/elements.ts';
import { startConfigurator } from './configurator.ts';
import events from './uses/events.html?raw';
import own from './uses/own.html?raw';
import pair from './uses/pair.html?raw';
import recordings from './uses/recordings.html?raw';
import themed from './uses/themed.html?raw';

interface Use {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly source: string;
}

const USES: readonly Use[] = [
  {
    id: 'recordings',
    title: 'Recorded runs',
    about:
      'With “trace” an element plays a recorded run, here in slow motion. It needs no model and no GPU, so it works in every browser.',
    source: recordings,
  },
  {
    id: 'own',
    title: 'Your own model',
    about:
      'The visitor names a model. Its address must allow requests from other pages (CORS), as that of Hugging Face does.',
    source: own,
  },
  {
    id: 'themed',
    title: 'Your own style',
    about: 'CSS variables set colours and type, parts style everything else, and slots hold your own text.',
    source: themed,
  },
  {
    id: 'events',
    title: 'Events',
    about:
      'The page receives an event for every token, every round and the finished answer, with the figures of the run.',
    source: events,
  },
  {
    id: 'pair',
    title: 'Side by side',
    about:
      'All elements of a page share one engine, one worker and one copy of the weights, and run one after another.',
    source: pair,
  },
];

const copyButton = (text: string, what: string): HTMLButtonElement => {
  const button = make('button', { type: 'button', className: 'quiet copy', ariaLabel: `Copy the source of ${what}` });
  button.textContent = 'Copy';
  copyOnClick(button, () => text);
  return button;
};

const section = ({ id, title, about, source }: Use): HTMLElement => {
  const text = source.trim();
  const heading = make('h2', { id: `${id}-title` }, title);
  const live = make('div', { className: 'live' });
  const code = make('pre', { tabIndex: 0, role: 'region', ariaLabel: `Source of “${title}”` }, make('code', {}, text));
  const box = make('section', { id, className: 'card use' }, heading, make('p', { className: 'muted' }, about), live);
  box.setAttribute('aria-labelledby', heading.id);
  box.append(make('div', { className: 'source' }, copyButton(text, `“${title}”`), code));
  return box;
};

const uses = document.querySelector('#uses') as HTMLElement;
uses.append(...USES.map(section));
// Scripts of a contextual fragment run when they are inserted, after their elements.
for (const { id, source } of USES)
  document.querySelector(`#${id} .live`)?.append(document.createRange().createContextualFragment(source));
startConfigurator();
