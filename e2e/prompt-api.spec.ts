// The Prompt API in Chromium, on the bundled draft: what web-platform-tests asks of every `LanguageModel`, whatever its
// model. docs/web-platform-tests.md says which of those tests each of these stands for, and which are not here.
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { root, WatchedServer } from './server.ts';

interface Harness {
  readonly outrider: typeof import('../src/index.ts');
  readonly promptApi: typeof import('../src/api/prompt-api.ts').promptApi;
}

test('a LanguageModel of the library does what web-platform-tests asks of every one', async ({ page }) => {
  await using library = new WatchedServer(join(root, 'dist/harness'));
  await page.goto(await library.listen());
  await page.waitForFunction(() => 'promptApi' in globalThis);
  const seen = await page.evaluate(async () => {
    const { outrider, promptApi } = globalThis as unknown as Harness;
    const engine = outrider.createEngine();
    const LanguageModel = promptApi(engine, { models: { target: 'draft' }, maxTokens: 8 });
    const create = (options: object = {}) => LanguageModel.create(options);
    /** What a promise is rejected with, as the page sees it. */
    const rejected = (promise: Promise<unknown>): Promise<string> =>
      promise.then(
        () => 'resolved',
        (error: unknown) => (error instanceof DOMException ? error.name : (error as Error).constructor.name),
      );
    const user = (content: unknown) => [{ role: 'user', content }] as never;
    const system = { role: 'system', content: 'Be brief.' };
    const inputs = [null, undefined, {}, '', [], user([]), user([{ type: 'text', value: '' }])] as never[];
    const schema = {
      type: 'object',
      required: ['Rating'],
      additionalProperties: false,
      properties: { Rating: { type: 'number', minimum: 0, maximum: 5 } },
    };
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const tool = { name: 'f', description: 'A tool.', inputSchema: { type: 'object' }, execute: () => '' };

    const before = await LanguageModel.availability();
    /** Scripts that were fetched so far: the grammar engine must not be one of them until a constraint is given. */
    const scripts = () =>
      (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).filter(({ name }) =>
        /\.m?js$/.test(name),
      );
    const session = await create();
    const found: Record<string, unknown> = {
      availability: [
        before,
        await LanguageModel.availability(),
        await LanguageModel.availability({ expectedInputs: [{ type: 'image' }] }),
      ],
      methods: (['prompt', 'promptStreaming', 'append', 'measureContextUsage', 'clone', 'destroy'] as const).map(
        (name) => typeof session[name],
      ),
      figures: [typeof session.contextUsage, typeof session.contextWindow, session.contextUsage],
      answer: typeof (await session.prompt('One')),
      grows: session.contextUsage > 0,
    };

    const modes = [
      'most-predictable',
      'predictable',
      'slightly-predictable',
      'balanced',
      'slightly-creative',
      'creative',
      'most-creative',
    ];
    const sampled: unknown[] = [];
    for (const samplingMode of modes) sampled.push((await (await create({ samplingMode })).clone()).samplingMode);
    found.modes = [sampled, modes];
    found.legacy = (await create({ topK: 1.5, temperature: 0.5 })).topK;
    found.created = await Promise.all(
      [
        { temperature: -0.5, topK: 3 },
        { temperature: 0.5, topK: 0 },
        { samplingMode: 'balanced', topK: 3 },
        { initialPrompts: [...(user('a') as object[]), system] },
        { initialPrompts: [system, system] },
        { expectedInputs: [{ type: 'text', languages: ['en-abc-invalid'] }] },
        { expectedInputs: [{ type: 'text', languages: ['EN'] }] },
        { initialPrompts: [] },
        { initialPrompts: [system] },
        { initialPrompts: [{ ...system, content: 'Be brief. '.repeat(2000) }] },
        {
          monitor: () => {
            throw new RangeError('mine');
          },
        },
      ].map((options) => rejected(create(options))),
    );
    found.tools = await Promise.all(
      [
        { ...tool, inputSchema: null },
        { ...tool, inputSchema: {} },
        { ...tool, inputSchema: 'text' },
        { ...tool, inputSchema: { type: 'string' } },
        { ...tool, inputSchema: { type: 'object', properties: 'text' } },
        { ...tool, inputSchema: { type: 'object', required: 'text' } },
        { ...tool, inputSchema: { type: 'object', circular } },
        { ...tool, name: '' },
        { ...tool, description: '' },
      ].map((each) => rejected(create({ tools: [each] }))),
    );
    found.twice = await rejected(create({ tools: [tool, tool] }));
    found.noTools = await rejected(create({ tools: [] }));

    const open = await create();
    const kinds = [];
    for (const input of inputs) kinds.push(typeof (await open.prompt(input)), await open.append(input));
    found.inputs = [...new Set(kinds)];
    const streams: boolean[] = [];
    for (const input of inputs) {
      const stream = open.promptStreaming(input);
      streams.push(stream instanceof ReadableStream);
      await stream.cancel(); // its answer is not wanted
    }
    found.streams = streams.every(Boolean);
    const late = [{ role: 'user', content: 'a' }, system] as never;
    found.late = [await rejected(open.prompt(late)), await rejected(open.append([system] as never))];
    found.quota = await rejected(open.prompt('How many? '.repeat(3000)));

    const early = scripts().length;
    const begun = [
      { role: 'user', content: 'Rate it.' },
      { role: 'assistant', content: '{ "Rating": ', prefix: true },
    ];
    // Enough tokens for the longest answer that the schema allows.
    const patient = await promptApi(engine, { models: { target: 'draft' }, maxTokens: 48 }).create();
    const ask = (input: unknown, responseConstraint: object) => patient.prompt(input as never, { responseConstraint });
    found.rating = JSON.parse(await ask('Rate it.', schema));
    found.grammarEngine = scripts()
      .slice(early)
      .reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0);
    found.prefixed = JSON.parse(`{ "Rating": ${await ask(begun, schema)}`);
    found.pattern = await ask('Say hello.', /hello/);
    found.refused = [
      await rejected(ask('a', circular)),
      await rejected(ask('a', { type: 'unknown' })),
      await rejected(ask([begun[0], { ...begun[1], content: 'Well, ' }], schema)),
      await rejected(ask([{ ...begun[1] }, begun[0]], schema)),
    ];

    const aborted = new AbortController();
    aborted.abort();
    found.aborted = await Promise.all([
      rejected(create({ signal: aborted.signal })),
      rejected(session.prompt('a', { signal: aborted.signal })),
      rejected(session.append('a', { signal: aborted.signal })),
      rejected(session.measureContextUsage('a', { signal: aborted.signal })),
      rejected(session.clone({ signal: aborted.signal })),
    ]);
    const running = session.prompt('One');
    session.destroy();
    found.destroyed = [await rejected(running), await rejected(session.prompt('One')), typeof session.contextUsage];
    await engine.close();
    return found;
  });
  expect(seen).toEqual({
    availability: ['downloadable', 'available', 'unavailable'],
    methods: Array.from({ length: 6 }, () => 'function'),
    figures: ['number', 'number', 0],
    answer: 'string',
    grows: true,
    modes: [(seen.modes as unknown[])[1], (seen.modes as unknown[])[1]],
    legacy: 1,
    created: [
      ...['RangeError', 'RangeError', 'TypeError', 'TypeError', 'TypeError', 'RangeError'],
      ...['resolved', 'resolved', 'resolved', 'QuotaExceededError', 'RangeError'],
    ],
    tools: Array.from({ length: 9 }, () => 'TypeError'),
    twice: 'TypeError',
    noTools: 'resolved',
    inputs: ['string', undefined],
    streams: true,
    late: ['TypeError', 'TypeError'],
    quota: 'QuotaExceededError',
    rating: { Rating: expect.any(Number) },
    grammarEngine: expect.any(Number),
    prefixed: { Rating: expect.any(Number) },
    pattern: 'hello',
    refused: ['NotSupportedError', 'NotSupportedError', 'NotSupportedError', 'SyntaxError'],
    aborted: Array.from({ length: 5 }, () => 'AbortError'),
    destroyed: ['InvalidStateError', 'InvalidStateError', 'number'],
  });
  // Its WebAssembly is in the script: about 1 MB, fetched with the first constraint.
  expect(seen.grammarEngine).toBeGreaterThan(900_000);
  expect(seen.grammarEngine).toBeLessThan(1_200_000);
});
