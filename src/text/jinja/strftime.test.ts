import { expect, it } from 'vitest';
import { strftime } from './strftime.ts';

const CODES = [...'aAbBcdDeFfGhHIjklMmnpPrRTtUuVwWxXyYzZ%'].map((code) => `%${code}`).join('|');
const UNPADDED = '%-d|%-e|%-H|%-I|%-j|%-k|%-M|%-m|%-U|%-V|%-y|%-T|%-D|%-A|%-F';

/** What Python 3.11 gives on Linux. */
const DATES = [
  [
    new Date(2026, 10, 5, 9, 5, 7, 250),
    'Thu|Thursday|Nov|November|Thu Nov  5 09:05:07 2026|05|11/05/26| 5|2026-11-05|250000|2026|Nov|09|09|309| 9| 9|05|' +
      '11|\n|AM|am|09:05:07 AM|09:05|09:05:07|\t|44|4|45|4|44|11/05/26|09:05:07|26|2026|||%',
    '5|5|9|9|309|9|5|11|44|45|26|09:05:07|11/05/26|Thursday|2026-11-05',
  ],
  [
    new Date(2027, 0, 1),
    'Fri|Friday|Jan|January|Fri Jan  1 00:00:00 2027|01|01/01/27| 1|2027-01-01|000000|2026|Jan|00|12|001| 0|12|00|' +
      '01|\n|AM|am|12:00:00 AM|00:00|00:00:00|\t|00|5|53|5|00|01/01/27|00:00:00|27|2027|||%',
    '1|1|0|12|1|0|0|1|0|53|27|00:00:00|01/01/27|Friday|2027-01-01',
  ],
  [
    new Date(2024, 11, 30, 12, 30, 9),
    'Mon|Monday|Dec|December|Mon Dec 30 12:30:09 2024|30|12/30/24|30|2024-12-30|000000|2025|Dec|12|12|365|12|12|30|' +
      '12|\n|PM|pm|12:30:09 PM|12:30|12:30:09|\t|52|1|01|1|53|12/30/24|12:30:09|24|2024|||%',
    '30|30|12|12|365|12|30|12|52|1|24|12:30:09|12/30/24|Monday|2024-12-30',
  ],
  [
    new Date(2023, 0, 1, 23, 59, 59, 999),
    'Sun|Sunday|Jan|January|Sun Jan  1 23:59:59 2023|01|01/01/23| 1|2023-01-01|999000|2022|Jan|23|11|001|23|11|59|' +
      '01|\n|PM|pm|11:59:59 PM|23:59|23:59:59|\t|01|7|52|0|00|01/01/23|23:59:59|23|2023|||%',
    '1|1|23|11|1|23|59|1|1|52|23|23:59:59|01/01/23|Sunday|2023-01-01',
  ],
] as const;

it.each(DATES)('%s', (date, padded, unpadded) => {
  expect(strftime(date, CODES).split('|')).toEqual(padded.split('|'));
  expect(strftime(date, UNPADDED).split('|')).toEqual(unpadded.split('|'));
});

it.each(['%Q', '%s', '%_d', '%5Y', '%Ey', '%:z'])('refuses %s by name', (code) => {
  expect(() => strftime(new Date(2026, 0, 1), `on ${code}`)).toThrow(`ValueError: strftime_now: ${code} is not`);
});

it('leaves a per cent sign that begins no code', () => {
  expect(strftime(new Date(2026, 0, 1), '100 % sure, 5%')).toBe('100 % sure, 5%');
});
