# Shared by the lab's scripts; sourced, not run.

LAB_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LAB_DIR=${LAB_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/sparkdeck-lab}
case $LAB_DIR in /*) ;; *) LAB_DIR=$PWD/$LAB_DIR ;; esac
export LAB_DIR LAB_MEM=${LAB_MEM:-0}

HOSTS='spark-a spark-b'
# What is there now, as HOST.net (its namespace is ours), HOST.pid (systemd-nspawn), HOST.init (PID 1 of the host, seen from here) and HOST.cgroups. Not in
# LAB_DIR: names of namespaces and addresses exist once a machine, so one lab runs at a time, whatever its folder.
RUN_DIR=/run/sparkdeck-lab

# See up.sh.
PCP_SETTING=/proc/sys/vm/percpu_pagelist_high_fraction

die() { echo "lab: $*" >&2; exit 1; }

# What the hosts' users may read must not hang on the umask here, or on the one of the checkout.
umask 022
copy_tree() { tar -C "$1" --mode=u=rwX,go=rX --owner=0 --group=0 -cf - . | tar -C "$2" -xpf -; }

# The cgroup v2 tree: the whole hierarchy, or beside the v1 controllers.
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then CGROUP2=/sys/fs/cgroup; else CGROUP2=/sys/fs/cgroup/unified; fi

# The cgroups that a host is started in. Its own ones, else two nspawns collide on /payload; and the v2 one is the handle
# for freezing and killing the whole host at once. With LAB_MEM=1 also one below this process's own group for each v1
# controller that the host may use.
cgroup_dirs() {
	local controller own
	echo "$CGROUP2/lab-$1"
	if [ -d /sys/fs/cgroup/systemd ]; then echo "/sys/fs/cgroup/systemd/lab-$1"; fi
	if [ "$LAB_MEM" = 1 ]; then
		for controller in memory cpuacct pids; do
			own=$(awk -F: -v c=$controller '$2 == c { print $3 }' /proc/self/cgroup)
			echo "/sys/fs/cgroup/$controller${own%/}/lab-$1"
		done
	fi
}

# Is the host's nspawn there, or host.sh on its way to become it? A pid alone proves nothing, and where PID 1 reaps slowly
# a zombie stays for seconds: it counts as gone.
host_alive() {
	local pid
	pid=$(cat "$RUN_DIR/$1.pid" 2>/dev/null) || return 1
	grep -qs '^State:.[^Z]' "/proc/$pid/status" && tr '\0' ' ' < "/proc/$pid/cmdline" | grep -qE -- "(host\.sh |--machine=)$1 "
}

# Runs a command as root inside a host, without ssh.
inside() {
	local host=$1
	shift
	nsenter -t "$(cat "$RUN_DIR/$host.init")" -m -u -i -n -p -C -- "$@"
}

# Powers a host on. Its files and its network namespace are there already.
boot_host() {
	cgroup_dirs "$1" > "$RUN_DIR/$1.cgroups"
	# A mount namespace of its own: the overlay, /run and nspawn's mounts end with the process, and the machine's mount
	# table stays as it was.
	setsid unshare -m --propagation private bash "$LAB_ROOT/host.sh" "$1" \
		9< "/run/netns/$1" < /dev/null > "$LAB_DIR/hosts/$1/console.log" 2>&1 &
	echo $! > "$RUN_DIR/$1.pid"
}

lab_ssh() { ssh -F "$LAB_DIR/ssh_config" -o BatchMode=yes -o ConnectTimeout=2 "$@"; }

# Waits until a host answers over ssh, has finished booting and holds the memory that its services are to hold.
wait_host() {
	local try expected=1
	[ "$1" = spark-a ] && expected=3
	for try in $(seq 150); do
		lab_ssh "$1" true 2> /dev/null && break
		host_alive "$1" || { tail -n 5 "$LAB_DIR/hosts/$1/console.log" >&2; die "$1 died while it booted"; }
		[ "$try" = 150 ] && { tail -n 5 "$LAB_DIR/hosts/$1/console.log" >&2; die "$1 does not answer over ssh"; }
		sleep 0.1
	done
	pgrep -P "$(cat "$RUN_DIR/$1.pid")" | head -n 1 > "$RUN_DIR/$1.init"
	# "degraded" and so a failure by design: lab-broken is there to fail.
	lab_ssh "$1" systemctl is-system-running --wait > /dev/null || true
	for try in $(seq 100); do
		[ "$(inside "$1" nvidia-smi --query-compute-apps=pid --format=csv,noheader | wc -l)" -ge $expected ] && return
		sleep 0.2
	done
	die "the services of $1 do not hold their memory: look at LAB_DIR/hosts, or: fault.sh $1 exec journalctl -b"
}
