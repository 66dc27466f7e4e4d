// What is written for the formats of JSON Schema, as patterns.

const DAY = '(0[1-9]|[12]\\d|30)';
const DATE = `\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-${DAY}|02-(0[1-9]|1\\d|2[0-8]))`;
const SECONDS = '([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d';
const CLOCK = `${SECONDS}(\\.\\d{1,6})?`;
const TIME = `${CLOCK}(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)`;
const uuid = (version: string): string =>
  `[0-9a-f]{8}-[0-9a-f]{4}-${version}[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`;
const BYTE = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const LABEL = '[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?';

/** Patterns whose every text has the format. They allow less than the formats do: no leap days, plain addresses. */
export const FORMATS: Readonly<Record<string, string>> = {
  date: DATE,
  time: TIME,
  'date-time': `${DATE}T${TIME}`,
  duration: 'P(\\d{1,4}W|((\\d{1,4}Y)?\\d{1,2}M)?\\d{1,3}D(T\\d{1,3}H)?|T((\\d{1,3}H)?\\d{1,3}M)?\\d{1,3}S)',
  uuid: uuid('[1-5]'),
  ipv4: `${BYTE}(\\.${BYTE}){3}`,
  ipv6: '([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}',
  hostname: `${LABEL}(\\.${LABEL}){0,3}`,
  email: `[a-z0-9]{1,30}([._+-][a-z0-9]{1,30}){0,2}@${LABEL}(\\.${LABEL}){0,2}\\.[a-z]{2,10}`,
  uri: `https?://${LABEL}(\\.${LABEL}){0,3}(:[1-9]\\d{1,3})?(/[A-Za-z0-9_.~-]{0,40}){0,6}`,
};
/** Other texts of a format, written where a pattern next to it does not allow all of those. */
export const VARIANTS: Readonly<Record<string, readonly string[]>> = {
  'date-time': [CLOCK, SECONDS, `${SECONDS}\\.\\d{3}`].map((clock) => `${DATE}T${clock}Z`),
  uuid: ['4', '6', '7'].map(uuid),
};

/** Formats of JSON Schema that are not kept. Next to a pattern any other name is an annotation: zod has its own. */
export const UNKEPT_FORMATS = /^(idn-|uri-|iri|regex|json-p|relative-)/;
