#!/bin/bash
# configure.sh ROOT KEYS: makes a plain Debian root file system a lab host. The same for both hosts; run by build.sh.
set -euo pipefail
root=$1 keys=$2
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Accounts before files, so that useradd makes the homes. Passwords: lab-NAME.
#   spark   sudo without a password for systemctl start/stop/restart/kill only; docker; lingers
#   maint   sudo with a password
#   viewer  no rights at all
#   warden  polkit lets it manage lab-*.service
chroot "$root" groupadd --system docker
for user in spark maint viewer warden; do
	chroot "$root" useradd -m -s /bin/bash $user
	echo "$user:lab-$user" | chroot "$root" chpasswd
	install -d -m 700 "$root/home/$user/.ssh"
	cat "$keys"/id_ed25519.pub "$keys"/id_ed25519_enc.pub "$keys"/id_rsa.pub > "$root/home/$user/.ssh/authorized_keys"
done
chroot "$root" usermod -aG docker,systemd-journal,adm spark
chroot "$root" usermod -aG sudo,adm maint
chroot "$root" usermod -aG systemd-journal warden
chroot "$root" passwd -qd root
install -d "$root/var/lib/systemd/linger"
touch "$root/var/lib/systemd/linger/spark"

copy_tree "$LAB_ROOT/rootfs" "$root"
chmod 440 "$root/etc/sudoers.d/lab"
cp "$keys/user_ca.pub" "$root/etc/ssh/user_ca.pub"
install -d "$root/etc/lab/nvidia-smi" "$root/var/log/journal"
# Each host gets its own host key and machine id.
rm -f "$root"/etc/ssh/ssh_host_*
: > "$root/etc/machine-id"

units=$root/home/spark/.config/systemd/user
install -d "$units/default.target.wants"
ln -s ../vllm-embeddings.service "$units/default.target.wants/"
for user in spark maint viewer warden; do chroot "$root" chown -R $user:$user /home/$user; done
chroot "$root" systemctl -q enable ssh lab-flap lab-stubborn lab-broken
# Nothing that wakes up by itself, or waits for a console.
for unit in apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer e2scrub_reap.service dpkg-db-backup.timer \
	systemd-firstboot.service systemd-timesyncd.service getty@tty1.service console-getty.service; do
	ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
