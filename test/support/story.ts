import { expect } from 'vitest';
import { find, KEYS, type Tui } from './tui.ts';

/** What the pair under test calls things, and what it should say. */
export type Cast = {
	readonly head: string;
	readonly secondary: string;
	/** `7.9 GiB`: what the plan must name as freed from the GPU. */
	readonly gpu: string;
	/** Bounds of what must be measured to come back, in GiB. */
	readonly measured: readonly [number, number];
};

/** The screen row of a service in the table, which is in the left half of a wide screen. */
const rowOf = (tui: Tui, name: string): number => {
	const heading = find(tui, 'SERVICE');
	return tui.lines().findIndex((line, y) => y > heading.y && line.slice(heading.x).startsWith(name));
};

const selected = (tui: Tui): string => tui.lines().find((line) => line.includes('▸') && !line.includes('[')) ?? '';

/** Moves the selection from the top with the arrow key until it is on a service. */
export const select = async (tui: Tui, name: string): Promise<void> => {
	tui.press('\u001b[H');
	for (let presses = 0; presses < 12; presses += 1) {
		const row = selected(tui).slice(0, 40);
		if (row.includes(name)) return;
		tui.press(KEYS.down);
		await tui.until(() => selected(tui).slice(0, 40) !== row, 1000).catch(() => {});
	}
	throw new Error(`${name} could not be selected\n${tui.screen()}`);
};

/** Opens the console's deck with both hosts up and read. */
export const bothUp = async (tui: Tui, { head, secondary }: Cast): Promise<void> => {
	await tui.until(
		(screen) => screen.includes(`● ${head}`) && screen.includes(`● ${secondary}`) && screen.includes('vllm-reranker'),
	);
	expect(tui.buffer()).toBe('alternate');
};

/**
 * The story: select the reranker, read what stopping it frees, confirm, see it verified with the measured figure, undo,
 * see it back. The same keys against the demo and against real systemd.
 */
export const evictAndUndo = async (tui: Tui, cast: Cast): Promise<void> => {
	await bothUp(tui, cast);
	await select(tui, 'vllm-reranker');
	await tui.until('Stopping it frees');
	expect(tui.screen().replace(/[│\n\s]+/g, ' ')).toContain(`${cast.gpu} of the GPU`);
	// Selection is a background over the whole row and a mark, not a colour alone.
	const row = rowOf(tui, 'vllm-reranker');
	const x = find(tui, 'SERVICE').x;
	expect(tui.lines()[row]!.slice(0, x)).toContain('▸');
	const background = tui.cell(x, row).bg;
	expect(background).not.toBe(null);
	expect(tui.cell(x + 30, row).bg).toBe(background);
	expect(tui.cell(x, find(tui, 'SERVICE').y).bg).toBe(null);

	tui.press('e');
	await tui.until('Evict vllm-reranker.service on');
	const dialog = tui.screen();
	expect(dialog).toContain('systemctl --no-ask-password stop --no-block -- vllm-reranker.service');
	expect(dialog).toContain(`${cast.gpu} of the GPU`);
	// Cancel is where the cursor is, in shape and in colour.
	expect(dialog).toContain('▸ [ Cancel ]');
	const cancel = find(tui, '[ Cancel ]');
	const button = find(tui, '[ Evict vllm-reranker.service ]');
	expect(tui.cell(cancel.x, cancel.y).bg).not.toBe(tui.cell(button.x, button.y).bg);
	// Enter on Cancel does nothing; the key that opened it does not confirm it.
	tui.press('e');
	tui.press(KEYS.enter);
	await tui.until((screen) => !screen.includes('[ Cancel ]'));
	expect(tui.screen()).not.toContain('stopping');

	tui.press('e');
	await tui.until('▸ [ Cancel ]');
	tui.press(KEYS.right);
	await tui.until('▸ [ Evict vllm-reranker.service ]');
	tui.press(KEYS.enter);
	await tui.until(/stopping|returning|verified/);
	await tui.until('✓ verified', 60_000);
	const said = /vllm-reranker stopped: (\d+\.\d) of (\d+\.\d GiB|\d+ MiB) back in/.exec(tui.screen());
	expect(said, tui.screen()).not.toBe(null);
	expect(Number(said![1])).toBeGreaterThanOrEqual(cast.measured[0]);
	expect(Number(said![1])).toBeLessThanOrEqual(cast.measured[1]);
	const mark = find(tui, '✓ verified');
	expect(tui.cell(mark.x, mark.y).fg).not.toBe(null);
	await tui.until(() => /vllm-reranker\s+stopped/.test(tui.lines()[rowOf(tui, 'vllm-reranker')] ?? ''));

	tui.press('u');
	await tui.until('Start vllm-reranker.service again on');
	tui.press(KEYS.tab);
	await tui.until('▸ [ Start vllm-reranker.service ]');
	tui.press(KEYS.enter);
	await tui.until('vllm-reranker runs again and holds', 60_000);
	await tui.until(() => /vllm-reranker\s+running/.test(tui.lines()[rowOf(tui, 'vllm-reranker')] ?? ''));
};

/** Leaves by the key and checks that the terminal is as it was. */
export const leave = async (tui: Tui): Promise<void> => {
	tui.press('q');
	const { code } = await tui.exited;
	expect(code).toBe(0);
	await tui.until(() => tui.buffer() === 'normal');
	expect(tui.raw()).toContain('\u001b[?7h');
	expect(tui.raw().lastIndexOf('\u001b[?25h')).toBeGreaterThan(tui.raw().lastIndexOf('\u001b[?25l'));
};
