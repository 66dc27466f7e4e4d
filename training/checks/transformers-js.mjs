// Compares transformers.js with the ids and chats that reference_ids.py wrote.
//     node transformers-js.mjs MODEL_DIR REFERENCE.json      (where @huggingface/transformers 4 can be resolved)
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { AutoTokenizer, env } from '@huggingface/transformers';

const [folder, file] = process.argv.slice(2);
env.allowRemoteModels = false;
env.localModelPath = dirname(resolve(folder));
const tokenizer = await AutoTokenizer.from_pretrained(basename(folder));
const { rows, chats } = JSON.parse(readFileSync(file, 'utf8'));
let wrong = 0;

const same = (what, got, wanted) => {
  if (JSON.stringify(got) === JSON.stringify(wanted)) return;
  wrong += 1;
  console.log('differs:', JSON.stringify(what), JSON.stringify(got), JSON.stringify(wanted));
};

for (const { text, ids } of rows) {
  same(text, tokenizer.encode(text, { add_special_tokens: false }), ids);
  if (ids.length > 0) {
    const back = tokenizer.decode(ids, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
    same(`decode ${text}`, back, text);
  }
}
for (const { chat, ask, text, ids } of chats) {
  const got = tokenizer.apply_chat_template(chat, { tokenize: false, add_generation_prompt: ask });
  same(chat, got, text);
  same(text, tokenizer.encode(got, { add_special_tokens: false }), ids);
}
console.log(`${rows.length} strings, ${chats.length} chats, ${wrong} differences`);
process.exitCode = wrong > 0 ? 1 : 0;
