// The page's elements by id, with their types checked once at start rather than asserted everywhere.

export const element = <T extends HTMLElement>(id: string, kind: new () => T): T => {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`index.html has no ${kind.name} #${id}`);
  return found;
};

/** Text for people; a screen reader announces #status politely. */
export const say = (id: string, text: string): void => {
  const node = element(id, HTMLElement);
  if (node.textContent !== text) node.textContent = text;
};

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

/** Hides a panel, or keeps its height while it is written anew, so that nothing below it jumps; until `release`. */
export const hold = (panel: HTMLElement, shown: boolean): void => {
  panel.style.minHeight = shown ? `${panel.offsetHeight}px` : '';
  panel.hidden = !shown;
};

export const release = (panel: HTMLElement): void => {
  panel.style.minHeight = '';
};

type Child = Node | string;

/** A node with its properties and children, in one expression. */
export const make = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};
