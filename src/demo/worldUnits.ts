import type { Manager, ProcSpec, UnitSpec } from './worldTypes.ts';

/** A unit file with what most have; the rest is said. */
export const unit = (
	name: string,
	manager: Manager,
	description: string,
	rest: Partial<UnitSpec> & Pick<UnitSpec, 'execStart'>,
): UnitSpec => ({
	name,
	manager,
	description,
	type: 'simple',
	restart: 'no',
	restartSeconds: 0.1,
	unitFileState: 'enabled',
	fragment: `/usr/lib/systemd/system/${name}`,
	execStartPre: [],
	execStop: [],
	user: 'root',
	wants: [],
	triggeredBy: [],
	requiredBy: [],
	aliases: [],
	timeoutStop: '1min 30s',
	cgroup: `/system.slice/${name}`,
	procs: [],
	container: null,
	state: 'running',
	stopTakes: 0.2,
	returnTakes: 0.5,
	loadAfter: 0,
	loadTakes: 0.2,
	log: [],
	...rest,
});

const daemon = (
	name: string,
	description: string,
	path: string,
	hostMiB: number,
	rest: Partial<UnitSpec> = {},
): UnitSpec => {
	const main: ProcSpec = {
		name: path.split(' ')[0]!.split('/').at(-1)!,
		command: path,
		user: rest.user ?? 'root',
		hostMiB,
		gpuMiB: 0,
	};
	const running = (rest.state ?? 'running') === 'running' || rest.procs === undefined;
	return unit(`${name}.service`, 'system', description, {
		execStart: path.split(' '),
		procs: running ? [main] : [],
		...rest,
	});
};

const once = (name: string, description: string, path: string, state: UnitSpec['state'] = 'exited'): UnitSpec =>
	unit(`${name}.service`, 'system', description, {
		execStart: path.split(' '),
		type: 'oneshot',
		state,
		unitFileState: state === 'dead' ? 'static' : 'enabled',
	});

const timer = (name: string): Partial<UnitSpec> => ({ triggeredBy: [`${name}.timer`] });

