// The tabs Race, Inspect, Chat and Structured, by the ARIA pattern: one tab stop, arrow keys move and choose. Each has an address,
// such as `#chat`; the hash may also carry a trace: `#inspect&trace=…`.

export const TABS = ['race', 'inspect', 'chat', 'structured'] as const;
export type Tab = (typeof TABS)[number];

const isTab = (name: string): name is Tab => TABS.some((tab) => tab === name);

/** The tab and the trace that the address names, if any. */
export const readHash = (hash: string): { readonly tab: Tab | null; readonly trace: string | null } => {
  const parts = hash.replace(/^#/, '').split('&');
  const trace = parts.find((part) => part.startsWith('trace='))?.slice('trace='.length) ?? null;
  return { tab: parts.find(isTab) ?? null, trace };
};

const KEYS: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowRight: (at, count) => (at + 1) % count,
  ArrowLeft: (at, count) => (at + count - 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
};

export class Tabs {
  readonly #buttons = [...document.querySelectorAll<HTMLButtonElement>('[role=tab]')];
  readonly #opened: (tab: Tab) => void;

  /** Calls `opened` whenever a tab is shown, the first included. */
  constructor(opened: (tab: Tab) => void) {
    this.#opened = opened;
    for (const [at, button] of this.#buttons.entries()) {
      button.addEventListener('click', () => this.choose(this.#tabOf(button)));
      button.addEventListener('keydown', (event) => {
        const next = this.#buttons[KEYS[event.key]?.(at, this.#buttons.length) ?? -1];
        if (!next) return;
        event.preventDefault();
        next.focus();
        this.choose(this.#tabOf(next));
      });
    }
    window.addEventListener('hashchange', () => this.#follow());
    this.#show(readHash(location.hash).tab ?? 'race');
  }

  get current(): Tab {
    const chosen = this.#buttons.find((button) => button.ariaSelected === 'true');
    return chosen ? this.#tabOf(chosen) : 'race';
  }

  /** Shows the tab and puts it into the address. */
  choose(tab: Tab): void {
    if (tab === this.current) return;
    history.replaceState(null, '', `#${tab}`);
    this.#show(tab);
  }

  #follow(): void {
    const { tab } = readHash(location.hash);
    if (tab && tab !== this.current) this.#show(tab);
  }

  #show(tab: Tab): void {
    for (const button of this.#buttons) {
      const chosen = this.#tabOf(button) === tab;
      button.ariaSelected = `${chosen}`;
      button.tabIndex = chosen ? 0 : -1;
    }
    for (const panel of document.querySelectorAll<HTMLElement>('[role=tabpanel]')) panel.hidden = panel.id !== tab;
    document.documentElement.dataset.tab = tab;
    this.#opened(tab);
  }

  #tabOf({ dataset }: HTMLButtonElement): Tab {
    return TABS.find((tab) => tab === dataset.tab) ?? 'race';
  }
}
