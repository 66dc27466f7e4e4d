// Small things that many sentences of the pages need.

/** “1 token”, “2 tokens”, “2 passes”. */
export const many = (count: number, one: string, more = `${one}s`): string => `${count} ${count === 1 ? one : more}`;

/** “an MTP layer”, “a router”. */
export const withArticle = (noun: string): string => `${/^([aeio]|mtp)/i.test(noun) ? 'an' : 'a'} ${noun}`;

/** The driver calls itself llvmpipe, and everyone else calls it lavapipe. */
export const withLavapipe = (device: string): string =>
  device.replace(/^llvmpipe\b/, 'llvmpipe (Mesa’s lavapipe, on the processor)');

export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