const DAEMONS: readonly UnitSpec[] = [
	daemon('accounts-daemon', 'Accounts Service', '/usr/libexec/accounts-daemon', 2.1),
	daemon('avahi-daemon', 'Avahi mDNS/DNS-SD Stack', '/usr/sbin/avahi-daemon -s', 0.9, {
		type: 'dbus',
		user: 'avahi',
		triggeredBy: ['avahi-daemon.socket'],
		aliases: ['dbus-org.freedesktop.Avahi.service'],
	}),
	daemon('bluetooth', 'Bluetooth service', '/usr/libexec/bluetooth/bluetoothd', 1.4, { type: 'dbus' }),
	daemon('colord', 'Manage, Install and Generate Color Profiles', '/usr/libexec/colord', 3.2, { type: 'dbus' }),
	daemon('containerd', 'containerd container runtime', '/usr/bin/containerd', 41, {
		type: 'notify',
		restart: 'always',
		restartSeconds: 5,
	}),
	daemon('cron', 'Regular background program processing daemon', '/usr/sbin/cron -f -P', 0.7, {
		restart: 'on-failure',
	}),
	daemon('cups', 'CUPS Scheduler', '/usr/sbin/cupsd -l', 3.1, {
		type: 'notify',
		restart: 'on-failure',
		triggeredBy: ['cups.socket', 'cups.path'],
	}),
	daemon('cups-browsed', 'Make remote CUPS printers available locally', '/usr/sbin/cups-browsed', 3.4),
	daemon('dbus', 'D-Bus System Message Bus', '/usr/bin/dbus-daemon --system --nofork', 2.4, {
		type: 'notify',
		unitFileState: 'static',
		user: 'messagebus',
		triggeredBy: ['dbus.socket'],
	}),
	daemon('dgx-dashboard', 'DGX Dashboard Service', '/opt/nvidia/dgx-dashboard-service/dashboard-service', 28, {
		restart: 'always',
		restartSeconds: 5,
	}),
	daemon(
		'dgx-dashboard-admin',
		'DGX Dashboard Admin Service',
		'/opt/nvidia/dgx-dashboard-service/dashboard-admin',
		12,
		{
			restart: 'always',
			restartSeconds: 5,
		},
	),
	daemon('docker', 'Docker Application Container Engine', '/usr/bin/dockerd -H fd://', 58, {
		type: 'notify',
		restart: 'always',
		restartSeconds: 2,
		triggeredBy: ['docker.socket'],
	}),
	daemon('fwupd', 'Firmware update daemon', '/usr/libexec/fwupd/fwupd', 21, { type: 'dbus', unitFileState: 'static' }),
	daemon('irqbalance', 'irqbalance daemon', '/usr/sbin/irqbalance', 1.2),
	daemon('kerneloops', 'Tool to automatically collect and submit kernel crash signatures', '/usr/sbin/kerneloops', 0.5),
	daemon('ModemManager', 'Modem Manager', '/usr/sbin/ModemManager', 3.0, { type: 'dbus', restart: 'on-failure' }),
	daemon('NetworkManager', 'Network Manager', '/usr/sbin/NetworkManager --no-daemon', 8.2, {
		type: 'dbus',
		restart: 'on-failure',
	}),
	daemon('networkd-dispatcher', 'Dispatcher daemon for systemd-networkd', '/usr/bin/networkd-dispatcher', 10.4),
	daemon('nvidia-persistenced', 'NVIDIA Persistence Daemon', '/usr/bin/nvidia-persistenced --verbose', 1.1, {
		type: 'forking',
		unitFileState: 'static',
	}),
	daemon('packagekit', 'PackageKit Daemon', '/usr/libexec/packagekitd', 7.4, {
		type: 'dbus',
		unitFileState: 'static',
	}),
	daemon('polkit', 'Authorization Manager', '/usr/lib/polkit-1/polkitd --no-debug', 5.2, {
		type: 'dbus',
		unitFileState: 'static',
	}),
	daemon('power-profiles-daemon', 'Power Profiles daemon', '/usr/libexec/power-profiles-daemon', 1.6),
	daemon('rsyslog', 'System Logging Service', '/usr/sbin/rsyslogd -n -iNONE', 2.6, {
		type: 'notify',
		restart: 'on-failure',
		triggeredBy: ['syslog.socket'],
	}),
	daemon('rtkit-daemon', 'RealtimeKit Scheduling Policy Service', '/usr/libexec/rtkit-daemon', 0.6),
	daemon('snapd', 'Snap Daemon', '/usr/lib/snapd/snapd', 24, {
		type: 'notify',
		restart: 'always',
		triggeredBy: ['snapd.socket'],
	}),
	daemon('ssh', 'OpenBSD Secure Shell server', '/usr/sbin/sshd -D', 2.2, {
		type: 'notify',
		restart: 'on-failure',
		triggeredBy: ['ssh.socket'],
		aliases: ['sshd.service'],
	}),
	daemon('switcheroo-control', 'Switcheroo Control Proxy service', '/usr/libexec/switcheroo-control', 1.0),
	daemon('systemd-journald', 'Journal Service', '/usr/lib/systemd/systemd-journald', 9.1, {
		type: 'notify',
		restart: 'always',
		unitFileState: 'static',
		triggeredBy: ['systemd-journald.socket', 'systemd-journald-dev-log.socket'],
	}),
	daemon('systemd-logind', 'User Login Management', '/usr/lib/systemd/systemd-logind', 2.3, {
		type: 'notify',
		restart: 'always',
		unitFileState: 'static',
	}),
	daemon('systemd-oomd', 'Userspace Out-Of-Memory (OOM) Killer', '/usr/lib/systemd/systemd-oomd', 1.5, {
		type: 'notify',
		user: 'systemd-oom',
		triggeredBy: ['systemd-oomd.socket'],
	}),
	daemon('systemd-resolved', 'Network Name Resolution', '/usr/lib/systemd/systemd-resolved', 4.9, {
		type: 'notify',
		restart: 'always',
		user: 'systemd-resolve',
	}),
	daemon('systemd-timesyncd', 'Network Time Synchronization', '/usr/lib/systemd/systemd-timesyncd', 1.4, {
		type: 'notify',
		restart: 'always',
		user: 'systemd-timesync',
	}),
	daemon('systemd-udevd', 'Rule-based Manager for Device Events and Files', '/usr/lib/systemd/systemd-udevd', 5.7, {
		type: 'notify',
		restart: 'always',
		unitFileState: 'static',
	}),
	daemon('udisks2', 'Disk Manager', '/usr/libexec/udisks2/udisksd', 4.0, { type: 'dbus' }),
	daemon('unattended-upgrades', 'Unattended Upgrades Shutdown', '/usr/bin/python3 unattended-upgrade-shutdown', 11),
	daemon('upower', 'Daemon for power management', '/usr/libexec/upowerd', 2.2, { type: 'dbus' }),
	daemon('wpa_supplicant', 'WPA supplicant', '/usr/sbin/wpa_supplicant -u -s -O DIR=/run/wpa_supplicant', 2.5, {
		type: 'dbus',
	}),
];

