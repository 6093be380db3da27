import defaultKeymap from '../../keymaps/default.yaml';
import vimKeymap from '../../keymaps/vim-like.yaml';
import colourBlindSafe from '../../themes/colour-blind-safe.yaml';
import dark from '../../themes/dark.yaml';
import highContrast from '../../themes/high-contrast.yaml';
import light from '../../themes/light.yaml';
import { commandIds } from '../commands/index.ts';
import { type Keymap, loadKeymap } from '../commands/keymap.ts';
import { formatProblem, type Problem } from '../config/yaml.ts';
import { type Failure, failure } from '../domain/failure.ts';
import { fail, ok, type Result } from '../domain/result.ts';
import { loadTheme, type Theme } from '../screen/theme/theme.ts';
import { userFiles } from './files.ts';

const THEMES = { dark, light, 'high-contrast': highContrast, 'colour-blind-safe': colourBlindSafe };
const KEYMAPS = { default: defaultKeymap, 'vim-like': vimKeymap };

/** A theme by name, the user's own before those that ship. */
export const themeNamed = (name: string): Result<Theme> => {
	const loaded = loadTheme(name, { ...THEMES, ...userFiles('themes') });
	return loaded.ok ? ok(loaded.theme) : fail(bad(loaded.problems));
};

export const keymapNamed = (name: string): Result<Keymap> => {
	const loaded = loadKeymap(name, { ...KEYMAPS, ...userFiles('keymaps') }, commandIds);
	return loaded.ok ? ok(loaded.keymap) : fail(bad(loaded.problems));
};

const bad = (problems: readonly Problem[]): Failure =>
	failure('config', problems.map(formatProblem).join('\n'), 'Correct the file; nothing was started');
