// An answer's Markdown as elements. The parser's tokens become nodes made one by one with their text, so nothing that a
// model writes is ever read as HTML: tags in an answer are shown as they stand, and images are not fetched.
import { Lexer, type Token, type Tokens } from 'marked';
import { copyOnClick } from '../shared/copy.ts';
import { make } from '../shared/elements.ts';

/** A node of the formatted text, without the DOM. */
export interface Part {
  readonly tag: Tag;
  readonly children: readonly (Part | string)[];
  /** Of a link: an address of http or https. */
  readonly href?: string;
  /** Of a block of code: its language. */
  readonly language?: string;
}

type Tag =
  | 'a'
  | 'blockquote'
  | 'br'
  | 'code'
  | 'del'
  | 'em'
  | 'h4'
  | 'h5'
  | 'hr'
  | 'li'
  | 'ol'
  | 'p'
  | 'pre'
  | 'strong'
  | 'table'
  | 'td'
  | 'th'
  | 'tr'
  | 'ul';

/** Longer answers are shown as they are: parsing must not stop the page. */
const LONGEST = 100_000;
/** Lists in lists, and quotes in quotes. */
const DEEPEST = 20;

const part = (tag: Tag, children: Part['children'] = [], rest: Pick<Part, 'href' | 'language'> = {}): Part => ({
  tag,
  children,
  ...rest,
});

const isWeb = (href: string): boolean => /^https?:\/\//i.test(href) && URL.canParse(href);

const inline = (tokens: readonly Token[] | undefined, depth: number): Part['children'] =>
  (tokens ?? []).flatMap((token) => read(token, depth + 1));

const readLink = ({ href, raw, tokens }: Tokens.Link, depth: number): Part['children'] =>
  isWeb(href) ? [part('a', inline(tokens, depth), { href })] : [raw];

const readRow = (tag: 'td' | 'th', cells: readonly Tokens.TableCell[], depth: number): Part =>
  part(
    'tr',
    cells.map((cell) => part(tag, inline(cell.tokens, depth))),
  );

const read = (token: Token, depth: number): Part['children'] => {
  if (depth > DEEPEST) return [token.raw];
  const children = (): Part['children'] => inline('tokens' in token ? token.tokens : undefined, depth);
  switch (token.type) {
    case 'space':
    case 'def':
      return [];
    case 'paragraph':
      return [part('p', children())];
    case 'heading':
      return [part(token.depth < 3 ? 'h4' : 'h5', children())];
    case 'strong':
    case 'em':
    case 'del':
    case 'blockquote':
      return [part(token.type, children())];
    case 'hr':
    case 'br':
      return [part(token.type)];
    case 'code':
      return [part('pre', [part('code', [token.text])], token.lang ? { language: token.lang } : {})];
    case 'codespan':
      return [part('code', [token.text])];
    case 'link':
      return readLink(token as Tokens.Link, depth);
    case 'list': {
      const { ordered, items } = token as Tokens.List;
      return [
        part(
          ordered ? 'ol' : 'ul',
          items.map((item) => part('li', inline(item.tokens, depth))),
        ),
      ];
    }
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return [part('table', [readRow('th', header, depth), ...rows.map((row) => readRow('td', row, depth))])];
    }
    case 'escape':
      return [token.text];
    case 'text':
      return 'tokens' in token && token.tokens ? children() : [token.text];
    default:
      return [token.raw]; // HTML and images among them: shown as they were written
  }
};

const isFenced = ({ type, raw }: Token): boolean => type === 'code' && /^ {0,3}(`{3}|~{3})/.test(raw);

/** Indented lines outside of lists and fences: Markdown would join those of a paragraph to one line. */
const isIndented = (token: Token): boolean =>
  (token.type === 'code' && !isFenced(token)) || (token.type === 'paragraph' && /\n(?: {2,}|\t)\S/.test(token.raw));

/** A model that goes on with a program writes it without fences. Its lines must stay as they are. */
const isProgram = (tokens: readonly Token[]): boolean => tokens.some(isIndented) && !tokens.some(isFenced);

/** The formatted text; null where there is nothing to format, or the text cannot be read. */
export const parseMarkdown = (text: string): readonly Part[] | null => {
  if (text.length > LONGEST) return null;
  let parts: Part['children'];
  try {
    const tokens = new Lexer({ gfm: true }).lex(text);
    if (isProgram(tokens)) return null;
    parts = tokens.flatMap((token) => read(token, 0));
  } catch {
    return null; // nested beyond the stack
  }
  const plain = parts.every(
    (each) =>
      typeof each === 'string' || (each.tag === 'p' && each.children.every((child) => typeof child === 'string')),
  );
  return plain ? null : parts.map((each) => (typeof each === 'string' ? part('p', [each]) : each));
};

const copyButton = (code: string): HTMLElement => {
  const button = make('button', { type: 'button', className: 'quiet small copy' }, 'Copy code');
  copyOnClick(button, () => code);
  return button;
};

/** Blocks, which are written from right to left where their text is. */
const BLOCKS: readonly Tag[] = ['p', 'h4', 'h5', 'ul', 'ol', 'blockquote', 'table'];

const draw = (child: Part | string): Node => {
  if (typeof child === 'string') return document.createTextNode(child);
  const node = make(child.tag, BLOCKS.includes(child.tag) ? { dir: 'auto' } : {}, ...child.children.map(draw));
  if (node instanceof HTMLAnchorElement && child.href)
    Object.assign(node, { href: child.href, target: '_blank', rel: 'noreferrer nofollow' });
  if (child.tag !== 'pre') return node;
  node.tabIndex = 0; // a long line scrolls
  node.ariaLabel = child.language ? `Code, ${child.language}` : 'Code';
  node.setAttribute('role', 'group');
  return make('div', { className: 'code-block' }, copyButton(node.textContent ?? ''), node);
};

export const drawMarkdown = (parts: readonly Part[]): readonly Node[] => parts.map(draw);
