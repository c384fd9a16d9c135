const MINUS = '−';

/** A number with its unit, to three significant digits unless the decimals are given. Units are Grafana's names for them. */
export function format(value: number, unit = 'none', decimals?: number): string {
  if (!Number.isFinite(value)) return value > 0 ? '∞' : value < 0 ? `${MINUS}∞` : '–';
  const [scaled, name] = scale(value, unit);
  return name === '' ? digits(scaled, decimals) : `${digits(scaled, decimals)} ${name}`;
}

function scale(value: number, unit: string): [number, string] {
  const size = Math.abs(value);
  switch (unit) {
    case 's':
      return seconds(value);
    case 'ms':
      return seconds(value / 1_000);
    case 'percentunit':
      return [value * 100, '%'];
    case 'percent':
      return [value, '%'];
    case 'bytes':
      return power(value, 1_024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
    case 'reqps':
      return [value, 'req/s'];
    case 'short':
      return size < 10_000 ? [value, ''] : power(value, 1_000, ['', 'K', 'M', 'G', 'T']);
    default:
      return [value, ''];
  }
}

function seconds(value: number): [number, string] {
  const size = Math.abs(value);
  if (size === 0) return [0, 'ms'];
  if (size < 0.000_999_5) return [value * 1e6, 'µs'];
  if (size < 0.999_5) return [value * 1e3, 'ms'];
  return size < 119.5 ? [value, 's'] : [value / 60, 'min'];
}

function power(value: number, base: number, names: readonly string[]): [number, string] {
  let at = 0;
  let scaled = value;
  while (Math.abs(scaled) >= base && at < names.length - 1) {
    scaled /= base;
    at += 1;
  }
  return [scaled, names[at]!];
}

function digits(value: number, decimals?: number): string {
  const size = Math.abs(value);
  const places = decimals ?? (size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : 2);
  const text = size.toLocaleString('en', { maximumFractionDigits: places, minimumFractionDigits: decimals ?? 0 });
  return value < 0 && Number(text) !== 0 ? MINUS + text : text;
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short' });

export function timeText(at: number | string, withDay = true): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '–';
  return withDay ? `${DAY.format(date)} ${CLOCK.format(date)}` : CLOCK.format(date);
}
