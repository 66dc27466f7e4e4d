// Python's strftime in the C locale, for the date that a template writes.

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = 'January February March April May June July August September October November December'.split(' ');

const two = (number: number): string => String(number).padStart(2, '0');

export const strftime = (date: Date, format: string): string => {
  const [day, month, hour] = [date.getDate(), date.getMonth(), date.getHours()];
  const [dayName, monthName] = [DAYS[date.getDay()] as string, MONTHS[month] as string];
  const [minute, second] = [two(date.getMinutes()), two(date.getSeconds())];
  const yearDay = Math.round(
    (Date.UTC(date.getFullYear(), month, day) - Date.UTC(date.getFullYear(), 0, 0)) / 86_400_000,
  );
  const parts: Readonly<Record<string, string>> = {
    A: dayName,
    a: dayName.slice(0, 3),
    B: monthName,
    b: monthName.slice(0, 3),
    d: two(day),
    F: `${date.getFullYear()}-${two(month + 1)}-${two(day)}`,
    H: two(hour),
    I: two(hour % 12 || 12),
    j: String(yearDay).padStart(3, '0'),
    M: minute,
    m: two(month + 1),
    p: hour < 12 ? 'AM' : 'PM',
    S: second,
    T: `${two(hour)}:${minute}:${second}`,
    w: String(date.getDay()),
    Y: String(date.getFullYear()),
    y: two(date.getFullYear() % 100),
    '%': '%',
  };
  return format.replace(/%(-?)([A-Za-z%])/g, (whole, short: string, code: string) => {
    const part = parts[code];
    if (part === undefined) return whole;
    return short ? part.replace(/^0+(?=\d)/, '') : part;
  });
};
