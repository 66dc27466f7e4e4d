// The widget's page: five uses, each a file of its own that is put on the page and shown beside it as it stands, so that
// what is read is what runs.
import '../../src/widget/index.ts';
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
    title: 'As it comes',
    about:
      'The bundled model, its DFlash drafter and nothing else. The models are fetched when the first message is sent.',
    source: plain,
  },
  {
    id: 'themed',
    title: 'In your colours',
    about: 'Variables for colours and type, parts for everything else, slots for words of your own.',
    source: themed,
  },
  {
    id: 'events',
    title: 'Told to the page',
    about: 'Every token, every round and the finished answer are events, with the figures of the run.',
    source: events,
  },
  {
    id: 'trace',
    title: 'Without a GPU',
    about: 'A run that was recorded on another machine, at an eighth of its pace. Works in every browser.',
    source: trace,
  },
  {
    id: 'pair',
    title: 'Side by side',
    about: 'However many there are, they share one engine, one worker and one copy of the weights; they take turns.',
    source: pair,
  },
];

const make = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]>,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};

const copyButton = (text: string): HTMLButtonElement => {
  const button = make('button', { type: 'button', className: 'quiet copy' }, 'Copy');
  button.addEventListener('click', async () => {
    const copied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false, // refused: the text can still be selected
    );
    button.textContent = copied ? 'Copied' : 'Not allowed';
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
// Scripts of a parsed fragment run once they are on the page, and find their elements there.
for (const { id, source } of USES)
  document.querySelector(`#${id} .live`)?.append(document.createRange().createContextualFragment(source));
startTheme();
