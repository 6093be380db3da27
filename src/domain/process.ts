/** A process on a host. pid and start time together are its identity within one boot. */
export type Process = {
	readonly pid: number;
	/** Clock ticks since boot, field 22 of /proc/PID/stat. */
	readonly startTicks: number;
	readonly state: string;
	readonly name: string;
	/** Path in the unified hierarchy, such as `/system.slice/x.service`. */
	readonly cgroup: string;
	/** Anonymous memory resident, in bytes: resident - shared of /proc/PID/statm. */
	readonly anonBytes: number;
};

/** Sums over the processes of one cgroup (not its children). */
export type CgroupSum = {
	readonly path: string;
	readonly processes: number;
	readonly anonBytes: number;
	/**
	 * How many of these bytes may be counted more than once: pages that forked processes share, where neither the cgroup's
	 * memory.stat nor the processes' smaps can be read. 0 where the figure is exact.
	 */
	readonly doubtfulBytes: number;
};
