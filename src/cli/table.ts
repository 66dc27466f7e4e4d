// Columns of text for people; scripts use --json.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export const formatBytes = (bytes: number): string => {
  const unit = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** unit;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
};

/** Three significant digits, never with an exponent: 1720, 38.2, 0.500. */
export const formatFigure = (value: number): string =>
  value >= 999.5 ? String(Number(value.toPrecision(3))) : value.toPrecision(3);

export const table = (header: readonly string[] | null, rows: readonly (readonly string[])[]): string => {
  const lines = header ? [header, ...rows] : rows;
  const widths = lines.reduce<number[]>((most, line) => line.map((cell, i) => Math.max(most[i] ?? 0, cell.length)), []);
  return lines
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};
