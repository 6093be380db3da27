#!/bin/bash
# host.sh HOST: becomes the host's systemd-nspawn. Only run by boot_host in lib.sh, in a mount namespace of its own and
# with the host's network namespace open as fd 9.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
host=$1 disk=$LAB_DIR/hosts/$1

while read -r dir; do
	mkdir -p "$dir"
	echo $$ > "$dir/cgroup.procs"
done < "$RUN_DIR/$host.cgroups"

# cd, so that overlay's options hold no path that would need quoting.
cd "$LAB_DIR"
mount -t overlay overlay -o "lowerdir=base,upperdir=hosts/$host/upper,workdir=hosts/$host/work" "hosts/$host/root"
mount -t tmpfs tmpfs /run

flags=(--quiet --register=no --keep-unit --directory="$disk/root" --machine="$host" --network-namespace-path=/proc/self/fd/9
	--resolv-conf=off --link-journal=no --console=read-only)
if [ "$LAB_MEM" = 1 ]; then
	# Hybrid cgroups: init-hybrid makes the v1 controllers writable before systemd starts.
	exec systemd-nspawn "${flags[@]}" /opt/lab/init-hybrid
fi
export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
exec systemd-nspawn "${flags[@]}" --boot
