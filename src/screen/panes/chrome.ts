import type { HostView } from '../../store/select/host.ts';
import { fit, type Line, line, middle, type Span, text, widthOf } from '../frame/line.ts';

/**
 * Top line: what this is, whether each host is alive, the time. Where there is no room, first the title gives way, then what
 * is said beside the hosts; a host that is not alive is the last to go.
 */
export const header = (title: string, hosts: readonly HostView[], clock: string, width: number): Line => {
	const name = [text(' sparkdeck', 'title')];
	const time = [text(`  ${clock} `, 'text.dim')];
	const room = width - widthOf({ spans: name }) - widthOf({ spans: time });
	const long = hosts.flatMap((host) => hostLink(host, true));
	const short = hosts.flatMap((host) => hostLink(host, false));
	const wanted = Math.min(24, widthOf({ spans: [text(title)] }) + 2);
	const links =
		widthOf({ spans: long }) + wanted <= room
			? long
			: fit({ spans: short }, Math.min(widthOf({ spans: short }), room)).spans;
	const left = room - widthOf({ spans: links });
	const said = left >= 12 ? fit(line(text(`  ${title}`, 'text.dim')), left) : line(text(' '.repeat(Math.max(0, left))));
	return { spans: [...name, ...said.spans, ...links, ...time], base: 'header' };
};

const hostLink = (host: HostView, whole: boolean): Span[] => {
	const spans = [text('  '), text(host.link.mark, host.link.token), text(` ${host.name}`)];
	// A host that is not up says how it is also where there is little room.
	if (!whole && !host.old) return spans;
	return [...spans, text(` ${host.link.text}`.trimEnd(), host.old ? host.link.token : 'text.dim')];
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
