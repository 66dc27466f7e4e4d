// Changes rows of logits in place, a workgroup a row: biases, then the penalties of tokens that occur in the row's text,
// then bans. A row's text is what is committed and the drafts on the way to the row. The counts of both are added before a
// logit is touched, and all tokens pass the same instructions, so a row has the bits that plain decoding gives it.
#include "../include/structs/adjust-job.wgsl"
#include "../include/structs/choice.wgsl"
#include "../include/structs/draft-node.wgsl"
#include "../include/structs/logit-ban.wgsl"
#include "../include/structs/logit-bias.wgsl"
#include "../include/structs/token-count.wgsl"

struct Uniforms { rows: u32, stride: u32 }

@group(0) @binding(0) var<storage, read> job: AdjustJob;
@group(0) @binding(1) var<storage, read> nodes: array<DraftNode>;
@group(0) @binding(2) var<storage, read> tokenRing: array<Choice>;
@group(0) @binding(3) var<storage, read> counts: array<TokenCount>;
@group(0) @binding(4) var<storage, read> biases: array<LogitBias>;
@group(0) @binding(5) var<storage, read> bans: array<LogitBan>;
@group(0) @binding(6) var<storage, read> texts: array<u32>; // the end of the committed text, then what bans come after
@group(0) @binding(7) var<storage, read_write> logits: array<f32>;
@group(0) @binding(8) var<uniform> uniforms: Uniforms;

const MOST_NODES = 64u;
const NO_PARENT = 0xffffffffu;
const BANNED = -1e30; // finite: where a constraint allows banned tokens only, one of them is drawn

override threads: u32 = 256;

var<workgroup> drafts: array<u32, MOST_NODES>; // on the way to the row, beyond the committed text
var<workgroup> draftCount: u32;
var<workgroup> committed: array<atomic<u32>, MOST_NODES>; // 1: the draft occurs in the committed text too

fn tokenOf(node: DraftNode) -> u32 {
  if (node.ringEntry > 0) { return tokenRing[node.ringEntry - 1].token; }
  return node.token;
}

fn findDrafts(row: u32) {
  let last = job.first + row;
  var depth = 0u;
  for (var node = nodes[last].parent; node != NO_PARENT && depth < MOST_NODES; node = nodes[node].parent) { depth++; }
  let end = job.base + depth + 1;
  let count = min(max(end, job.length) - job.length, depth + 1);
  var node = last;
  for (var i = count; i > 0; i--) {
    drafts[i - 1] = tokenOf(nodes[node]);
    node = nodes[node].parent;
  }
  draftCount = count;
}

fn timesDrafted(token: u32, count: u32) -> u32 {
  var times = 0u;
  for (var i = 0u; i < count; i++) { times += u32(drafts[i] == token); }
  return times;
}

// Whether the row's text ends with what the ban comes after.
fn applies(ban: LogitBan, count: u32) -> bool {
  if (job.generated + count >= ban.until || ban.length > job.tail + count) { return false; }
  for (var i = 0u; i < ban.length; i++) {
    var token: u32; // the i-th from the end
    if (i < count) { token = drafts[count - 1 - i]; } else { token = texts[job.tail - 1 - (i - count)]; }
    if (token != texts[ban.first + ban.length - 1 - i]) { return false; }
  }
  return true;
}

@compute @workgroup_size(threads)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  if (group.x >= job.rows) { return; }
  let start = group.x * uniforms.stride;
  for (var i = lane; i < MOST_NODES; i += threads) { atomicStore(&committed[i], 0); }
  if (lane == 0) { findDrafts(group.x); }
  let count = workgroupUniformLoad(&draftCount);

  for (var i = lane; i < job.biases; i += threads) { logits[start + biases[i].token] += biases[i].bias; }
  for (var i = lane; i < job.counted; i += threads) {
    for (var draft = 0u; draft < count; draft++) {
      if (drafts[draft] == counts[i].token) { atomicStore(&committed[draft], 1); }
    }
  }
  workgroupBarrier();
  storageBarrier();

  if (job.penalised != 0) {
    for (var i = lane; i < job.counted + count; i += threads) {
      var token: u32;
      var generated = 0u;
      if (i < job.counted) {
        token = counts[i].token;
        generated = counts[i].generated;
      } else {
        let draft = i - job.counted;
        token = drafts[draft];
        if (atomicLoad(&committed[draft]) == 1 || timesDrafted(token, draft) > 0) { continue; }
      }
      generated += timesDrafted(token, count);
      var logit = logits[start + token];
      if (logit > 0) { logit /= job.repetition; } else { logit *= job.repetition; }
      logit -= job.frequency * f32(generated);
      if (generated > 0) { logit -= job.presence; }
      logits[start + token] = logit;
    }
  }
  workgroupBarrier();
  storageBarrier();

  for (var i = lane; i < job.bans; i += threads) { // sorted by token: one lane has all bans of a token
    let token = bans[i].token;
    if (i > 0 && bans[max(i, 1) - 1].token == token) { continue; }
    var banned = false;
    for (var ban = i; ban < job.bans && bans[ban].token == token; ban++) { banned |= applies(bans[ban], count); }
    if (banned) { logits[start + token] = BANNED; }
  }
}
