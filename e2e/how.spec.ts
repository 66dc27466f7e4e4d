// “How it works”: figures that play recorded runs, by pointer and keyboard, and without any model. Also the links between
// all pages. Axe, widths and reduced motion are in quality.spec.ts.
import { expect, type Page, test } from '@playwright/test';

const FIGURES = ['round', 'tree', 'block', 'vote', 'route'] as const;
type Name = (typeof FIGURES)[number];

const figure = (page: Page, name: Name) => page.locator(`#figure-${name}`);
const moment = (page: Page, name: Name) => figure(page, name).getByRole('slider', { name: 'Moment' });

/** Scrolls to the figure, which loads then, and goes through its moments by keyboard. Returns what is said at each. */
const walk = async (page: Page, name: Name): Promise<readonly string[]> => {
  await figure(page, name).scrollIntoViewIfNeeded();
  // It plays once it is seen, two frames later at most, and a key that moves nothing would not stop it.
  await figure(page, name)
    .locator('.figure-player')
    .evaluate(
      (player) =>
        new Promise<void>((resolve) => {
          const button = player.querySelector('button');
          let frames = 0;
          const look = (): void => {
            if (button?.textContent === 'Pause') button.click();
            else if (++frames < 5) return void requestAnimationFrame(look);
            resolve();
          };
          look();
        }),
    );
  const slider = moment(page, name);
  await slider.press('Home');
  const said: string[] = [];
  for (let i = 0; i < 400; i++) {
    const text = (await slider.getAttribute('aria-valuetext')) ?? '';
    await expect(figure(page, name).locator('p.now')).toHaveText(text);
    if (said.at(-1) !== text) said.push(text);
    if ((await slider.inputValue()) === (await slider.getAttribute('max'))) break;
    await slider.press(name === 'route' ? 'PageUp' : 'ArrowRight');
  }
  return said;
};

test.describe.configure({ mode: 'serial' });

let page: Page;
const asked: string[] = [];
test.beforeAll(async ({ browser }) => {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto('/how.html');
});
test.afterAll(() => page.close());

test('until it is seen, a figure shows its last moment: the first is an empty frame', async () => {
  await expect(figure(page, 'vote').locator('p.now')).toHaveText(/yet the average is highest for/);
  await expect(figure(page, 'block').locator('.chip.empty')).toHaveCount(0);
});

test('a figure plays when it is seen, and can be paused', async () => {
  await figure(page, 'round').scrollIntoViewIfNeeded();
  await expect.poll(async () => Number(await moment(page, 'round').inputValue())).toBeGreaterThan(0);
  await figure(page, 'round').getByRole('button', { name: 'Pause' }).click();
  const at = await moment(page, 'round').inputValue();
  await page.waitForTimeout(2500); // longer than a moment lasts
  expect(await moment(page, 'round').inputValue()).toBe(at);
});

test('a round: draft, verify, accept, correct', async () => {
  const said = await walk(page, 'round');
  expect(said.map((text) => /^(\w+):/.exec(text)?.[1] ?? '')).toEqual(['', 'Draft', 'Verify', 'Accept', 'Correct', '']);
  const round = figure(page, 'round');
  const kept = await round.locator('.chip.kept').count();
  expect(said[3]).toContain(`agrees with ${kept} guesses`);
  expect(said[5]).toContain(`${kept + 1} tokens`);
  // Only the first guess that the target refuses has a low probability; it is followed by the correction.
  const shares = await round.locator('.guess:has(.kept) .verdict-of').allTextContents();
  expect(shares.every((share) => Number.parseFloat(share) > 50)).toBe(true);
  await expect(round.locator('.guess:has(.struck) .verdict-of').first()).toHaveText('< 0.1 %');
  await expect(round.locator('.guess:has(.struck) + .own .chip.on').first()).toBeVisible();
  // What follows a refused guess is probable only after it.
  await expect(round.locator('.guess:has(.struck) .verdict-of').last()).toHaveText(/^100 %, after “trees”$/);
  await expect(round.locator('figcaption')).toContainText(
    /\d+ passes of the large model instead of \d+, plus \d+ of the drafter, word for word/,
  );
});

