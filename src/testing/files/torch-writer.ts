// Writes a PyTorch checkpoint as `torch.save` does: a zip archive without compression, of a pickle and storages.

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const u16 = (value: number): number[] => [value & 255, value >> 8];
const u32 = (value: number): number[] => [...u16(value & 65535), ...u16(value >>> 16)];

export interface TorchTensor {
  readonly name: string;
  /** Of torch: `FloatStorage` … */
  readonly storage: string;
  readonly shape: readonly number[];
  readonly stride?: readonly number[];
  readonly data: Uint8Array;
}

const string = (value: string): number[] => [0x58, ...u32(text(value).length), ...text(value)];
const global = (module: string, name: string): number[] => [0x63, ...text(`${module}\n${name}\n`)];
const int = (value: number): number[] => [0x4a, ...u32(value)];
const tuple = (values: readonly number[][]): number[] => [0x28, ...values.flat(), 0x74];

/** The table as the program of a stack machine; `call` replaces the function that makes a tensor. */
export const pickleOf = (
  tensors: readonly TorchTensor[],
  call = ['torch._utils', '_rebuild_tensor_v2'],
): Uint8Array => {
  const entry = ({ name, storage, shape, stride, data }: TorchTensor, i: number): number[] => {
    const own = stride ?? shape.map((_, at) => shape.slice(at + 1).reduce((a, b) => a * b, 1));
    const stored = tuple([
      string('storage'),
      global('torch', storage),
      string(`${i}`),
      string('cpu'),
      int(data.length),
    ]);
    const ordered = [...global('collections', 'OrderedDict'), 0x29, 0x52];
    const parts = [[...stored, 0x51], int(0), tuple(shape.map(int)), tuple(own.map(int)), [0x89], ordered];
    return [...string(name), ...global(call[0] as string, call[1] as string), ...tuple(parts), 0x52];
  };
  return Uint8Array.from([0x80, 2, 0x7d, 0x71, 0, 0x28, ...tensors.flatMap(entry), 0x75, 0x2e]);
};

export const writeTorch = (tensors: readonly TorchTensor[], pickle = pickleOf(tensors)): Uint8Array => {
  const members: (readonly [string, Uint8Array])[] = [
    ['model/data.pkl', pickle],
    ['model/byteorder', text('little')],
    ...tensors.map(({ data }, i) => [`model/data/${i}`, data] as const),
  ];
  const file: number[] = [];
  const directory: number[] = [];
  for (const [name, data] of members) {
    const sizes = [...u32(0), ...u32(data.length), ...u32(data.length), ...u16(name.length)];
    const header = file.length;
    const common = [...u16(0), ...u16(0), ...u16(0), ...u16(0)];
    file.push(...u32(0x04034b50), ...u16(20), ...common, ...sizes, ...u16(0), ...text(name), ...data);
    directory.push(...u32(0x02014b50), ...u16(20), ...u16(20), ...common, ...sizes);
    directory.push(...u16(0), ...u16(0), ...u16(0), ...u16(0), ...u32(0), ...u32(header), ...text(name));
  }
  const end = [...u32(0x06054b50), ...u16(0), ...u16(0), ...u16(members.length), ...u16(members.length)];
  const place = [...u32(directory.length), ...u32(file.length), ...u16(0)];
  return Uint8Array.from([...file, ...directory, ...end, ...place]);
};
