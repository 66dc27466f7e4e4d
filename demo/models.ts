// Which model: one of ours, or the visitor's own by address, by choosing files, or by dropping files or a folder anywhere
// on the page. Whatever is chosen comes out as one `Choice`, for the role that it is chosen for.
import type { ModelRole } from '../src/index.ts';
import { element } from './elements.ts';
import type { Choice } from './family.ts';

/** One vocabulary, three sizes; the sizes are held against the files by a test. */
export const BUNDLED = [
  { name: 'target', title: 'Target', weights: 2_755_776, about: 'The one whose answers we want.' },
  { name: 'mid', title: 'Mid', weights: 804_224, about: 'Right most of the time.' },
  { name: 'draft', title: 'Draft', weights: 246_368, about: 'Small and quick: the outrider.' },
] as const;

type Choose = (choice: Choice, role: ModelRole) => void;

export const startModels = (choose: Choose): void => {
  bundledChoices(choose);
  ownByAddress(choose);
  ownByFiles(choose);
};

/** `?model=draft` or `?model=https://…/model.gguf` opens the page with that model; otherwise the radio that is chosen. */
export const firstChoice = (): Choice => {
  const wanted = new URLSearchParams(location.search).get('model');
  if (!wanted) return chosenBundled();
  if (!/^https?:/.test(wanted)) return { label: `the bundled ${wanted}`, source: wanted };
  element('own', HTMLDetailsElement).open = true;
  element('address', HTMLInputElement).value = wanted;
  none();
  return { label: wanted, source: { kind: 'url', url: wanted } };
};

const chosenBundled = (): Choice => {
  const name = document.querySelector<HTMLInputElement>('input[name=model]:checked')?.value ?? BUNDLED[0].name;
  return { label: `the bundled ${name}`, source: name };
};

const bundledChoices = (choose: Choose): void => {
  const list = element('bundled', HTMLFieldSetElement);
  const wanted = new URLSearchParams(location.search).get('model');
  for (const [i, { name, title, weights, about }] of BUNDLED.entries()) {
    const label = document.createElement('label');
    label.className = 'choice';
    const radio = Object.assign(document.createElement('input'), { type: 'radio', name: 'model', value: name });
    radio.checked = name === wanted || (i === 0 && !wanted);
    const heading = Object.assign(document.createElement('span'), { textContent: title });
    const size = Object.assign(document.createElement('span'), { className: 'size' });
    size.textContent = `${(weights / 1e6).toFixed(weights < 1e6 ? 2 : 1)} M weights`;
    const note = Object.assign(document.createElement('small'), { textContent: about });
    label.append(radio, heading, size, note);
    list.append(label);
  }
  list.addEventListener('change', () => choose(chosenBundled(), 'target'));
};

const none = (): void => {
  for (const radio of document.querySelectorAll<HTMLInputElement>('input[name=model]')) radio.checked = false;
};

/** A drafter of one's own joins the target that is there; a target of one's own takes its place. */
const chooseOwn = (choose: Choose, choice: Choice): void => {
  const role = element('own-role', HTMLSelectElement).value as ModelRole;
  if (role === 'target') none();
  choose(choice, role);
};

const ownByAddress = (choose: Choose): void => {
  element('by-address', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    const url = element('address', HTMLInputElement).value.trim();
    chooseOwn(choose, { label: url, source: { kind: 'url', url } });
  });
};

const ownByFiles = (choose: Choose): void => {
  const take = (files: readonly File[]): void => {
    const largest = files.toSorted((a, b) => b.size - a.size)[0];
    if (!largest) return;
    chooseOwn(choose, { label: largest.name, source: { kind: 'files', files } });
  };
  const input = element('files', HTMLInputElement);
  input.addEventListener('change', () => take([...(input.files ?? [])]));

  const { body } = document;
  body.addEventListener('dragover', (event) => {
    event.preventDefault();
    element('own', HTMLDetailsElement).open = true;
    body.classList.add('dragging');
  });
  body.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) body.classList.remove('dragging');
  });
  body.addEventListener('drop', (event) => {
    event.preventDefault();
    body.classList.remove('dragging');
    void droppedFiles(event.dataTransfer).then(take);
  });
};

/** Files, and the files directly inside dropped folders. */
const droppedFiles = async (transfer: DataTransfer | null): Promise<File[]> => {
  const entries = [...(transfer?.items ?? [])].map((item) => item.webkitGetAsEntry());
  const files = [...(transfer?.files ?? [])];
  const found = await Promise.all(
    entries.map((entry, i) => (entry?.isDirectory ? inside(entry as FileSystemDirectoryEntry) : [files[i]])),
  );
  return found.flat().filter((file) => file !== undefined);
};

const inside = async (folder: FileSystemDirectoryEntry): Promise<File[]> => {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    entries.push(...some);
  }
  const files = entries.filter((entry) => entry.isFile) as FileSystemFileEntry[];
  return Promise.all(files.map((file) => new Promise<File>((resolve, reject) => file.file(resolve, reject))));
};
