// Helpers for the DOM: elements by id with their type checked, text, new nodes.

export const element = <T extends HTMLElement>(id: string, kind: new () => T): T => {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return found;
};

/** Sets the text of an element if it differs, so that live regions announce changes only. */
export const say = (id: string, text: string): void => {
  const node = element(id, HTMLElement);
  if (node.textContent !== text) node.textContent = text;
};

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

/** Of models, which may take gigabytes. */
export const size = (bytes: number): string =>
  bytes < 1e9 ? megabytes(bytes) : `${(bytes / 1e9).toFixed(bytes < 1e10 ? 2 : 1)} GB`;

/** Shows or hides a panel. A shown panel keeps its height until `release`, so that nothing below it moves. */
export const hold = (panel: HTMLElement, shown: boolean): void => {
  panel.style.minHeight = shown ? `${panel.offsetHeight}px` : '';
  panel.hidden = !shown;
};

export const release = (panel: HTMLElement): void => {
  panel.style.minHeight = '';
};

type Child = Node | string;

/** Creates a node with its properties and children. */
export const make = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};
