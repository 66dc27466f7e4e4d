// The configurator: a form whose choices become attributes of the element next to it, and the lines that put the same
// element on another page.
import { BUNDLED_PARTNERS, SYSTEMS } from '../../src/index.ts';
import { copyOnClick } from '../shared/copy.ts';
import { element } from '../shared/elements.ts';

const QUESTION = 'Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?';

/** Constraints to try, as the attribute has them. */
const CONSTRAINTS: Readonly<Record<string, string>> = {
  choice: '{"choice": ["84", "85", "86"]}',
  regex: '{"regex": "The answer is [0-9]+[.]"}',
  json: '{"json_schema": {"type": "object", "properties": {"answer": {"type": "integer"}}, "required": ["answer"]}}',
};

const SCRIPT = '<script type="module" src="./outrider-chat.js"></script>';
/** The grammar engine is not in the single file. */
const BUNDLED = `<script type="module">import 'outrider/widget';</script>`;

const quoted = (value: string): string =>
  value.includes('"')
    ? `'${value.replaceAll('&', '&amp;').replaceAll("'", '&#39;')}'`
    : `"${value.replaceAll('&', '&amp;')}"`;

const chosenIn = (id: string): string => {
  const field = document.getElementById(id);
  if (field instanceof HTMLInputElement && field.type === 'checkbox') return field.checked ? 'yes' : '';
  return (field as HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement).value.trim();
};

/** The attributes that are not left at their defaults. A flag is an empty text. */
const chosen = (): ReadonlyMap<string, string> => {
  const model = chosenIn('config-model');
  const rows: readonly (readonly [string, string])[] = [
    ['model', model === 'target' ? '' : model],
    ['system', chosenIn('config-system')],
    ['constraint', CONSTRAINTS[chosenIn('config-constraint')] ?? ''],
    ['prompt', chosenIn('config-prompt')],
    ['system-prompt', chosenIn('config-system-prompt')],
    ['max-tokens', chosenIn('config-max-tokens')],
    ['temperature', chosenIn('config-temperature') === '0' ? '' : chosenIn('config-temperature')],
    ['label', chosenIn('config-label')],
    ['theme', chosenIn('config-theme')],
  ];
  const flags = chosenIn('config-rejected') ? [['rejected', ''] as const] : [];
  return new Map([...rows.filter(([, value]) => value !== ''), ...flags]);
};

const tagOf = (attributes: ReadonlyMap<string, string>): string => {
  const written = [...attributes].map(([name, value]) => (value === '' ? name : `${name}=${quoted(value)}`));
  return `<outrider-chat${written.map((each) => ` ${each}`).join('')}></outrider-chat>`;
};

/** Only systems whose models the chosen target has. A block-size policy needs the ONNX runtime, which one file lacks. */
const offerSystems = (): void => {
  const select = element('config-system', HTMLSelectElement);
  const there = ['target', ...Object.keys(BUNDLED_PARTNERS[chosenIn('config-model')] ?? {})];
  const before = select.value;
  const usable = SYSTEMS.filter(
    ({ group, needs }) =>
      ['baseline', 'speculative'].includes(group) && needs.every((role) => there.includes(role) && role !== 'policy'),
  );
  select.replaceChildren(new Option('default: its drafter, else prompt lookup', ''));
  for (const { id, title } of usable) select.add(new Option(title, id));
  select.value = usable.some(({ id }) => id === before) ? before : '';
};

export const startConfigurator = (): void => {
  const form = element('config', HTMLFormElement);
  const chat = document.querySelector('#config-live outrider-chat') as HTMLElement;
  const lines = element('config-lines', HTMLElement);
  element('config-prompt', HTMLTextAreaElement).value = QUESTION;
  let before: readonly string[] = [];
  const show = (): void => {
    const attributes = chosen();
    for (const name of before) if (!attributes.has(name)) chat.removeAttribute(name);
    for (const [name, value] of attributes) if (chat.getAttribute(name) !== value) chat.setAttribute(name, value);
    before = [...attributes.keys()];
    lines.textContent = `${attributes.has('constraint') ? BUNDLED : SCRIPT}\n${tagOf(attributes)}`;
    element('config-note', HTMLElement).textContent = attributes.has('constraint')
      ? 'A constraint needs the package and a bundler: the single file has no grammar engine.'
      : 'The single file needs no build step. Copy it and the models next to your page, as shown below.';
  };
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', ({ target }) => {
    if (target instanceof HTMLElement && target.id === 'config-model') offerSystems();
    show();
  });
  copyOnClick(element('config-copy', HTMLButtonElement), () => lines.textContent ?? '');
  offerSystems();
  show();
};
