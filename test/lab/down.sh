#!/bin/bash
# down.sh: ends the lab and takes away all it made outside LAB_DIR: processes, cgroups, namespaces, links, the route. Only
# ends the processes that up.sh wrote down, after a look that they are still those. Safe to repeat; LAB_DIR's build stays.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[ "$(id -u)" = 0 ] || die 'must run as root'

for host in $HOSTS; do
	[ -e "$RUN_DIR/$host.net" ] || continue
	if host_alive "$host"; then
		# As a power cut would. A frozen group must be thawed to die.
		echo 0 > "$CGROUP2/lab-$host/cgroup.freeze"
		echo 1 > "$CGROUP2/lab-$host/cgroup.kill"
		for try in $(seq 100); do
			host_alive "$host" || break
			[ "$try" = 100 ] && die "$host does not end"
			sleep 0.05
		done
	fi
	[ ! -e "$RUN_DIR/$host.cgroups" ] || while read -r dir; do
		# The kernel needs a moment until a killed group is empty; the deepest go first.
		for try in $(seq 30); do
			[ -d "$dir" ] || break
			find "$dir" -depth -type d -exec rmdir {} + 2> /dev/null || sleep 0.1
		done
	done < "$RUN_DIR/$host.cgroups"
	ip netns del "$host" 2> /dev/null || true
	rm -f "$RUN_DIR/$host".*
done
if [ -d "$RUN_DIR" ]; then
	if [ -e "$RUN_DIR/pcp" ]; then cat "$RUN_DIR/pcp" > $PCP_SETTING; fi
	if [ -e /sys/class/net/lab-a ]; then ip link del lab-a; fi
	while ip route del unreachable 10.77.0.0/16 2> /dev/null; do :; done
	rm -r "$RUN_DIR"
fi
rm -rf "$LAB_DIR/hosts"
echo 'lab is down'
