// The schemas of JSON Schema's own test suite (npm `json-schema-test-suite`, draft 4): each is kept, so that every answer of
// a model is valid, or refused by name. A toy model writes nonsense at temperature 1; with OUTRIDER_FULL=1 the bundled
// draft writes on the device, under every schema.
import Ajv from 'ajv';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../engine/engine.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { draftEngine, toyTextEngine } from '../testing/toys/text-engine.ts';
import type { EventOf, TraceEvent } from '../trace/index.ts';
import type { JsonSchema } from './constraint.ts';
import { schemaGrammar } from './json-schema.ts';

interface Group {
  readonly description: string;
  readonly schema: JsonSchema;
}

const full = Boolean(process.env.OUTRIDER_FULL);

/** The suite is CommonJS without types. */
const suite = async (): Promise<readonly { readonly name: string; readonly schema: Group }[]> => {
  // @ts-expect-error: it has no types
  const { default: library } = (await import('json-schema-test-suite')) as {
    default: { draft4(): readonly { name: string; schemas: readonly Group[] }[] };
  };
  return library
    .draft4()
    .flatMap(({ name, schemas }) => schemas.map((schema) => ({ name: `${name}: ${schema.description}`, schema })));
};

const refusal = (schema: JsonSchema): string | null => {
  try {
    schemaGrammar(schema);
    return null;
  } catch (error) {
    expect(error).toMatchObject({ code: 'bad-constraint' });
    return (error as Error).message;
  }
};

/** What ajv of draft 7 reads in another way than draft 4: bounds that a flag makes exclusive. */
const asDraft7 = (node: unknown): unknown => {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map(asDraft7);
  const own = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, asDraft7(value)]));
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const)
    if (own[flag] === true) own[flag] = own[bound];
    else if (own[flag] === false) delete own[flag];
  return own;
};

const answerOf = async (engine: Engine, schema: JsonSchema, seed: number): Promise<EventOf<'done'>> => {
  const prompt = { messages: [{ role: 'user', content: 'Write JSON.' }] };
  let last: TraceEvent | undefined;
  for await (const event of engine.run({
    prompt,
    constraint: { json_schema: schema },
    temperature: 1,
    seed,
    maxTokens: 200,
  }))
    last = event;
  return last as EventOf<'done'>;
};

describe('the schemas of draft 4', async () => {
  const groups = await suite();
  const kept = groups.filter(({ schema }) => refusal(schema.schema) === null);

  it('are kept, or refused with the keyword and its place', () => {
    for (const { schema } of groups) {
      const message = refusal(schema.schema);
      if (message !== null) expect(message).toMatch(/^json_schema at .+: /);
    }
    console.log(`${kept.length} of ${groups.length} schemas are kept`);
    expect(kept.length).toBe(76);
  });

  it('that are kept have valid answers', { timeout: 600_000 }, async () => {
    const engine = full ? await draftEngine(await testGpu()) : await toyTextEngine(1024, [0, 1, 2]);
    const ajv = new Ajv({ strict: false, validateFormats: false });
    const chosen = full ? kept : kept.filter((_, i) => i % 6 === 0);
    let ended = 0;
    for (const [i, { name, schema }] of chosen.entries()) {
      const { text, constraint } = await answerOf(engine, schema.schema, i);
      if (!constraint?.valid) continue; // its 200 tokens ended inside a value
      ended++;
      const { id: _, $schema: __, ...own } = asDraft7(schema.schema) as Readonly<Record<string, unknown>>;
      expect(ajv.validate(own, JSON.parse(text ?? '')), `${name}: ${text}`).toBe(true);
    }
    console.log(`${ended} of ${chosen.length} answers ended within 200 tokens; all of them are valid`);
    expect(ended).toBeGreaterThan(chosen.length / 3);
    await engine.close();
  });
});
