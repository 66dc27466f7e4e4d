// The models that come with Outrider, and the published ones that its pages offer.
import { CATALOGUE, type CatalogueEntry, catalogueAddress } from '../../catalogue/catalogue.ts';
import { flag } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { bundledNames, bundledPolicyBytes, openModel } from '../model-source.ts';
import { formatBytes, table } from '../table.ts';
import { describeCheckpoint } from './inspect.ts';

const KNOWN = { weights: 'weights run', config: 'config read', name: 'name only' } as const;

const amount = (megabytes: number): string =>
  megabytes < 1000 ? `${Math.round(megabytes)} MB` : `${(megabytes / 1000).toFixed(2)} GB`;

/** As scripts read it, with the address that --model takes. */
const asJson = (entry: CatalogueEntry) => ({ ...entry, address: catalogueAddress(entry) });

const catalogueRow = ({ id, role, parameters, files, memory, licence, partners, known }: CatalogueEntry): string[] => [
  id,
  role,
  parameters === null ? 'unknown' : `${(parameters / 1e9).toFixed(2)} B`,
  files.map(({ precision, megabytes }) => `${precision} ${amount(megabytes)}`).join(', ') || 'unknown',
  memory ? `${amount(memory.q4)} / ${amount(memory.q8)} / ${amount(memory.f16)}` : 'unknown',
  `${licence.name}${licence.terms ? ' (terms)' : ''}`,
  partners.map((partner) => `${partner.role} ${partner.id}`).join(', ') || '–',
  KNOWN[known],
];

const COLUMNS = ['id', 'role', 'parameters', 'download', 'device at q4 / q8 / f16', 'licence', 'drafted by', 'checked'];

const catalogue = (): string => {
  const addresses = CATALOGUE.map((entry) => [entry.id, entry.goodAt, catalogueAddress(entry)]);
  return `${table(COLUMNS, CATALOGUE.map(catalogueRow))}\n\n${table(['id', 'good at', 'address'], addresses)}\n`;
};

export const models = defineCommand({
  name: 'models',
  summary: 'the models that come with Outrider, and published ones',
  usage: '[--catalogue]',
  positionals: [],
  options: { catalogue: flag('published models: sizes, licences, drafters, and whether their weights were run') },
  async run({ values }, terminal) {
    if (values.catalogue) return values.json ? terminal.json(CATALOGUE.map(asJson)) : terminal.write(catalogue());
    const list = [];
    for (const model of bundledNames(terminal.root)) {
      const policy = bundledPolicyBytes(terminal.root, model);
      if (policy !== null) {
        list.push({ model, family: 'blockpilot', parameters: null, bytes: policy, sizes: null }); // ONNX has no header
        continue;
      }
      using checkpoint = await openModel(model, terminal);
      const { family, parameters, bytes, sizes } = describeCheckpoint(checkpoint, true);
      list.push({ model, family, parameters, bytes, sizes });
    }
    if (values.json) return terminal.json(list);
    const rows = list.map(({ model, family, parameters, bytes, sizes }) => [
      model,
      `${family}`,
      parameters === null ? 'a policy' : `${(parameters / 1e6).toFixed(2)} M parameters`,
      sizes === null ? '' : `${sizes.layers} layer${sizes.layers === 1 ? '' : 's'} × ${sizes.hidden}`,
      formatBytes(bytes),
    ]);
    await terminal.write(`${table(null, rows)}\n`);
  },
});
