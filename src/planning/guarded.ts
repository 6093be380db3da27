import type { Manager } from '../domain/service.ts';

/** Units whose stop would cut the host off or take the ground from under everything else. */
const GUARDED: readonly (readonly [RegExp, string])[] = [
	[/^(ssh|sshd|ssh@.*|sshd@.*)\.service$/, 'it carries this very session'],
	[
		/^(NetworkManager|systemd-networkd|networking|tailscaled|wpa_supplicant)\.service$/,
		'it carries the network of the host',
	],
	[
		/^(dbus|dbus-broker|polkit|systemd-.*|user@\d+|user-runtime-dir@\d+|init)\.service$/,
		'the host itself depends on it',
	],
	[/^(docker|containerd|podman)\.service$/, 'all containers depend on it'],
	[/^(nvidia-persistenced|nvidia-fabricmanager)\.service$/, 'the GPU driver depends on it'],
];

/** Why a service is never offered for eviction; null for most. */
export const guardedBecause = (manager: Manager, name: string): string | null => {
	if (manager === 'container' || manager === 'process') return null;
	return GUARDED.find(([pattern]) => pattern.test(name))?.[1] ?? null;
};
