/** The meanings that screens draw with; every theme has a look for each of them, own or inherited. */
export const TOKENS = [
	...['text', 'text.dim', 'text.strong', 'text.accent', 'title', 'border', 'border.focus'],
	...['header', 'footer', 'footer.key', 'code'],
	...['state.up', 'state.stale', 'state.down', 'state.connecting'],
	...['mark.keep', 'mark.ok', 'mark.warn', 'mark.bad'],
	...['row.selected', 'row.marked'],
	...['pool.free', 'pool.cache', 'pool.kernel', 'pool.other', 'pool.desktop', 'pool.unexplained'],
	...['pool.owner.a', 'pool.owner.b', 'pool.owner.c', 'pool.owner.d'],
	...['pool.owner.e', 'pool.owner.f', 'pool.owner.g', 'pool.owner.h'],
	...['spark', 'value.hot', 'value.warm', 'value.cold'],
	...['dialog', 'dialog.border', 'dialog.danger', 'button', 'button.focus'],
] as const;
