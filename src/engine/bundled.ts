// The models that come with Outrider: a family with one vocabulary, and the drafters, the policy and the judges of its
// target; and a drafter for a published model. They are served from `models/` next to the page.
import { refuse } from '../base/refuse.ts';
import { shown } from '../base/shown.ts';
import type { ModelRole } from '../decode/core/system.ts';
import type { Source } from '../weights/open.ts';

/** Their names, which a load takes instead of a checkpoint. */
export const BUNDLED = [
  'target',
  'mid',
  'draft',
  'dflash',
  'eagle3',
  'blockpilot',
  'prm',
  'router',
  'draft-judge',
  'smollm2-eagle3',
] as const;

export type BundledName = (typeof BUNDLED)[number];

/** Those that are one file; the others are folders. */
const FILES: Readonly<Record<string, string>> = { 'smollm2-eagle3': 'model.gguf' };

/**
 * Bundled models that go with a bundled target, by role: drafters read its hidden states, a draft shares its
 * vocabulary.
 */
export const BUNDLED_PARTNERS: Readonly<Record<string, { readonly [Role in ModelRole]?: string }>> = {
  target: { draft: 'draft', dflash: 'dflash', eagle3: 'eagle3', policy: 'blockpilot', prm: 'prm', router: 'router' },
  mid: { draft: 'draft' },
};

/** The page's address; in a worker, that of its script. */
const pageAddress = (): string | undefined => globalThis.document?.baseURI ?? globalThis.location?.href;

/** A URL by its tag: one of another frame is no instance of this one's class. */
export const isAddress = (value: unknown): value is string | URL =>
  typeof value === 'string' || Object.prototype.toString.call(value) === '[object URL]';

/** An address as the page means it: to a worker, a relative one would be one next to its script. */
export const onPage = (name: string, address: unknown): string => {
  const page = pageAddress();
  if (!isAddress(address) || !URL.canParse(`${address}`, page))
    throw refuse(`${name} must be an address, not ${shown(address)}`);
  return new URL(address, page).href;
};

/** What a source may be, as a hint. */
export const SOURCES = "Others are { kind: 'url', url } or { kind: 'files', files }.";

export const checkBundled = (name: string): void => {
  if (!BUNDLED.some((known) => known === name))
    throw refuse(`there is no bundled model "${name}"`, `There are: ${BUNDLED.join(', ')}. ${SOURCES}`);
};

export const bundledSource = (name: string, given = pageAddress()): Source => {
  checkBundled(name);
  if (!given) throw refuse(`bundled model "${name}": the address of the models is unknown here`, 'Give it as `base`.');
  const base = onPage('base', given);
  // A new release may bring new weights under the same address.
  return {
    kind: 'url',
    url: new URL(`models/${name}/${FILES[name] ?? ''}`, base).href,
    revalidate: true,
    bundled: name,
  };
};
