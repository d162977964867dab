#!/usr/bin/env bash
# The sandbox on version 2 of control groups, wherever this machine has only version 1: a Debian kernel in an emulated
# machine, its file system in memory; once as root and once as a user to whom a group is delegated.
# Needs root, and: apt install qemu-system-x86 debootstrap cpio. Takes a few minutes, the second time less.
# usage: scripts/cgroup2.sh FOLDER    (what is made is kept there)
set -euo pipefail
checkout=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
cd "$1"

[[ -d system ]] || debootstrap --variant=minbase --include=python3,bubblewrap,util-linux,libseccomp2 bookworm system > debootstrap.log
if [[ ! -d kernel ]]; then
    mkdir kernel
    (cd kernel && apt-get download -qq "$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends/ { print $2 }')" && dpkg -x ./*.deb .)
fi

rm -rf system/cutpurse
mkdir system/cutpurse
for root in games proto sdk server leaderboard; do
    cp -r "$checkout/$root" "system/cutpurse/$root"
done
cp "$checkout/tests/sandbox/guest.py" system/cutpurse/
cp "$("$checkout/.venv/bin/python" -c 'import pyseccomp; print(pyseccomp.__file__)')" system/cutpurse/
chmod -R a+rX system/cutpurse

cat > system/init << 'INIT'
#!/bin/sh
export PATH=/usr/bin:/usr/sbin:/bin:/sbin
if [ ! -e /moved ]; then # what a sandbox does with its root cannot be done in the file system that a kernel starts with
    mkdir /new && mount -t tmpfs -o size=1500m new /new
    cp -a /usr /bin /sbin /lib /lib64 /etc /cutpurse /init /new/
    mkdir -p /new/proc /new/sys /new/dev /new/tmp /new/root /new/run && touch /new/moved
    exec switch_root /new /init
fi
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo '+memory +pids +cpu' > /sys/fs/cgroup/cgroup.subtree_control
export PYTHONPATH=/cutpurse/games:/cutpurse/proto:/cutpurse/sdk:/cutpurse/server:/cutpurse/leaderboard:/cutpurse
for user in 0 1000; do
    group=/sys/fs/cgroup/service$user
    mkdir $group
    chown $user $group $group/cgroup.procs $group/cgroup.subtree_control $group/cgroup.threads
    echo "user $user, $(uname -r)"
    sh -c "echo \$\$ > $group/cgroup.procs; exec setpriv --reuid $user --regid $user --clear-groups python3 /cutpurse/guest.py"
done
echo OVER
echo o > /proc/sysrq-trigger
sleep 5
INIT
chmod +x system/init
(cd system && find . -xdev \( -path ./var -o -path ./usr/share \) -prune -o -print | cpio -o -H newc --quiet) > system.cpio

timeout 900 qemu-system-x86_64 -accel tcg -cpu max -m 3072 -smp 2 -nographic -no-reboot -net none \
    -kernel kernel/boot/vmlinuz-* -initrd system.cpio -append "console=ttyS0 rdinit=/init panic=1 quiet" \
    < /dev/null 2>&1 | tr -d '\r' | tee boot.log
[[ $(grep -c 'ALL WELL' boot.log) -eq 2 ]]
