#!/bin/bash
# build.sh: the root file system and the keys that both hosts share, in LAB_DIR. Repeatable: nothing is built again
# without cause. The packages are fetched once (base.tar); a change of the lab's own files only unpacks that again.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# The machine's own release and mirror, as its apt knows them.
suite=${LAB_SUITE:-$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")}
mirror=${LAB_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)}
packages=systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,openssh-server,sudo,iproute2,procps,python3,polkitd,iputils-ping

mkdir -p "$LAB_DIR"
cd "$LAB_DIR"
tar_stamp=$(echo "$suite $mirror $packages" | sha256sum | cut -c1-16)
own_stamp=$( (echo "$tar_stamp"; cd "$LAB_ROOT"; find build.sh configure.sh rootfs -type f | sort; find build.sh configure.sh rootfs -type f -print0 | sort -z | xargs -0 cat) | sha256sum | cut -c1-16)
[ "$(cat base.stamp 2> /dev/null)" = "$own_stamp" ] && exit 0

if [ "$(cat base.tar.stamp 2> /dev/null)" != "$tar_stamp" ]; then
	echo "lab: building the hosts' root file system (once, 1 to 2 minutes)"
	mmdebstrap --quiet --variant=minbase --include="$packages" \
		--aptopt='Acquire::Languages "none"' \
		--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		"$suite" base.new.tar "$mirror"
	mv base.new.tar base.tar
	echo "$tar_stamp" > base.tar.stamp
fi
rm -rf base base.stamp
mkdir base
tar -C base --numeric-owner -xpf base.tar

# Client keys of the kinds that a client has to master, and two authorities: one for hosts, one for users.
if [ ! -f keys/id_cert-cert.pub ]; then
	rm -rf keys
	mkdir -m 700 keys
	ssh-keygen -q -t ed25519 -N '' -C lab-plain -f keys/id_ed25519
	ssh-keygen -q -t ed25519 -N lab-passphrase -C lab-encrypted -f keys/id_ed25519_enc
	ssh-keygen -q -t rsa -b 3072 -N '' -C lab-rsa -f keys/id_rsa
	ssh-keygen -q -t ed25519 -N '' -C lab-host-ca -f keys/host_ca
	ssh-keygen -q -t ed25519 -N '' -C lab-user-ca -f keys/user_ca
	ssh-keygen -q -t ed25519 -N '' -C lab-certificate -f keys/id_cert
	ssh-keygen -q -s keys/user_ca -I lab-user -n spark,maint keys/id_cert.pub
	for host in $HOSTS; do
		case $host in spark-a) address=10.77.1.2 ;; spark-b) address=10.77.2.2 ;; esac
		ssh-keygen -q -t ed25519 -N '' -C "$host" -f "keys/host_$host"
		ssh-keygen -q -s keys/host_ca -I "$host" -h -n "$host,$address" "keys/host_$host.pub"
	done
fi
bash "$LAB_ROOT/configure.sh" "$LAB_DIR/base" "$LAB_DIR/keys"
echo "$own_stamp" > base.stamp
