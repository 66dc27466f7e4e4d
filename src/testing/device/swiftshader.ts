// Chromium's software adapter through Dawn for Node: no f16, subgroups of four, other rounding inside `exp`. A test
// file that uses it opens no other device: the Vulkan loader reads its variables once a process.
import { existsSync } from 'node:fs';
import type { Gpu } from '../../gpu/device.ts';
import { openNodeGpu } from '../../gpu/node.ts';

const icd = '/usr/lib/chromium/vk_swiftshader_icd.json';

/** For `describe.skipIf(noSwiftShader)`. */
export const noSwiftShader = !existsSync(icd);

if (noSwiftShader && process.env.CI === 'true') throw new Error(`CI needs Chromium's SwiftShader: ${icd} is not there`);
if (noSwiftShader) console.warn(`\n*** ${icd} is absent: tests on SwiftShader are SKIPPED ***\n`);

let open: Promise<Gpu> | null = null;

export const swiftShaderGpu = (): Promise<Gpu> => {
  process.env.VK_DRIVER_FILES = icd;
  process.env.VK_ICD_FILENAMES = icd;
  open ??= openNodeGpu().then((gpu) => {
    // A silent fallback to another adapter would make these tests mean nothing.
    if (!/swiftshader/i.test(`${gpu.info.architecture} ${gpu.info.device} ${gpu.info.description}`))
      throw new Error(`asked for SwiftShader, got ${gpu.info.vendor} ${gpu.info.device}`);
    return gpu;
  });
  return open;
};
