import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with one plain line, `N passed, N failed, N skipped`, that people and CI read alike. */
export default class ClosingLine implements Reporter {
	onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
		const count = { passed: 0, failed: errors.length, skipped: 0 };
		for (const module of modules) {
			const tests = [...module.children.allTests()];
			// A file that could not be loaded has no tests and must still count as a failure.
			if (tests.length === 0 && module.state() === 'failed') count.failed += 1;
			for (const test of tests) {
				const { state } = test.result();
				if (state !== 'pending') count[state] += 1;
			}
		}
		// After vitest's own summary, which is written later in the same turn.
		process.once('exit', () => {
			process.stdout.write(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`);
		});
	}
}
