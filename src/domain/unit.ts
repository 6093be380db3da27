/** Which service manager a unit belongs to: the machine's, or that of the user we are logged in as. */
export type UnitManager = 'system' | 'user';

/** A systemd service unit, as `systemctl show` tells it. */
export type Unit = {
	readonly name: string;
	readonly manager: UnitManager;
	readonly description: string;
	readonly loadState: string;
	readonly activeState: string;
	readonly subState: string;
	readonly type: string;
	readonly mainPid: number | null;
	readonly cgroup: string;
	/** Identity of this run of the unit: 32 hex digits, new at every start; empty when it never ran. */
	readonly invocationId: string;
	/** A job of the manager (start, stop, …) is queued or running for it. */
	readonly hasJob: boolean;
	readonly result: string;
	readonly restart: string;
	readonly restarts: number;
	readonly unitFileState: string;
	readonly triggeredBy: readonly string[];
	/** Units that systemd stops when this one is stopped: RequiredBy, RequisiteOf, BoundBy, ConsistsOf, PropagatesStopTo. */
	readonly stopsWith: readonly string[];
	/** Units that start it again as long as they run (Upholds=). */
	readonly upheldBy: readonly string[];
	/** The words of each ExecStart command. */
	readonly execStart: readonly (readonly string[])[];
	readonly stopTimeoutMs: number | null;
	/** Seconds since boot at which it became active, or null. */
	readonly activeSince: number | null;
};

/** A container, as `docker ps` (or podman's) tells it. */
export type Container = {
	readonly id: string;
	readonly name: string;
	readonly image: string;
	readonly running: boolean;
	readonly status: string;
	readonly tool: string;
};
