// Words that this project no longer uses, what to say instead, and where a word keeps its ordinary meaning.
// The check that reads this list is prose.mjs.

/**
 * @typedef {object} Retired
 * @property {RegExp} word Looked for in every line, case ignored.
 * @property {string} say What to write instead.
 * @property {RegExp} [only] The paths in which the word is retired; everywhere if absent.
 * @property {RegExp} [except] Ordinary uses: what matches is left out before the word is looked for.
 */

/** Words and phrases, in prose and code alike. @type {readonly Retired[]} */
export const WORDS = [
  { word: /\bnobody\b/i, say: 'name the subject, or use the passive', except: /outrider\/nobody/ },
  { word: /\bwhoever\b/i, say: 'the one that, whichever', except: /Whoever returns a book late/ },
  { word: /\bwhat is left\b/i, say: 'the rest' },
  { word: /\bon end\b/i, say: 'in a row' },
  { word: /\breckon(s|ed|ing)?\b/i, say: 'estimate, calculate' },
  { word: /\bwith it comes?\b/i, say: 'it brings' },
  { word: /\blaws?\b/i, say: 'distribution' },
  { word: /\bboard\b/i, say: 'token ring' },
  { word: /\bgauges?\b/i, say: 'softmax statistics' },
  { word: /\bresidents\b/i, say: 'the model registry' },
  { word: /\bquartets?\b/i, say: 'head pairs' },
  { word: /\btwins?\b/i, say: 'CPU reference' },
  { word: /\blacking\b/i, say: 'missing' },
  { word: /\bboth-write\b/i, say: 'oracle-rule' },
  {
    word: /\bbeside\b/i,
    say: 'next to, compared with, with',
    only: /^(src|demo|e2e|shaders|training|\.ci)\/|^([A-Z]+\.md|docs\/(guide|decisions)\/.*|docs\/(ensembles|remote|remote-example|promises)\.md)$/,
  },
];

/** Files that keep old names on purpose: what was public stays readable for one version. */
export const KEEPS_OLD_NAMES = /^src\/(index|.*\/old-names(\.test)?)\.ts$/;

/** Names, as the words of which they are made: `gaugeOf` is `gauge of`. @type {readonly Retired[]} */
export const NAMES = [
  { word: /\b(laws?|gauges?|residents|quartets?|twins?|besides?|lacking|spell|elect)\b/, say: 'see WORDS' },
  { word: /^held [a-z]/, say: 'Device…, in the field’s word' },
  { word: /^memory$/, say: 'PrefixCache', only: /^src\/(decode|systems)\// },
  { word: /\bturns?\b/, say: 'submission', only: /^src\/(gpu|kernels|model\/(?!.*rope))/, except: /in turns?/ },
  {
    word: /\b(pace|trials?)\b/,
    say: 'fallback controller; timing block sizes',
    only: /^src\/(decode|systems|engine)\//,
  },
  { word: /\bcuts?\b/, say: 'chunk boundary', only: /^(src\/(kernels|model)|shaders)\// },
  { word: /\bplacements?\b/, say: 'weight layout', only: /^src\/(weights|model)\// },
  { word: /\bbands?\b/, say: 'row block', only: /^src\/(weights|model|gpu)\// },
  { word: /\blanes?\b/, say: 'sequences; a lane is a SIMD lane', only: /^src\/(decode|systems)\// },
  { word: /^(guard|settle|tell)$/, say: 'what it computes', only: /^(src\/(kernels|model)|shaders)\// },
  {
    word: /^slots?$/,
    say: 'WeightSpec; a slot is an index into the KV cache',
    only: /^src\/(weights|model\/families)\//,
  },
];
