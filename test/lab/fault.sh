#!/bin/bash
# fault.sh HOST VERB: breaks a host of the running lab, and mends it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
usage() {
	cat >&2 <<-EOF
		fault.sh spark-a|spark-b VERB
		  freeze | thaw              the whole host stops, and goes on where it was
		  cut | heal                 its network link
		  cut-b | heal-b             the link between spark-a and spark-b, at spark-a's end
		  crash | boot               power cut; power on again with the same disk
		  sshd-stop | sshd-start     no new logins; sessions stay
		  exec CMD…                  runs CMD inside as root, without ssh
	EOF
	exit 2
}
[ $# -ge 2 ] || usage
host=$1 verb=$2
shift 2
[[ " $HOSTS " == *" $host "* ]] || usage
[ -e "$RUN_DIR/$host.pid" ] || die 'the lab is not up'
group=$CGROUP2/lab-$host

# Links are cut inside the namespaces only. With the machine's end down its connected route would vanish, and only the
# unreachable route of up.sh would keep the lab's traffic off the real interface.
case $verb in
freeze) echo 1 > "$group/cgroup.freeze" ;;
thaw) echo 0 > "$group/cgroup.freeze" ;;
cut) ip -n "$host" link set eth0 down ;;
heal) ip -n "$host" link set eth0 up ;;
cut-b) ip -n spark-a link set eth1 down ;;
heal-b) ip -n spark-a link set eth1 up ;;
crash) echo 1 > "$group/cgroup.kill" ;;
boot)
	if host_alive "$host"; then die "$host is on"; fi
	boot_host "$host"
	wait_host "$host"
	;;
sshd-stop) inside "$host" systemctl stop ssh ;;
sshd-start) inside "$host" systemctl start ssh ;;
exec) inside "$host" "$@" ;;
*) usage ;;
esac
