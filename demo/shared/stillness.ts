// Whether the visitor's system asks for pages without motion.
export const wantsStillness = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Scrolls to an element: at once where nothing may move. */
export const bringIntoView = (node: Element): void =>
  node.scrollIntoView({ behavior: wantsStillness() ? 'auto' : 'smooth' });
