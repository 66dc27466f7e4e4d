// The browser of the tests: full Chromium (the headless shell has no WebGPU) on SwiftShader, so that every machine gives
// the same pixels and tokens.
import { type Browser, chromium, type LaunchOptions } from '@playwright/test';
import { findChromium } from '../.ci/machine.mjs';

/** Two pages that every window of Chromium loads for its address bar: 2.2 of the 9 s of processor time of a demo page. */
const OF_EACH_WINDOW = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'];

/** Chromium heeds the last list of features only, so this repeats what Playwright 1.65 switches off. */
const OF_PLAYWRIGHT = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];

const launchOptions = (webgpu: readonly string[], ...off: readonly string[]): LaunchOptions => ({
  executablePath: findChromium() ?? 'chromium',
  args: [
    ...webgpu,
    '--headless=new',
    `--disable-features=${[...OF_PLAYWRIGHT, ...OF_EACH_WINDOW, ...off].join()}`,
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ],
});

export const LAUNCH = launchOptions(['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader']);

/** The same browser without WebGPU. */
export const withoutWebGpu = (): Promise<Browser> => chromium.launch(launchOptions([], 'WebGPUService'));
