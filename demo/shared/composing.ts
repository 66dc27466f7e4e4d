// Whether a key belongs to an input method: its Enter takes a candidate, and sends nothing.

/** Safari ends the composition before the key, which then has this code alone: https://bugs.webkit.org/show_bug.cgi?id=165004 */
const IN_COMPOSITION = 229;

export const isComposing = ({ isComposing, keyCode }: KeyboardEvent): boolean =>
  isComposing || keyCode === IN_COMPOSITION;