const ONCE: readonly UnitSpec[] = [
	once('apparmor', 'Load AppArmor profiles', '/usr/lib/apparmor/apparmor.systemd reload'),
	once('console-setup', 'Set console font and keymap', '/usr/lib/console-setup/console-setup.sh'),
	once('keyboard-setup', 'Set the console keyboard layout', '/usr/lib/console-setup/keyboard-setup.sh'),
	once('nvidia-cx7-hotplug', 'NVIDIA ConnectX-7 hot-plug', '/usr/lib/nvidia/cx7-hotplug.sh'),
	once('plymouth-quit', 'Terminate Plymouth Boot Screen', '/usr/bin/plymouth quit'),
	once('setvtrgb', 'Set console scheme', '/usr/sbin/setvtrgb /etc/vtrgb'),
	once('systemd-modules-load', 'Load Kernel Modules', '/usr/lib/systemd/systemd-modules-load'),
	once('systemd-sysctl', 'Apply Kernel Variables', '/usr/lib/systemd/systemd-sysctl'),
	once('systemd-tmpfiles-setup', 'Create Volatile Files and Directories', '/usr/bin/systemd-tmpfiles --create'),
	{
		...once('apt-daily', 'Daily apt download activities', '/usr/lib/apt/apt.systemd.daily', 'dead'),
		...timer('apt-daily'),
	},
	{
		...once('fstrim', 'Discard unused blocks on filesystems', '/usr/sbin/fstrim --listed', 'dead'),
		...timer('fstrim'),
	},
	{
		...once('logrotate', 'Rotate log files', '/usr/sbin/logrotate /etc/logrotate.conf', 'dead'),
		...timer('logrotate'),
	},
	{ ...once('man-db', 'Daily man-db regeneration', '/usr/bin/mandb --quiet', 'dead'), ...timer('man-db') },
	{
		...once('systemd-tmpfiles-clean', 'Cleanup of Temporary Directories', '/usr/bin/systemd-tmpfiles --clean', 'dead'),
		...timer('systemd-tmpfiles-clean'),
	},
	once('nvidia-hibernate', 'NVIDIA system hibernate actions', '/usr/bin/nvidia-sleep.sh hibernate', 'dead'),
	once('nvidia-suspend', 'NVIDIA system suspend actions', '/usr/bin/nvidia-sleep.sh suspend', 'dead'),
	once('NetworkManager-wait-online', 'Network Manager Wait Online', '/usr/bin/nm-online -s -q', 'failed'),
];

/** Some sixty units that every DGX OS has in one form or another; each too small to matter by itself. */
export const ordinaryUnits = (): UnitSpec[] => [...DAEMONS, ...ONCE];
