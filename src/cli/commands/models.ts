// The models that come with Outrider.
import { defineCommand } from '../command.ts';
import { bundledModels, openModel } from '../model-source.ts';
import { formatBytes, table } from '../table.ts';
import { describeCheckpoint } from './inspect.ts';

export const models = defineCommand({
  name: 'models',
  summary: 'the models that come with Outrider',
  usage: '',
  positionals: [],
  options: {},
  async run({ values }, terminal) {
    const list = [];
    for (const model of bundledModels(terminal.root)) {
      using checkpoint = await openModel(model, terminal);
      const { family, parameters, bytes, sizes } = describeCheckpoint(checkpoint, true);
      list.push({ model, family, parameters, bytes, sizes });
    }
    if (values.json) return terminal.json(list);
    const rows = list.map(({ model, family, parameters, bytes, sizes }) => [
      model,
      `${family}`,
      `${(parameters / 1e6).toFixed(2)} M parameters`,
      `${sizes?.layers} layers × ${sizes?.hidden}`,
      formatBytes(bytes),
    ]);
    await terminal.write(`${table(null, rows)}\n`);
  },
});
