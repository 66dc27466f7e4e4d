// Counts the GPU calls of this worker. WebGPU's prototypes are wrapped, so that the engine and a peer are counted in
// the same way. Every worker of the benchmark imports this first; read-counters.ts is the page's side.

export interface Counts {
  readonly dispatches: number;
  readonly submits: number;
  readonly maps: number;
  readonly bindGroups: number;
  /** Bytes of live buffers, and their peak since `reset`. */
  readonly bytes: number;
  readonly peakBytes: number;
}

const counts = { dispatches: 0, submits: 0, maps: 0, bindGroups: 0, bytes: 0, peakBytes: 0 };

type Method = (...args: never[]) => unknown;

/** Calls `note` after every call of this method. */
const wrap = <Owner extends object>(
  owner: string,
  name: keyof Owner & string,
  note: (self: Owner, result: unknown) => void,
): void => {
  const type = (globalThis as Record<string, unknown>)[owner] as { readonly prototype: Owner } | undefined;
  const original = type?.prototype[name] as Method | undefined;
  if (!type || !original) return;
  Object.defineProperty(type.prototype, name, {
    configurable: true,
    value: function counted(this: Owner, ...args: never[]): unknown {
      const result = original.apply(this, args);
      note(this, result);
      return result;
    },
  });
};

const add = (what: 'dispatches' | 'submits' | 'maps' | 'bindGroups') => (): void => {
  counts[what]++;
};

const alive = new WeakSet<GPUBuffer>();

wrap<GPUComputePassEncoder>('GPUComputePassEncoder', 'dispatchWorkgroups', add('dispatches'));
wrap<GPUComputePassEncoder>('GPUComputePassEncoder', 'dispatchWorkgroupsIndirect', add('dispatches'));
wrap<GPUQueue>('GPUQueue', 'submit', add('submits'));
wrap<GPUBuffer>('GPUBuffer', 'mapAsync', add('maps'));
wrap<GPUDevice>('GPUDevice', 'createBindGroup', add('bindGroups'));
wrap<GPUDevice>('GPUDevice', 'createBuffer', (_, made) => {
  const buffer = made as GPUBuffer;
  alive.add(buffer);
  counts.bytes += buffer.size;
  counts.peakBytes = Math.max(counts.peakBytes, counts.bytes);
});
wrap<GPUBuffer>('GPUBuffer', 'destroy', (buffer) => {
  if (alive.delete(buffer)) counts.bytes -= buffer.size;
});

export const countsNow = (): Counts => ({ ...counts });

export interface CountsQuestion {
  readonly counts: 'read' | 'reset';
}

self.addEventListener('message', ({ data, ports: [port] }: MessageEvent<Partial<CountsQuestion> | null>) => {
  if (!port || !data?.counts) return;
  if (data.counts === 'reset') counts.peakBytes = counts.bytes;
  port.postMessage(countsNow());
});
