// Which family writes calls how; the chat template decides.
import type { ToolFamily } from './family.ts';
import { granite, phi4 } from './granite.ts';
import { hermes } from './hermes.ts';
import { lfm2 } from './lfm2.ts';
import { llama3 } from './llama3.ts';
import { mistral, mistralList, mistralWithIds } from './mistral.ts';
import { qwen3Coder } from './qwen3-coder.ts';

export const FAMILIES = [mistralWithIds, mistral, mistralList, phi4, granite, lfm2, qwen3Coder, hermes, llama3];

/** Null: the template knows no tools, or in a form that is not here. */
export const familyOf = (template: string): ToolFamily | null =>
  /\b(xml_)?tools\b/.test(template) ? (FAMILIES.find((family) => family.knows(template)) ?? null) : null;

export const familyById = (id: string): ToolFamily | null => FAMILIES.find((family) => family.id === id) ?? null;
