/** One GPU. N/A is a state of its own: null, never 0. Units: percent, degrees Celsius, watts, MHz, bytes. */
export type Gpu = {
	readonly index: number;
	readonly uuid: string | null;
	readonly name: string;
	readonly driver: string | null;
	readonly performanceState: string | null;
	readonly utilisationPercent: number | null;
	readonly temperatureC: number | null;
	readonly powerW: number | null;
	readonly clockMhz: number | null;
	readonly clockMaxMhz: number | null;
	readonly memoryTotalBytes: number | null;
	readonly memoryUsedBytes: number | null;
};

/** A process that holds GPU memory, as nvidia-smi names it. `bytes` is null where the driver gives no figure. */
export type GpuProcess = {
	readonly pid: number;
	readonly name: string;
	readonly bytes: number | null;
};
