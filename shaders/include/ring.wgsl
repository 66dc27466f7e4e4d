// Where a layer's cache keeps a chunk of slots, counted through all kv heads. A layer with a window keeps fewer slots than
// the cache has: a later chunk takes the place of an earlier one (model/cache/window-ring.ts). Needs `uniforms`.
fn placeOf(head: u32, chunk: u32) -> u32 {
  let chunks = uniforms.ring / 64;
  return head * chunks + chunk % chunks;
}