test('a tree: a second guess is kept where the first was wrong', async () => {
  const said = await walk(page, 'tree');
  expect(said.filter((text) => text.startsWith('Draft')).length).toBeGreaterThan(3);
  const tree = figure(page, 'tree');
  await expect(tree.locator('.so-far')).toHaveText(/Eva gets 7 fewer/);
  expect(await tree.locator('.cell.rejected').count()).toBeGreaterThan(5);
  await expect(tree.locator('figcaption')).toContainText('a chain would have ended there');
  expect(said.at(-1)).toContain(`${(await tree.locator('.cell.drafted').count()) + 1} tokens in one round`);
});

test('blocks: a round each, and the text is the recorded answer', async () => {
  const said = await walk(page, 'block');
  const block = figure(page, 'block');
  const rounds = await block.locator('.block.on').count();
  expect(said).toHaveLength(3 * rounds);
  await expect(block.locator('.chip.empty')).toHaveCount(0);
  const kept = (await block.locator('.chip:not(.struck)').allTextContents()).join('').replaceAll('␣', ' ');
  expect(kept).toContain('9 * 7 = 63 chairs.');
});

test('a vote: the average decides against two of three', async () => {
  const said = await walk(page, 'vote');
  expect(said.some((text) => text.startsWith('All of them agree'))).toBe(true);
  expect(said.at(-1)).toMatch(
    /^Here the mid model prefers “(.)” and the draft model prefers “\1”, .* highest for “(?!\1).”\.$/,
  );
});

test('a step router: a stricter judge escalates more', async () => {
  const said = await walk(page, 'route');
  expect(said.some((text) => /^Step 2 is escalated/.test(text))).toBe(true);
  const route = figure(page, 'route');
  await expect(route.locator('.hand.handed')).toHaveCount(1);
  expect((await route.locator('.score-scale').first().boundingBox())?.height).toBeGreaterThan(4);
  await route.getByRole('slider', { name: 'How strict is the judge?' }).press('End');
  await expect(route.locator('.hand.handed')).toHaveCount(3);
  await route.getByRole('slider', { name: 'How strict is the judge?' }).press('Home');
  await expect(route.locator('.hand-total')).toContainText('✗ wrong');
});

test('no model was asked for', () => {
  expect(asked.filter((path) => path.includes('/traces/')).length).toBeGreaterThan(5);
  expect(asked.filter((path) => /\/models\/|worker|engine/.test(path))).toEqual([]);
});

test('a figure that cannot be loaded says so', async ({ browser }) => {
  const cut = await browser.newPage();
  await cut.route('**/traces/**', (route) => route.abort());
  await cut.goto('/how.html');
  await figure(cut, 'round').scrollIntoViewIfNeeded();
  await expect(figure(cut, 'round').getByRole('alert')).toContainText('Check the connection');
  await cut.close();
});

test('every page links to all others, to the guide and to the repository; every link leads somewhere', async ({
  request,
}) => {
  const documents = ['repository/docs/guide/getting-started.html', 'repository/README.html'];
  const start = ['', 'how.html', 'benchmark.html', 'widget.html', ...documents];
  const followed = new Set<string>();
  for (const path of start) {
    const html = await (await request.get(`/${path}`)).text();
    const base = new URL(path, 'http://page/');
    const found = [...html.matchAll(/<a [^>]*href="([^"#]+)/g)].map(([, href = '']) => new URL(href, base));
    const own = found.filter(({ host }) => host === 'page').map(({ pathname }) => pathname);
    for (const to of ['how.html', 'benchmark.html', 'widget.html', 'repository/README.html'])
      expect(own, `${path} → ${to}`).toContain(`/${to}`);
    expect(own, path).toContain('/repository/docs/guide/getting-started.html');
    for (const each of own) followed.add(each);
  }
  for (const data of ['runs.json', 'README.html']) expect([...followed]).toContain(`/repository/docs/results/${data}`);
  for (const path of followed) {
    const answer = await request.get(path);
    expect(answer.status(), path).toBe(200);
  }
});
