// Shows how each part of an answer came about. Colour comes with a second attribute (underline, bold, reverse), and
// marks are signs in the text itself, for readers who cannot tell green from red.
import type { TextStream } from '../text/text-stream.ts';
import type { EventOf, Source } from '../trace/index.ts';

interface Style {
  /** ECMA-48 select graphic rendition. */
  readonly rendition: string;
  readonly mark: string;
  readonly meaning: string;
}

/** A sampled token is the plain case and stays plain. */
const STYLES: Readonly<Record<Exclude<Source, 'sampled'>, Style>> = {
  drafted: { rendition: '32', mark: '+', meaning: 'drafted and accepted' },
  corrected: { rendition: '4;34', mark: '~', meaning: 'corrected' },
  bonus: { rendition: '1;35', mark: '*', meaning: 'bonus' },
  routed: { rendition: '7;31', mark: '!', meaning: 'escalated' },
  forced: { rendition: '4;36', mark: '=', meaning: 'forced by the constraint' },
};

export const LEGEND = Object.values(STYLES)
  .map(({ mark, meaning }) => `${mark} ${meaning}`)
  .join('  ');

export interface PaintOptions {
  readonly colour: boolean;
  readonly marks: boolean;
}

/** Before every stretch of one source; nothing in between, so that words stay whole. */
const dress = (text: string, source: Source, { colour, marks }: PaintOptions): string => {
  if (source === 'sampled' || text === '') return text;
  const { rendition, mark } = STYLES[source];
  const marked = marks ? mark + text : text;
  return colour ? `\x1b[${rendition}m${marked}\x1b[0m` : marked;
};

/**
 * Commits become text to print. A commit's text and its tokens are not aligned (characters and stop strings are held
 * back), so `stream` decodes the same tokens again and says which source each character has.
 */
export const painter = (stream: TextStream, options: PaintOptions) => {
  const waiting: { text: string; source: Source }[] = [];
  return ({ tokens, source, text }: Pick<EventOf<'commit'>, 'tokens' | 'source' | 'text'>): string => {
    tokens.forEach((token, i) => {
      const origin = source[i] ?? 'sampled';
      const last = waiting.at(-1);
      const piece = stream.push([token]);
      if (last?.source === origin) last.text += piece;
      else waiting.push({ text: piece, source: origin });
    });
    let rest = text ?? '';
    let painted = '';
    for (let next = waiting[0]; next && rest !== ''; next = waiting[0]) {
      const part = rest.slice(0, next.text.length);
      painted += dress(part, next.source, options);
      rest = rest.slice(part.length);
      next.text = next.text.slice(part.length);
      if (next.text === '') waiting.shift();
    }
    return painted + rest;
  };
};
