// The document of a request, which look-ups draft from: a field for the systems that look text up.
import { element } from '../shared/elements.ts';

const LOOK_UPS = ['suffix-decoding', 'combined'];

export class DocumentField {
  readonly #row = element('document-row', HTMLElement);
  readonly #text = element('document', HTMLTextAreaElement);

  show(system: string): void {
    this.#row.hidden = !LOOK_UPS.includes(system);
  }

  /** That of a trace. */
  fill(text: string): void {
    this.#text.value = text;
  }

  /** Undefined where the chosen system reads none. */
  get text(): string | undefined {
    return this.#row.hidden ? undefined : this.#text.value.trim() || undefined;
  }
}
