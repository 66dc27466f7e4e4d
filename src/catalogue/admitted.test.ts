// Which of the models that people run the engine admits, as a table: a config or a GGUF header of each is opened as a load
// would open it. `npx vitest run src/catalogue/admitted.test.ts -u` writes docs/admitted.md.
import { expect, test } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import { isDrafter, readArchitecture, readDrafter } from '../model/families/families.ts';
import { checkedAny } from '../model/load/checked-architecture.ts';
import { PUBLISHED } from '../testing/published/configs.ts';
import { mixOf, publishedGguf } from '../testing/published/gguf-header.ts';
import { type ListedFile, WEBGPU_BENCH, WLLAMA } from '../testing/published/lists.ts';
import { openCheckpoint } from '../weights/open.ts';
import { CATALOGUE, type CatalogueEntry } from './catalogue.ts';

interface Row {
  readonly name: string;
  readonly read: string;
  readonly refused: string;
  readonly note: string;
}

/** Why it is refused; '' when it is not. */
const refusal = async (admit: () => void | Promise<void>): Promise<string> => {
  try {
    await admit();
    return '';
  } catch (error) {
    if (error instanceof OutriderError) return error.message;
    throw error;
  }
};

const openFile = async (config: Readonly<Record<string, unknown>>, quantisation: string): Promise<void> => {
  const mix = mixOf(quantisation);
  if (!mix) throw new Error(`which types ${quantisation} has is not known`);
  using checkpoint = await openCheckpoint(publishedGguf(config, mix).source);
  checkedAny(checkpoint);
};

const fileRow = async ({ file, from, quantisation, note = '' }: ListedFile): Promise<Row> => ({
  name: `\`${file}\``,
  read: 'GGUF header',
  refused: await refusal(() => openFile(PUBLISHED[from] ?? {}, quantisation)),
  note,
});

const entryRow = async ({ title, repository, from = repository, files, known }: CatalogueEntry): Promise<Row> => {
  const config = PUBLISHED[from];
  if (!config) return { name: title, read: '–', refused: '', note: 'not read: only its name is known to us' };
  const [file] = files;
  const gguf = file !== undefined && file.precision !== 'safetensors';
  const refused = await refusal(() => {
    if (gguf) return openFile(config, file.precision);
    if (isDrafter(config)) readDrafter(config);
    else readArchitecture(config);
  });
  const note = known === 'weights' ? 'weights run' : '';
  return { name: title, read: gguf ? `GGUF header, ${file.precision}` : 'config', refused, note };
};

const tableOf = (rows: readonly Row[]): string =>
  [
    '| model | what was read | result | note |',
    '| --- | --- | --- | --- |',
    ...rows.map(({ name, read, refused, note }) => {
      const result = read === '–' ? '–' : refused === '' ? 'admitted' : `refused: ${refused}`;
      return `| ${name} | ${read} | ${result} | ${note} |`;
    }),
  ].join('\n');

const share = (rows: readonly Row[]): string => {
  const read = rows.filter(({ read }) => read !== '–');
  const unread = rows.length - read.length;
  const admitted = `${read.filter(({ refused }) => refused === '').length} of ${read.length}`;
  return unread === 0 ? admitted : `${admitted}; ${unread} more are known by name only`;
};

test('docs/admitted.md says which published models are admitted', async () => {
  const [wllama, bench, catalogue] = await Promise.all([
    Promise.all(WLLAMA.map(fileRow)),
    Promise.all(WEBGPU_BENCH.map(fileRow)),
    Promise.all(CATALOGUE.filter(({ bundled }) => !bundled).map(entryRow)),
  ]);
  expect([wllama.length, bench.length]).toEqual([17, 27]);
  expect([...wllama, ...bench, ...catalogue].filter(({ refused }) => refused !== '')).toEqual([]);
  const text = `# Which published models are admitted

This page says which of the models that people use the engine can open. Each row comes from a published config, or
from a GGUF header written from that config with the types of the file's quantisation. A load makes the same checks.
No weights are read here, so a row says that a file is admitted and nothing of its answers.

\`\`\`sh
npx vitest run src/catalogue/admitted.test.ts -u
\`\`\`
| list | admitted |
| --- | --- |
| models of wllama's demo | ${share(wllama)} |
| quantisations of Llama-3.2-1B-Instruct in webgpu-bench | ${share(bench)} |
| the catalogue, \`outrider models --catalogue\` | ${share(catalogue)} |

## wllama's demo
${tableOf(wllama)}

## webgpu-bench
${tableOf(bench)}

## The catalogue
${tableOf(catalogue)}
`;
  await expect(text).toMatchFileSnapshot('../../docs/admitted.md');
});

test('a model that is not known is refused, and its row says why', async () => {
  const refused = await refusal(() => void readArchitecture({ architectures: ['MambaForCausalLM'] }));
  expect(tableOf([{ name: 'Mamba', read: 'config', refused, note: '' }])).toContain(
    'refused: architecture MambaForCausalLM is not supported',
  );
});
