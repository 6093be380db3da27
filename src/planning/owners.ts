import type { Observation } from '../domain/observation.ts';
import { type Manager, serviceId } from '../domain/service.ts';
import type { Container, Unit } from '../domain/unit.ts';

/** Who owns a cgroup. `unseen`: it belongs to something that can't be looked at from here, and why that is. */
export type Owner = {
	readonly id: string;
	readonly manager: Manager;
	readonly name: string;
	readonly unseen: string | null;
};

/** Cgroups of graphical sessions: display managers and what GNOME, KDE and Xfce start under the user's manager. */
const DESKTOP =
	/\/(gdm3?|sddm|lightdm|display-manager)\.service(\/|$)|\/(org\.gnome\.|gnome-|plasma-|app-gnome|xdg-desktop|dbus-:[^/]*gnome)[^/]*\.(service|scope|slice)(\/|$)|\/session\.slice\/|\/session-c\d+\.scope/;
const CONTAINER = /(?:docker-|libpod-|cri-containerd-|\/docker\/)([0-9a-f]{64})/;
const USER_UNIT = /\/user@(\d+)\.service\/.*?([^/]+\.service)(?:\/|$)/;
const SYSTEM_UNIT = /\/([^/]+\.service)(?:\/|$)/;

export const isDesktop = (cgroup: string): boolean => DESKTOP.test(cgroup);

/**
 * From a cgroup path to its owner; null for what belongs to no unit and no container (a session's process). A path that
 * names a unit or a container is never nobody's, also where that unit or container can't be read.
 */
export const ownerLookup = (
	seen: Observation,
	runnerOf: (container: Container) => Unit | null,
): ((path: string) => Owner | null) => {
	const { host, identity } = seen;
	const byPath = new Map<string, Unit>();
	for (const unit of seen.units?.value ?? [])
		if (unit.cgroup !== '' && unit.cgroup !== '/') byPath.set(unit.cgroup, unit);
	const byId = new Map((seen.containers?.value ?? []).map((container) => [container.id, container]));
	const memo = new Map<string, Owner | null>();
	const owner = (manager: Manager, name: string, unseen: string | null = null): Owner => ({
		id: serviceId(host, manager, name),
		manager,
		name,
		unseen,
	});

	const find = (path: string): Owner | null => {
		if (isDesktop(path)) return null;
		for (let at = path; at.length > 1; at = at.slice(0, at.lastIndexOf('/'))) {
			const unit = byPath.get(at);
			if (unit && !isHousing(unit.name)) return owner(unit.manager, unit.name);
		}
		const id = CONTAINER.exec(path)?.[1];
		if (id !== undefined) {
			const container = byId.get(id);
			// The engine lists all it has, and this is not among them: the container is gone, and the process outlived it.
			if (!container && seen.containers) return null;
			if (!container) return owner('container', id.slice(0, 12), 'its container engine does not show it to this user');
			const runner = runnerOf(container);
			return runner ? owner(runner.manager, runner.name) : owner('container', nameOf(container));
		}
		const [, uid, userUnit] = USER_UNIT.exec(path) ?? [];
		if (uid !== undefined && userUnit !== undefined) {
			if (Number(uid) === identity.uid) return owner('user', userUnit, 'your user’s manager does not list it');
			return owner(
				'user',
				`${userUnit} of uid ${uid}`,
				`it belongs to the manager of uid ${uid}, and this session is uid ${identity.uid}`,
			);
		}
		const systemUnit = SYSTEM_UNIT.exec(path)?.[1];
		if (systemUnit === undefined || isHousing(systemUnit)) return null;
		return owner('system', systemUnit, 'the system manager does not list it');
	};
	return (path) => {
		const known = memo.get(path);
		if (known !== undefined) return known;
		const found = find(path);
		memo.set(path, found);
		return found;
	};
};

export const nameOf = (container: Container): string => container.name || container.id.slice(0, 12);

/** `user@1000.service` houses the units of a user; what lies in it and belongs to none of them is a session's. */
const isHousing = (name: string): boolean => name.startsWith('user@');

const TOOL = /(^|\/)(docker|podman|nerdctl)$/;

/**
 * The unit that runs a container: stopping the container alone would be undone by it, or leave it failed. Found by the
 * name that its ExecStart gives the container, else by a unit with a container tool that is called like the container.
 */
export const runnerLookup = (units: readonly Unit[]): ((container: Container) => Unit | null) => {
	const runners = units.flatMap((unit) => {
		if (unit.activeState === 'inactive') return [];
		const words = unit.execStart.find((command) => command.some((word) => TOOL.test(word)));
		return words ? [{ unit, names: containerNames(words) }] : [];
	});
	return ({ name }) => {
		if (name === '') return null;
		const named =
			runners.find(({ names }) => names.includes(name)) ?? runners.find(({ unit }) => unit.name === `${name}.service`);
		return named?.unit ?? null;
	};
};

/** `--name X`, `--name=X`, and the last word of `start`. */
const containerNames = (words: readonly string[]): string[] => {
	const after = words.slice(words.findIndex((word) => TOOL.test(word)) + 1);
	const names = after.flatMap((word, index) =>
		word === '--name' ? [after[index + 1] ?? ''] : word.startsWith('--name=') ? [word.slice(7)] : [],
	);
	if (after[0] === 'start' || after[1] === 'start') names.push(after.at(-1) ?? '');
	return names;
};
