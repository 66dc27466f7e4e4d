// axe, on the page as it stands.
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';

type Violations = Awaited<ReturnType<AxeBuilder['analyze']>>['violations'];

/**
 * What axe finds; `rules`: these alone. Legacy mode, or it would open a second page to gather what frames of other
 * origins say, and none of our pages has such a frame: half of its time.
 */
export const audit = async (page: Page, rules?: string[]): Promise<Violations> => {
  const axe = new AxeBuilder({ page }).setLegacyMode();
  return (await (rules ? axe.withRules(rules) : axe).analyze()).violations;
};

/** Those of them that keep someone from using the page. */
export const serious = (violations: Violations): Violations =>
  violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
