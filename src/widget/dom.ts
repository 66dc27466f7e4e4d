// Elements without markup in strings: a page's policy may refuse those (`require-trusted-types-for 'script'`).

type Properties<Tag extends keyof HTMLElementTagNameMap> = Partial<
  Omit<HTMLElementTagNameMap[Tag], 'part' | 'style' | 'dataset'>
> & { readonly part?: string };

export const make = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  { part, ...properties }: Properties<Tag> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] => {
  const node = Object.assign(document.createElement(tag), properties);
  if (part) node.setAttribute('part', part);
  node.append(...children);
  return node;
};
