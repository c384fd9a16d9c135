export interface Line {
  readonly label: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface LineChart {
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  readonly lines: readonly Line[];
}

const WIDTH = 720;
const HEIGHT = 360;
const AREA = { left: 80, right: 700, top: 48, bottom: 300 } as const;
/** Told apart also by those who see no colours: by dashes. */
const STYLES = ['stroke="#1f6feb"', 'stroke="#8b949e" stroke-dasharray="6 4"'];
const TEXT = 'font-family="sans-serif" font-size="12" fill="#57606a"';
const STEPS = 4;

/** An SVG with a logarithmic x axis (sizes grow tenfold) and a y axis from zero. */
export function lineChart({ title, xTitle, yTitle, lines }: LineChart): string {
  const points = lines.flatMap((line) => line.points);
  const xs = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b);
  const top = roundUp(Math.max(...points.map(([, y]) => y)));
  const [low, high] = [Math.log(xs[0]!), Math.log(xs.at(-1)!)];
  const left = (x: number) => AREA.left + ((Math.log(x) - low) / (high - low || 1)) * (AREA.right - AREA.left);
  const down = (y: number) => AREA.bottom - (y / top) * (AREA.bottom - AREA.top);
  const parts = [
    `<text x="${AREA.left}" y="24" font-family="sans-serif" font-size="15" fill="#24292f">${title}</text>`,
    `<text x="${(AREA.left + AREA.right) / 2}" y="${HEIGHT - 24}" text-anchor="middle" ${TEXT}>${xTitle}</text>`,
    `<text x="18" y="174" text-anchor="middle" transform="rotate(-90 18 174)" ${TEXT}>${yTitle}</text>`,
  ];
  for (let step = 0; step <= STEPS; step++) {
    const value = (top / STEPS) * step;
    const y = down(value).toFixed(1);
    parts.push(`<path d="M${AREA.left} ${y}H${AREA.right}" stroke="#d0d7de"/>`);
    parts.push(`<text x="${AREA.left - 8}" y="${y}" dy="4" text-anchor="end" ${TEXT}>${short(value)}</text>`);
  }
  for (const x of xs) {
    parts.push(
      `<text x="${left(x).toFixed(1)}" y="${AREA.bottom + 18}" text-anchor="middle" ${TEXT}>${short(x)}</text>`,
    );
  }
  for (const [at, line] of lines.entries()) {
    const style = STYLES[at % STYLES.length]!;
    const path = line.points.map(([x, y]) => `${left(x).toFixed(1)} ${down(y).toFixed(1)}`).join('L');
    parts.push(`<path d="M${path}" fill="none" stroke-width="2" ${style}/>`);
    const y = HEIGHT - 8;
    const x = AREA.left + at * 260;
    parts.push(
      `<path d="M${x} ${y - 4}h28" stroke-width="2" ${style}/><text x="${x + 34}" y="${y}" ${TEXT}>${line.label}</text>`,
    );
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
${parts.join('\n')}
</svg>
`;
}

/** To one digit and zeros, so that the axis has plain numbers. */
function roundUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value || 1));
  return Math.ceil(value / unit) * unit;
}

function short(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))} M`;
  if (value >= 1e4) return `${Number((value / 1e3).toPrecision(3))} k`;
  return String(Number(value.toPrecision(3)));
}
