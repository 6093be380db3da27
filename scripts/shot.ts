// A picture of the console: node scripts/shot.ts OUT.png COLUMNS ROWS [--wait TEXT] [--keys e,down,…] -- COMMAND ARGS…
// The program runs in a pseudo terminal; its cells become SVG and then PNG, so that the picture shows what is there.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Resvg } from '@resvg/resvg-js';
import { type Cell, KEYS, launch } from '../test/support/tui.ts';

const separator = process.argv.indexOf('--');
const [out = 'shot.png', columns = '120', rows = '35', ...options] = process.argv.slice(2, separator);
const [command = '', ...args] = process.argv.slice(separator + 1);
const option = (name: string): string | undefined => options[options.indexOf(name) + 1 || options.length];

const PALETTE =
	'#1d1f21 #cc6666 #b5bd68 #f0c674 #81a2be #b294bb #8abeb7 #c5c8c6 #969896 #ff6666 #d5dd88 #ffe694 #a1c2de #d2b4db #aadec7 #ffffff'.split(
		' ',
	);
const WIDTH = 9;
const HEIGHT = 19;
const light = options.includes('--light');
const [INK, PAPER] = light ? ['#24292f', '#ffffff'] : ['#d0d0d0', '#16181a'];

const colourOf = (value: string | number | null, fallback: string): string => {
	if (value === null) return fallback;
	if (typeof value === 'string') return value;
	if (value < 16) return PALETTE[value]!;
	const grey = 8 + (value - 232) * 10;
	if (value >= 232) return `rgb(${grey},${grey},${grey})`;
	const level = (n: number): number => [0, 95, 135, 175, 215, 255][n % 6]!;
	const cube = value - 16;
	return `rgb(${level(Math.floor(cube / 36))},${level(Math.floor(cube / 6))},${level(cube)})`;
};
const escaped = (text: string): string => text.replace(/[&<>]/g, (one) => `&#${one.charCodeAt(0)};`);

const drawn = (cell: Cell, x: number, y: number): string => {
	const [fg, bg] = [colourOf(cell.fg, INK), colourOf(cell.bg, PAPER)];
	const [ink, paper] = cell.inverse ? [bg, fg] : [fg, bg];
	const rect =
		paper === PAPER
			? ''
			: `<rect x="${x * WIDTH}" y="${y * HEIGHT}" width="${WIDTH + 0.5}" height="${HEIGHT + 0.5}" fill="${paper}"/>`;
	if (cell.text.trim() === '') return rect;
	const look = `${cell.bold ? ' font-weight="bold"' : ''}${cell.dim ? ' opacity=".55"' : ''}`;
	return `${rect}<text x="${x * WIDTH}" y="${y * HEIGHT + 14.5}" fill="${ink}"${look}>${escaped(cell.text)}</text>`;
};

const tui = launch(command, args, { columns: Number(columns), rows: Number(rows) });
await tui.until(option('--wait') ?? 'quit', 20_000);
const settle = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
await settle(Number(option('--settle') ?? 1500));
for (const key of (option('--keys') ?? '').split(',').filter((one) => one !== '')) {
	const pause = /^\d+$/.test(key);
	if (!pause) tui.press(KEYS[key as keyof typeof KEYS] ?? key);
	await settle(pause ? Number(key) : 300);
}
const cells: string[] = [];
for (let y = 0; y < Number(rows); y++)
	for (let x = 0; x < Number(columns); x++) cells.push(drawn(tui.cell(x, y), x, y));
const [w, h] = [Number(columns) * WIDTH, Number(rows) * HEIGHT];
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}"><rect width="${w}" height="${h}" fill="${PAPER}"/><g font-family="DejaVu Sans Mono" font-size="15" xml:space="preserve">${cells.join('')}</g></svg>`;
const fonts = createRequire(import.meta.url)
	.resolve('dejavu-fonts-ttf/package.json')
	.replace('package.json', 'ttf/');
const font = {
	fontFiles: ['DejaVuSansMono.ttf', 'DejaVuSansMono-Bold.ttf'].map((name) => fonts + name),
	loadSystemFonts: false,
};
writeFileSync(out, new Resvg(svg, { font }).render().asPng());
console.log(`${out}: ${readFileSync(out).length} bytes`);
tui.kill('SIGTERM');
process.exit(0);
