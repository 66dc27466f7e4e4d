// Whether the visitor's system asks for pages without motion.
export const wantsStillness = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;
