#!/bin/bash
# up.sh: starts the lab: two hosts with real systemd and sshd, spark-a (10.77.1.2, direct) and spark-b (10.77.2.2, only
# through spark-a). Clears an old lab first. See README.md.
#   LAB_DIR=…   where it lives (default: ~/.cache/sparkdeck-lab)
#   LAB_MEM=1   hybrid cgroups: MemoryCurrent and TasksCurrent of system units, which a pure v2 tree lacks on some kernels
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

command -v apt-get > /dev/null || die 'needs a Debian or Ubuntu machine'
missing=()
need() { command -v "$1" > /dev/null || missing+=("$2"); }
need mmdebstrap mmdebstrap
need systemd-nspawn systemd-container
need ssh openssh-client
need ip iproute2
need pgrep procps
if [ ${#missing[@]} -gt 0 ]; then
	die "packages are missing. As root: apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
fi
[ "$(id -u)" = 0 ] || die 'must run as root: it makes namespaces, mounts and a route'
[ -d "$CGROUP2" ] || die 'needs a cgroup v2 hierarchy at /sys/fs/cgroup or /sys/fs/cgroup/unified'
[[ $LAB_DIR != *[[:space:]:,\"%\\]* ]] || die "LAB_DIR must not hold blanks or any of : , \" % \\ ($LAB_DIR)"

began=$(date +%s%N)
elapsed() { awk -v t=$(($(date +%s%N) - began)) 'BEGIN { printf "%.1f s", t / 1e9 }'; }

"$LAB_ROOT/down.sh" > /dev/null
"$LAB_ROOT/build.sh"
for host in $HOSTS; do
	if [ -e "/run/netns/$host" ]; then die "a network namespace $host exists that is not this lab's: ip netns del $host"; fi
done
mkdir -p "$RUN_DIR"

# Pages that a process gives back first go to lists of each CPU, which MemAvailable does not count. Newer kernels let these
# grow by themselves: measured, 200 MiB stayed away for half a minute after a model stopped. A fixed, small size (a 4000th
# of the memory) makes MemAvailable tell the truth at once. down.sh puts the machine's own value back.
if [ -e $PCP_SETTING ]; then
	cat $PCP_SETTING > "$RUN_DIR/pcp"
	echo 4000 > $PCP_SETTING
fi

# Nothing of 10.77/16 may ever leave by a real interface, whatever link of the lab is down.
ip route replace unreachable 10.77.0.0/16 metric 50000
# machine lab-a 10.77.1.1 == 10.77.1.2 eth0 spark-a eth1 10.77.2.1 == 10.77.2.2 eth0 spark-b
for host in $HOSTS; do
	touch "$RUN_DIR/$host.net"
	ip netns add "$host"
	ip -n "$host" link set lo up
done
ip link add lab-a type veth peer name eth0 netns spark-a
ip -n spark-a link add eth1 type veth peer name eth0 netns spark-b
ip addr add 10.77.1.1/24 dev lab-a
ip -n spark-a addr add 10.77.1.2/24 dev eth0
ip -n spark-a addr add 10.77.2.1/24 dev eth1
ip -n spark-b addr add 10.77.2.2/24 dev eth0
ip link set lab-a up
ip -n spark-a link set eth0 up
ip -n spark-a link set eth1 up
ip -n spark-b link set eth0 up

cd "$LAB_DIR"
for host in $HOSTS; do
	# The host's own files lie in an overlay over the shared base, new at each start.
	upper=hosts/$host/upper
	rm -rf "hosts/$host"
	mkdir -p "hosts/$host/work" "hosts/$host/root" $upper/etc/ssh/sshd_config.d
	if [ -d "$LAB_ROOT/hosts/$host" ]; then copy_tree "$LAB_ROOT/hosts/$host" $upper; fi
	for unit in $upper/etc/systemd/system/*.service; do
		[ -e "$unit" ] || continue
		mkdir -p $upper/etc/systemd/system/multi-user.target.wants
		ln -s "../${unit##*/}" $upper/etc/systemd/system/multi-user.target.wants/
	done
	echo "$host" > $upper/etc/hostname
	cat > $upper/etc/hosts <<-EOF
		127.0.0.1 localhost
		127.0.1.1 $host
		10.77.1.2 spark-a
		10.77.2.1 spark-a-lan
		10.77.2.2 spark-b
	EOF
	install -m 600 "keys/host_$host" $upper/etc/ssh/ssh_host_ed25519_key
	install -m 644 "keys/host_$host.pub" $upper/etc/ssh/ssh_host_ed25519_key.pub
	install -m 644 "keys/host_$host-cert.pub" $upper/etc/ssh/ssh_host_ed25519_key-cert.pub
	cat > $upper/etc/ssh/sshd_config.d/host.conf <<-EOF
		HostKey /etc/ssh/ssh_host_ed25519_key
		HostCertificate /etc/ssh/ssh_host_ed25519_key-cert.pub
	EOF
	# Overlay takes the folders' modes from here.
	find $upper -type d -exec chmod 755 {} +
done

cat > known_hosts <<-EOF
	spark-a,10.77.1.2 $(cut -d' ' -f1,2 keys/host_spark-a.pub)
	spark-b,10.77.2.2 $(cut -d' ' -f1,2 keys/host_spark-b.pub)
EOF
# ssh passes its own -F on to the jump, so the file needs nothing special for that.
cat > ssh_config <<-EOF
	# written by test/lab/up.sh
	Host spark-a
	  HostName 10.77.1.2
	Host spark-b
	  HostName 10.77.2.2
	  ProxyJump spark-a
	Host *
	  User spark
	  IdentityFile $LAB_DIR/keys/id_ed25519
	  IdentitiesOnly yes
	  UserKnownHostsFile $LAB_DIR/known_hosts
	  GlobalKnownHostsFile /dev/null
	  StrictHostKeyChecking yes
EOF
cat > config.yaml <<-'EOF'
	# written by test/lab/up.sh
	ssh:
	  config: ./ssh_config
	hosts:
	  - name: spark-a
	    role: head
	  - name: spark-b
	    role: secondary
	    keep:
	      - vllm-embeddings.service
EOF

for host in $HOSTS; do boot_host "$host"; done
for host in $HOSTS; do
	wait_host "$host"
	echo "$host: up after $(elapsed)"
done
echo "lab is up: ssh -F $LAB_DIR/ssh_config spark-a|spark-b"
