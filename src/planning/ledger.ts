import { type Observation, sharesOnePool } from '../domain/observation.ts';
import { heldBytes, type Service } from '../domain/service.ts';
import type { Disagreement, RowKind, Statement, StatementRow } from '../domain/statement.ts';
import type { Attribution } from './attribution.ts';

/**
 * Services below this are counted with `other`: a statement with sixty rows explains nothing. Whatever holds GPU memory
 * has a row of its own, however little it is.
 */
const OWN_ROW = 64 * 1024 * 1024;

/** A contradiction smaller than this is the rounding of nvidia-smi (whole MiB) and the second between two readings. */
const TOLERATED = 256 * 1024 * 1024;

/**
 * The memory statement of a host with one pool: rows that sum to MemTotal to the byte, `unexplained` among them.
 *
 * Free is MemFree, what comes back is MemAvailable - MemFree, and the rest (MemTotal - MemAvailable) is shared out:
 * first what the kernel counts itself at the same instant (anonymous and shared memory, split by the processes'
 * own figures; its own tables), then the GPU memory that nvidia-smi names by process, which on a unified pool is in no
 * other figure. Where nvidia-smi claims more than is left, its rows are cut in proportion and the contradiction is
 * told with both figures: a row can never make the statement lie about the total.
 */
export const closeStatement = (seen: Observation, attribution: Attribution): Statement => {
	const memory = seen.memory.value;
	const { total, free, available } = memory;
	const at = seen.memory.observedAt;
	const meminfo = seen.memory.source;
	let room = total - available;
	const take = (claim: number): number => {
		const taken = Math.min(Math.max(0, Math.round(claim)), room);
		room -= taken;
		return taken;
	};

	const unified = sharesOnePool(seen);
	const rowed = attribution.services.filter((service) => heldBytes(service) >= OWN_ROW || (service.gpuBytes ?? 0) > 0);
	const anonymous = (memory.anonPages ?? 0) + (memory.shmem ?? 0);
	// The walk over processes is up to 5 s older than meminfo, and pages that forked processes share may be counted twice;
	// they can't hold more than there is. Exact figures come first, so that a doubtful one only cuts itself.
	let unshared = Math.min(anonymous, room);
	const takeAnonymous = (claim: number): number => {
		const taken = take(Math.min(claim, unshared));
		unshared -= taken;
		return taken;
	};
	const exact = rowed.map((service) => takeAnonymous(service.hostBytes - service.doubtfulBytes));
	const desktop = takeAnonymous(attribution.desktopBytes);
	const host = rowed.map((service, index) => exact[index]! + takeAnonymous(service.doubtfulBytes));
	const kernel = take(
		(memory.slabUnreclaimable ?? 0) +
			(memory.kernelStack ?? 0) +
			(memory.pageTables ?? 0) +
			(memory.percpu ?? 0) +
			// Pages that are free but held in reserve, so that MemAvailable is below MemFree.
			Math.max(0, free - available),
	);
	const other = take(anonymous - host.reduce((sum, bytes) => sum + bytes, 0) - desktop);

	const gpuClaims = rowed.map((service) => (unified ? (service.gpuBytes ?? 0) : 0));
	const gpuClaimed = gpuClaims.reduce((sum, bytes) => sum + bytes, 0);
	const disagreements: Disagreement[] =
		gpuClaimed > room + TOLERATED
			? [{ what: 'GPU memory by process (nvidia-smi)', claimedBytes: gpuClaimed, roomBytes: room }]
			: [];
	const cut = gpuClaimed > room ? room / gpuClaimed : 1;
	const gpu = gpuClaims.map((bytes) => take(Math.floor(bytes * cut)));

	const row = (kind: RowKind, label: string, bytes: number, source: string, owner: string = kind): StatementRow => ({
		owner,
		kind,
		label,
		bytes,
		source,
		observedAt: at,
	});
	const services = rowed
		.map((service, index) => ({
			...row('service', service.name, host[index]! + gpu[index]!, serviceSource(service, unified), service.id),
			observedAt: Math.min(at, seen.gpuProcesses?.observedAt ?? at, seen.cgroups?.observedAt ?? at),
		}))
		.sort((a, b) => b.bytes - a.bytes || (a.owner < b.owner ? -1 : 1));
	const free_ = Math.min(free, available);
	return {
		host: seen.host,
		totalBytes: total,
		availableBytes: available,
		rows: [
			...services,
			row('desktop', 'desktop', desktop, 'anonymous memory of the graphical session: /proc/PID/statm by cgroup'),
			row('other', 'other', other, `${meminfo}: AnonPages + Shmem - what the rows above hold of it`),
			row('kernel', 'kernel', kernel, `${meminfo}: SUnreclaim + KernelStack + PageTables + Percpu + reserve`),
			row('unexplained', 'unexplained', room, `${meminfo}: MemTotal - MemAvailable - all rows above`),
			row('cache', 'cache', available - free_, `${meminfo}: MemAvailable - MemFree; comes back when needed`),
			row('free', 'free', free_, `${meminfo}: MemFree`),
		],
		disagreements,
		observedAt: at,
	};
};

const serviceSource = (service: Service, unified: boolean): string => {
	const host = 'anonymous memory: /proc/PID/statm by cgroup';
	return unified && (service.gpuBytes ?? 0) > 0 ? `GPU: nvidia-smi --query-compute-apps; ${host}` : host;
};
