// The form for a plan: a model, prompts, systems and peers.
import { OutriderError } from '../../../src/index.ts';
import { choiceAt, Family } from '../../models/family.ts';
import { element, make } from '../../shared/elements.ts';
import type { PeerEntry, Plan } from '../queue/plan.ts';
import type { EngineSetup } from '../queue/runner.ts';
import type { Preset } from './presets.ts';
import { isSuite, promptsOf, SUITES } from './prompts.ts';
import { SystemBoxes } from './system-boxes.ts';

/** Bundled models with an ONNX export, which transformers.js can run. */
const EXPORTED = ['target'];

/** Fields that the address may fill. Nothing runs before Run is pressed. */
const FROM_ADDRESS = [
  ...['model', 'address', 'precision', 'suite', 'prompts', 'tokens', 'repeat', 'temperature', 'seed', 'variants'],
  ...['hub', 'hub-dtype', 'peer-device'],
];

const checked = (id: string): HTMLInputElement => {
  const input = element(id, HTMLInputElement);
  if (input.checkValidity()) return input;
  const why = [input.validationMessage, input.title].filter(Boolean).join(' ');
  throw new OutriderError('bad-request', `${input.labels?.[0]?.textContent?.trim()}: ${why}`);
};

const number = (id: string): number => checked(id).valueAsNumber;

export class PlanForm {
  readonly #systems = new SystemBoxes();
  readonly #model = element('model', HTMLSelectElement);
  readonly #address = element('address', HTMLInputElement);
  readonly #suite = element('suite', HTMLSelectElement);
  readonly #own = element('own-prompts', HTMLTextAreaElement);
  readonly #file = element('prompt-file', HTMLInputElement);
  readonly #peer = element('peer', HTMLInputElement);
  readonly #measured = element('measured', HTMLInputElement);
  #ownName = 'own prompts';

  /** The address may fill the form: `?suite=copy&prompts=2&tokens=32&systems=eagle3&peer=bundled&device=unmeasured`. */
  constructor() {
    this.#suite.replaceChildren(...Object.entries(SUITES).map(([id, label]) => new Option(label, id)));
    const parameters = new URLSearchParams(location.search);
    for (const id of FROM_ADDRESS) {
      const [value, control] = [parameters.get(id), document.getElementById(id)];
      if (value !== null && (control instanceof HTMLInputElement || control instanceof HTMLSelectElement))
        control.value = value;
    }
    this.#peer.checked = parameters.get('peer') === 'bundled';
    this.#measured.checked = parameters.get('device') !== 'unmeasured';
    element('choose', HTMLDetailsElement).open = parameters.size > 0;
    this.#suite.addEventListener('change', () => this.#showSuite());
    for (const control of [this.#model, this.#address]) control.addEventListener('change', () => this.#showModel());
    this.#file.addEventListener('click', () => {
      this.#file.value = ''; // so that a file that was mended can be chosen again
    });
    this.#file.addEventListener('change', () => void this.#openFile());
    this.#showSuite();
    this.#showModel();
  }

  /** What the engine loads to measure the device: the target alone. */
  get target(): EngineSetup {
    const { target } = this.#checkedFamily.sources({ needs: ['target'] }, []);
    return { sources: { ...(target && { target }) }, ...this.#how };
  }

  /** Whether the device is measured before the systems. */
  get measured(): boolean {
    return this.#measured.checked;
  }

  async plan(): Promise<Plan> {
    const suite = this.#suite.value;
    if (!isSuite(suite)) throw new OutriderError('bad-request', `there is no suite "${suite}"`);
    const family = this.#checkedFamily;
    const count = number('prompts');
    const how = this.#how; // read now: rows are run again after the form has changed
    return {
      model: family.target.label,
      precision: element('precision', HTMLSelectElement).value,
      suite,
      prompts: await promptsOf(suite, { text: this.#own.value, name: this.#ownName }, count),
      maxTokens: number('tokens'),
      repeat: number('repeat'),
      temperature: number('temperature'),
      seed: number('seed'),
      systems: this.#systems.chosen,
      peers: this.#peers(),
      setup: ({ system }) => ({ sources: family.sources(system, []), ...how }),
    };
  }

  /** Fills in a plan that needs no choices, on the bundled target. */
  fill({ prompts, repeat, tokens, systems, device }: Preset): void {
    const plain = { precision: '', suite: 'bundled-math', temperature: 0, seed: 0, hub: '' };
    for (const [id, value] of Object.entries({ model: 'target', prompts, repeat, tokens, ...plain }))
      (document.getElementById(id) as HTMLInputElement | HTMLSelectElement).value = `${value}`;
    this.#showSuite();
    this.#showModel();
    this.#peer.checked = false;
    this.#measured.checked = device;
    this.#systems.choose(systems);
  }

  /** Disables the form while something runs. */
  freeze(frozen: boolean): void {
    element('setup', HTMLFieldSetElement).disabled = frozen;
  }

  get #family(): Family {
    const url = this.#address.value.trim();
    if (this.#model.value !== 'address') return new Family({ label: this.#model.value, source: this.#model.value });
    return new Family(choiceAt(url));
  }

  get #checkedFamily(): Family {
    if (this.#model.value === 'address') checked('address');
    return this.#family;
  }

  get #how(): Omit<EngineSetup, 'sources'> {
    const precision = (element('precision', HTMLSelectElement).value || undefined) as EngineSetup['precision'];
    return { precision, base: document.baseURI };
  }

  #peers(): readonly PeerEntry[] {
    const device = element('peer-device', HTMLSelectElement).value;
    // A path only: transformers.js takes a whole address for one of the hub.
    const base = new URL('peers/', document.baseURI).pathname;
    const peers: PeerEntry[] = [];
    const name = this.#model.value;
    if (this.#peer.checked && EXPORTED.includes(name))
      peers.push({
        name: `transformers.js, ${device}, f32`,
        model: { name, base, dtype: 'fp32', device },
        same: true,
      });
    const hub = checked('hub').value.trim();
    const dtype = element('hub-dtype', HTMLSelectElement).value;
    if (hub)
      peers.push({
        name: `transformers.js, ${device}, ${hub} ${dtype}`,
        model: { name: hub, base: null, dtype, device },
        same: false,
      });
    return peers;
  }

  #showSuite(): void {
    element('own', HTMLElement).hidden = this.#suite.value !== 'own';
  }

  #showModel(): void {
    element('by-address', HTMLElement).hidden = this.#model.value !== 'address';
    this.#systems.offer(this.#family);
    const exported = EXPORTED.includes(this.#model.value);
    this.#peer.disabled = !exported;
    element('peer-why', HTMLElement).hidden = exported;
    if (!exported) this.#peer.checked = false;
  }

  async #openFile(): Promise<void> {
    const file = this.#file.files?.[0];
    if (!file) return;
    this.#own.value = await file.text();
    this.#ownName = file.name;
    element('prompt-file-name', HTMLElement).replaceChildren(make('span', {}, file.name));
  }
}
