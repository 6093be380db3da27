import type { HostView } from '../../store/select/host.ts';
import { type Line, line, middle, type Span, text, widthOf } from '../frame/line.ts';

/** Top line: what this is, whether each host is alive, the time. Hosts give way from the end where there is no room. */
export const header = (title: string, hosts: readonly HostView[], clock: string, width: number): Line => {
	const left = [text(' sparkdeck', 'title'), text(`  ${title}`, 'text.dim')];
	const right = [text(`  ${clock} `, 'text.dim')];
	let room = width - widthOf({ spans: left }) - widthOf({ spans: right }) - 1;
	const links: Span[] = [];
	for (const host of hosts) {
		const long = [
			text('  '),
			text(host.link.mark, host.link.token),
			text(` ${host.name}`),
			text(` ${host.link.text}`.trimEnd(), host.old ? host.link.token : 'text.dim'),
		];
		const short = long.slice(0, 3);
		const fitting = [long, short].find((spans) => widthOf({ spans }) <= room);
		if (!fitting) break;
		links.push(...fitting);
		room -= widthOf({ spans: fitting });
	}
	return { spans: [...left, text(' '.repeat(Math.max(0, room + 1))), ...links, ...right], base: 'header' };
};

export type FooterKey = { readonly keys: string; readonly title: string };

/** Bottom line: the keys that act now. */
export const footer = (keys: readonly FooterKey[], width: number): Line => {
	const spans: Span[] = [text(' ')];
	let room = width - 1;
	for (const { keys: key, title } of keys) {
		const part = [text(key, 'footer.key'), text(` ${title}   `, 'footer')];
		if (widthOf({ spans: part }) - 3 > room) break;
		spans.push(...part);
		room -= widthOf({ spans: part });
	}
	return { spans, base: 'footer' };
};

/** For windows in which nothing can be shown truthfully. */
export const tooSmall = (width: number, height: number, least: { columns: number; rows: number }): Line[] =>
	[
		line(text(middle('sparkdeck', width), 'title')),
		line(text(middle(`needs ${least.columns}×${least.rows}`, width))),
		line(text(middle(`this is ${width}×${height}`, width), 'text.dim')),
		line(text(middle('q quits, nothing stops', width), 'text.dim')),
	].slice(0, height);
