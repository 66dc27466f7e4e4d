// What a system or a model cannot take, in OpenAI's words: an ensemble of two toys that speak the bundled vocabulary.
import { expect, it } from 'vitest';
import { createEngine } from '../engine/engine.ts';
import { HERMES_TEMPLATE, REASONING_TEMPLATE } from '../testing/toys/chat-templates.ts';
import { bundledTokenizer } from '../testing/toys/text-engine.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import { openai } from './openai.ts';

const pair = async (template: string) => {
  const tokenizer = await bundledTokenizer(template);
  const toy = (seed: number) => ({
    name: 'toy',
    model: toyModel({ vocabulary: tokenizer.vocabulary, sharpness: 8, context: 1024, seed }),
    tokenizer,
    stopTokens: [2],
  });
  const engine = createEngine();
  await engine.load({ target: toy(0), draft: toy(1) });
  return engine;
};

const messages = [{ role: 'user', content: 'A cup costs 6 dollars.' }];
const FUNCTION = { name: 'f', parameters: { type: 'object', properties: {} } };
const tools = [{ type: 'function', function: FUNCTION }];
const strict = [{ type: 'function', function: { ...FUNCTION, strict: true } }];
const UNSUPPORTED = 'unsupported_parameter';

it.each<[object, object, string, string | null, string]>([
  [{ response_format: { type: 'json_object' } }, {}, 'response_format', UNSUPPORTED, 'a constraint'],
  [{ tools, tool_choice: 'required' }, {}, 'tool_choice', UNSUPPORTED, 'a constraint'],
  [{ tools: strict }, {}, 'tools', UNSUPPORTED, 'a constraint'],
  [{ frequency_penalty: 1 }, {}, 'frequency_penalty', UNSUPPORTED, 'cos does not take frequency_penalty'],
  [{ presence_penalty: 1 }, {}, 'presence_penalty', UNSUPPORTED, 'cos does not take presence_penalty'],
  [{ logit_bias: { 5: 1 } }, {}, 'logit_bias', UNSUPPORTED, 'cos does not take logit_bias'],
  [{}, { min_tokens: 2 }, 'outrider.min_tokens', UNSUPPORTED, 'cos does not take outrider.min_tokens'],
  [{}, { bad_words: ['a'] }, 'outrider.bad_words', UNSUPPORTED, 'cos does not take outrider.bad_words'],
  [{}, { system: 'dflash' }, 'outrider.system', UNSUPPORTED, 'dflash needs a model for: dflash'],
  [{}, { knobs: { nope: 1 } }, 'outrider.knobs', null, 'cos has no knob "nope"'],
  [{}, { knobs: { gamma: 'x' } }, 'outrider.knobs', null, 'cos: gamma must be whole numbers from 0 to 15, not "x"'],
  [{}, { knobs: { lambda: [1, 1, 1] } }, 'outrider.knobs', null, 'lambda takes one number, or one for each of the 2'],
  [{ reasoning_effort: 'high' }, {}, 'reasoning_effort', UNSUPPORTED, 'has no tags'],
  [{}, { reasoning: true }, 'outrider.reasoning', UNSUPPORTED, 'has no tags'],
  [{}, { reasoning_budget: 10 }, 'outrider.reasoning_budget', UNSUPPORTED, 'has no tags'],
])('an ensemble, asked for %j with %j', async (given, own, param, code, message) => {
  const { create } = openai(await pair(HERMES_TEMPLATE)).chat.completions;
  for (const stream of [false, true]) {
    const asked = create({ messages, max_tokens: 5, ...given, stream, outrider: { system: 'cos', ...own } } as never);
    const error = { status: 400, type: 'invalid_request_error', param, code };
    await expect(asked).rejects.toMatchObject({ ...error, message: expect.stringContaining(message) });
  }
});

it('a budget that the caller of openai() gave, and an ensemble does not keep', async () => {
  const { create } = openai(await pair(REASONING_TEMPLATE), { system: 'cos', reasoning_budget: 3 }).chat.completions;
  await expect(create({ messages, max_tokens: 5 } as never)).rejects.toMatchObject({
    param: 'outrider.reasoning_budget',
    code: UNSUPPORTED,
  });
});
