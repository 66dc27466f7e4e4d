// Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) as far as completions need them:
// the data of every event, whatever pieces its bytes arrive in. An event that the stream breaks off in does not count.

export class EventStream {
  readonly #decoder = new TextDecoder();
  #text = '';
  #data: string[] = [];

  /** The data of the events that these bytes complete. */
  push(bytes: Uint8Array): readonly string[] {
    this.#text += this.#decoder.decode(bytes, { stream: true });
    // A carriage return at the end may be the first half of a line's end.
    const lines = this.#text.split(/\r\n|\n|\r(?!$)/);
    this.#text = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): readonly string[] {
    if (line === '') {
      const event = this.#data;
      this.#data = [];
      return event.length > 0 ? [event.join('\n')] : [];
    }
    const data = /^data(?:: ?(.*))?$/s.exec(line);
    if (data) this.#data.push(data[1] ?? '');
    return []; // comments keep a connection alive; other fields say nothing here
  }
}
