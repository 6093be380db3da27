import type { SimHost } from '../worldTypes.ts';

/** Dates as programs print them; simulated hosts live in UTC. */
export const wallAt = (host: SimHost, seconds: number): Date => new Date(host.bootedAt + seconds * 1000);

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const clock = (date: Date): string => date.toISOString().slice(11, 19);

/** `Tue 2026-12-01 04:48:15 UTC` */
export const systemdTime = (date: Date): string =>
	`${DAYS[date.getUTCDay()]} ${date.toISOString().slice(0, 10)} ${clock(date)} UTC`;

/** `Mon Jun  8 05:33:53 2026`, or with `UTC` before the year. */
export const ctime = (date: Date, zone = ''): string =>
	`${DAYS[date.getUTCDay()]} ${MONTHS[date.getUTCMonth()]} ${String(date.getUTCDate()).padStart(2)} ${clock(date)} ${zone}${date.getUTCFullYear()}`;

/** `Dec 01 04:55:24` */
export const journalTime = (date: Date): string =>
	`${MONTHS[date.getUTCMonth()]} ${String(date.getUTCDate()).padStart(2, '0')} ${clock(date)}`;

/** `2 days`, `17 minutes`: as docker says it. */
export const roughly = (seconds: number): string => {
	if (seconds < 1) return 'Less than a second';
	if (seconds < 60) return `${Math.floor(seconds)} second${seconds < 2 ? '' : 's'}`;
	const minutes = Math.floor(seconds / 60);
	if (minutes === 1) return 'About a minute';
	if (minutes < 60) return `${minutes} minutes`;
	const hours = Math.round(seconds / 3600);
	if (hours === 1) return 'About an hour';
	if (hours < 48) return `${hours} hours`;
	return `${Math.floor(hours / 24)} days`;
};

/** `1 day 23h`, `19min`: as systemctl status says it. */
export const ago = (seconds: number): string => {
	const days = Math.floor(seconds / 86_400);
	const hours = Math.floor((seconds % 86_400) / 3600);
	const minutes = Math.floor((seconds % 3600) / 60);
	if (days > 0) return `${days} day${days > 1 ? 's' : ''}${hours > 0 ? ` ${hours}h` : ''} ago`;
	if (hours > 0) return `${hours}h${minutes > 0 ? ` ${minutes}min` : ''} ago`;
	return minutes > 0
		? `${minutes}min${seconds % 60 >= 1 ? ` ${Math.floor(seconds % 60)}s` : ''} ago`
		: `${Math.floor(seconds)}s ago`;
};
