// The models that were downloaded by address and are kept on this machine: a list, and deletion.
import { UsageError } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { openDiskStore, storePath } from '../store.ts';
import { formatBytes, table } from '../table.ts';

export const store = defineCommand({
  name: 'store',
  summary: 'the downloaded models that are kept on this machine',
  usage: '[delete NAME]',
  about: `They are in ${storePath()}; the variable OUTRIDER_STORE names another folder.`,
  positionals: [],
  optional: ['delete', 'NAME'],
  options: {},
  async run({ values, positionals: [action, name] }, { json, write, note }) {
    const kept = openDiskStore();
    const models = await kept.list();
    if (action === undefined) {
      if (values.json) return json(models);
      note(`store: ${storePath()}`);
      if (models.length === 0) return note('no model is stored');
      const rows = models.map(({ name, bytes, complete }) => [name, formatBytes(bytes), complete ? '' : 'incomplete']);
      return write(`${table(null, rows)}\n`);
    }
    if (action !== 'delete') throw new UsageError(`store knows no "${action}"`, 'outrider store delete NAME');
    if (name === undefined) throw new UsageError('store delete needs NAME', 'outrider store lists the names.');
    const { bytes } = await kept.delete(name);
    if (values.json) return json({ deleted: name, bytes });
    await write(`${name} is deleted: ${formatBytes(bytes)}\n`);
  },
});
