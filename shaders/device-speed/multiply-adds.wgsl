// x = x · factor + term, in eight independent chains of four lanes each: enough to hide the latency of one.
struct Uniforms { lanes: u32, repeats: u32, factor: f32, term: f32 }

@group(0) @binding(0) var<storage, read_write> output: array<f32>;
@group(0) @binding(1) var<uniform> uniforms: Uniforms;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let factor = vec4f(uniforms.factor);
  let term = vec4f(uniforms.term);
  var a = vec4f(0, 1, 2, 3);
  var b = a + 4;
  var c = a + 8;
  var d = a + 12;
  var e = a + 16;
  var f = a + 20;
  var g = a + 24;
  var h = a + 28;
  for (var i = 0u; i < uniforms.repeats; i++) {
    a = fma(a, factor, term);
    b = fma(b, factor, term);
    c = fma(c, factor, term);
    d = fma(d, factor, term);
    e = fma(e, factor, term);
    f = fma(f, factor, term);
    g = fma(g, factor, term);
    h = fma(h, factor, term);
  }
  let sum = (a + b + c + d) + (e + f + g + h);
  if (id.x < uniforms.lanes) { output[id.x] = sum.x + sum.y + sum.z + sum.w; }
}
