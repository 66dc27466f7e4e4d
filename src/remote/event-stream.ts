// Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) as far as completions need them:
// the data of every event, whatever pieces its bytes arrive in. An event that the stream breaks off in does not count.

/** Characters of one line, or of one event: a piece of a completion is a few words. */
const LONGEST = 2 ** 20;

/** An event, or a line of one, that never ends. */
export class EventTooLong extends Error {}

export class EventStream {
  readonly #decoder = new TextDecoder();
  #text = '';
  #data: string[] = [];
  #length = 0;

  /** The data of the events that these bytes complete. Throws `EventTooLong`. */
  push(bytes: Uint8Array): readonly string[] {
    this.#text += this.#decoder.decode(bytes, { stream: true });
    // A carriage return at the end may be the first half of a line's end.
    const lines = this.#text.split(/\r\n|\n|\r(?!$)/);
    this.#text = lines.pop() ?? '';
    if (this.#text.length > LONGEST) throw new EventTooLong();
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): readonly string[] {
    if (line === '') {
      const event = this.#data;
      this.#data = [];
      this.#length = 0;
      return event.length > 0 ? [event.join('\n')] : [];
    }
    const data = /^data(?:: ?(.*))?$/s.exec(line);
    if (data) this.#data.push(data[1] ?? '');
    this.#length += line.length;
    if (this.#length > LONGEST) throw new EventTooLong();
    return []; // comments keep a connection alive; other fields say nothing here
  }
}
