// Text files that travel inside the bundle (scripts/build.mjs, vitest.config.ts).
declare module '*.py' {
	const text: string;
	export default text;
}
declare module '*.yaml' {
	const text: string;
	export default text;
}
declare const __VERSION__: string;
