// The one component that draws. Where it draws to is the provider's business: the compositor in the program, Ink's own
// output where there is no full screen to own (and in tests, which prove that both give the same cells).
import { Box, Text } from 'ink';
import { createContext, memo, type ReactNode, use, useLayoutEffect, useState, useSyncExternalStore } from 'react';
import { ansiRow } from './frame/ansi.ts';
import type { Compositor, Rectangle, StyleOf } from './frame/compositor.ts';
import { EMPTY, type Line } from './frame/line.ts';

export type PaneProps = Rectangle & { readonly id: string; readonly lines: readonly Line[] };

type Target = Pick<Compositor, 'set' | 'remove' | 'schedule'>;

const TargetContext = createContext<Target | undefined>(undefined);

/** An opaque rectangle of lines at a place on the screen. Its id is its own among all panes. */
export function Pane({ id, x, y, width, height, z = 0, lines }: PaneProps): null {
	const target = use(TargetContext);
	if (!target) throw new Error('Pane needs a PaneProvider above it');
	// First in order, so that with a new id the old rectangle goes before the new one comes.
	useLayoutEffect(
		() => () => {
			target.remove(id);
			target.schedule();
		},
		[target, id],
	);
	useLayoutEffect(() => {
		target.set(id, { x, y, width, height, z }, lines);
		target.schedule();
	}, [target, id, x, y, width, height, z, lines]);
	return null;
}

export type PaneProviderProps = { readonly children?: ReactNode } & (
	| { readonly mode: 'compositor'; readonly compositor: Compositor }
	| { readonly mode: 'ink'; readonly columns: number; readonly rows: number; readonly style: StyleOf }
);

export function PaneProvider(props: PaneProviderProps): ReactNode {
	if (props.mode === 'ink') return <InkPanes {...props} />;
	return <TargetContext value={props.compositor}>{props.children}</TargetContext>;
}

type InkPanesProps = {
	readonly columns: number;
	readonly rows: number;
	readonly style: StyleOf;
	readonly children?: ReactNode;
};

function InkPanes({ columns, rows, style, children }: InkPanesProps): ReactNode {
	const [list] = useState(() => new PaneList());
	const panes = useSyncExternalStore(list.subscribe, list.snapshot);
	return (
		<TargetContext value={list}>
			{children}
			<Box width={columns} height={rows} overflow="hidden">
				{panes.map((pane) => (
					<InkPane key={pane.id} {...pane} style={style} />
				))}
			</Box>
		</TargetContext>
	);
}

const InkPane = memo(function InkPane({ x, y, width, height, lines, style }: PaneProps & { readonly style: StyleOf }) {
	if (width <= 0 || height <= 0) return null;
	const rows = Array.from({ length: height }, (_, row) => ansiRow(lines[row] ?? EMPTY, width, style));
	return (
		<Box position="absolute" left={x} top={y} width={width} height={height} overflow="hidden">
			<Text>{rows.join('\n')}</Text>
		</Box>
	);
});

/** Ink draws in the order of the tree and knows no z, so the panes are collected and drawn from one place. */
class PaneList implements Target {
	readonly #panes = new Map<string, PaneProps>();
	readonly #listeners = new Set<() => void>();
	#sorted: readonly PaneProps[] = [];

	readonly subscribe = (listener: () => void): (() => void) => {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	};

	readonly snapshot = (): readonly PaneProps[] => this.#sorted;

	set(id: string, place: Rectangle, lines: readonly Line[]): void {
		this.#panes.set(id, { id, ...place, lines });
		this.#changed();
	}

	remove(id: string): void {
		this.#panes.delete(id);
		this.#changed();
	}

	/** React draws by itself. */
	schedule(): void {}

	#changed(): void {
		this.#sorted = [...this.#panes.values()].sort((a, b) => (a.z ?? 0) - (b.z ?? 0));
		for (const listener of this.#listeners) listener();
	}
}
