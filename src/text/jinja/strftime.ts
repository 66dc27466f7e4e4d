// Python's strftime in the C locale, for the date that a template writes: a date and a time without a time zone.
import { TemplateFault } from './values.ts';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** Codes that stand for several others. */
const COMPOSED: Readonly<Record<string, string>> = {
  c: '%a %b %e %H:%M:%S %Y',
  D: '%m/%d/%y',
  F: '%Y-%m-%d',
  h: '%b',
  R: '%H:%M',
  r: '%I:%M:%S %p',
  T: '%H:%M:%S',
  X: '%H:%M:%S',
  x: '%m/%d/%y',
};

const days = (from: number, to: number): number => Math.round((to - from) / 86_400_000);

/** The year of ISO 8601, which a week belongs to as a whole, and the week's number. */
const isoWeek = (year: number, month: number, day: number, weekday: number): readonly [number, number] => {
  const thursday = new Date(Date.UTC(year, month, day + 4 - (weekday || 7)));
  const isoYear = thursday.getUTCFullYear();
  return [isoYear, 1 + Math.floor(days(Date.UTC(isoYear, 0, 1), thursday.getTime()) / 7)];
};

export const strftime = (date: Date, format: string): string => {
  const [year, month, day, weekday] = [date.getFullYear(), date.getMonth(), date.getDate(), date.getDay()];
  const [hour, dayName, monthName] = [date.getHours(), DAYS[weekday] as string, MONTHS[month] as string];
  const yearDay = days(Date.UTC(year, 0, 0), Date.UTC(year, month, day));
  const [isoYear, week] = isoWeek(year, month, day, weekday);
  const texts: Readonly<Record<string, string>> = {
    A: dayName,
    a: dayName.slice(0, 3),
    B: monthName,
    b: monthName.slice(0, 3),
    f: String(date.getMilliseconds() * 1000).padStart(6, '0'),
    n: '\n',
    P: hour < 12 ? 'am' : 'pm',
    p: hour < 12 ? 'AM' : 'PM',
    t: '\t',
    Z: '',
    z: '',
    '%': '%',
  };
  /** Each with its width and what fills it. */
  const numbers: Readonly<Record<string, readonly [number, number, string]>> = {
    d: [day, 2, '0'],
    e: [day, 2, ' '],
    G: [isoYear, 4, '0'],
    H: [hour, 2, '0'],
    I: [hour % 12 || 12, 2, '0'],
    j: [yearDay, 3, '0'],
    k: [hour, 2, ' '],
    l: [hour % 12 || 12, 2, ' '],
    M: [date.getMinutes(), 2, '0'],
    m: [month + 1, 2, '0'],
    S: [date.getSeconds(), 2, '0'],
    U: [Math.floor((yearDay + 6 - weekday) / 7), 2, '0'],
    u: [weekday || 7, 1, '0'],
    V: [week, 2, '0'],
    W: [Math.floor((yearDay + 6 - ((weekday + 6) % 7)) / 7), 2, '0'],
    w: [weekday, 1, '0'],
    Y: [year, 4, '0'],
    y: [year % 100, 2, '0'],
  };
  return format.replace(/%([-_0^#:]*\d*[EO]?)([A-Za-z%])/g, (whole, flags: string, code: string) => {
    const number = numbers[code];
    const composed = COMPOSED[code];
    const text = texts[code] ?? (composed && strftime(date, composed));
    if ((flags !== '' && flags !== '-') || (number === undefined && text === undefined))
      throw new TemplateFault('ValueError', `strftime_now: ${whole} is not supported`);
    if (!number) return text as string;
    const [value, width, fill] = number;
    return flags === '-' ? String(value) : String(value).padStart(width, fill);
  });
};
