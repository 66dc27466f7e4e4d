// The widget page: five uses. Each is an HTML file that is both put on the page and shown as source, so that the code
// that is read is the code that runs.
import '../../src/widget/index.ts';
import { make } from '../shared/elements.ts';
import { startTheme } from '../shared/theme.ts';
import events from './uses/events.html?raw';
import pair from './uses/pair.html?raw';
import plain from './uses/plain.html?raw';
import themed from './uses/themed.html?raw';
import trace from './uses/trace.html?raw';

interface Use {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly source: string;
}

const USES: readonly Use[] = [
  {
    id: 'plain',
    title: 'Default',
    about: 'The bundled model with its DFlash drafter. Both are downloaded when the first message is sent.',
    source: plain,
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
    id: 'trace',
    title: 'Without a GPU',
    about: 'Plays a run recorded on another machine, eight times slower than it ran. Works in every browser.',
    source: trace,
  },
  {
    id: 'pair',
    title: 'Side by side',
    about:
      'All elements of a page share one engine, one worker and one copy of the weights, and run one after another.',
    source: pair,
  },
];

const copyButton = (text: string): HTMLButtonElement => {
  const button = make('button', { type: 'button', className: 'quiet copy' }, 'Copy');
  button.addEventListener('click', async () => {
    const copied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false, // the browser refused; the text can still be selected
    );
    button.textContent = copied ? 'Copied' : 'Copy failed';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
  return button;
};

const section = ({ id, title, about, source }: Use): HTMLElement => {
  const text = source.trim();
  const heading = make('h2', { id: `${id}-title` }, title);
  const live = make('div', { className: 'live' });
  const code = make('pre', { tabIndex: 0, role: 'region', ariaLabel: `Source of “${title}”` }, make('code', {}, text));
  const box = make('section', { id, className: 'card use' }, heading, make('p', { className: 'muted' }, about), live);
  box.setAttribute('aria-labelledby', heading.id);
  box.append(make('div', { className: 'source' }, copyButton(text), code));
  return box;
};

const uses = document.querySelector('#uses') as HTMLElement;
uses.append(...USES.map(section));
// Scripts of a contextual fragment run when they are inserted, after their elements.
for (const { id, source } of USES)
  document.querySelector(`#${id} .live`)?.append(document.createRange().createContextualFragment(source));
startTheme();
