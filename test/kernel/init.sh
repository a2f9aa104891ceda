#!/bin/sh
# The guest's first process, from the initial ramdisk: loads the modules, makes the host's files the root file system
# with all changes kept in memory, and goes on with guest.sh. Each step that fails says so and ends the machine.
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys

fail() {
  echo "guest: $1"
  echo b >/proc/sysrq-trigger
}
# Some modules exist for certain processors only (crc32c-intel), and another does their work.
for module in /modules/*.ko; do insmod "$module" 2>/dev/null; done

options=trans=virtio,version=9p2000.L,msize=1048576
mount -t 9p -o $options,cache=loose,ro host /lower || fail "cannot mount the host's files"
mount -t tmpfs -o size=75%,mode=755 changes /changes || fail "cannot mount a tmpfs"
mkdir /changes/upper /changes/work
mount -t overlay -o lowerdir=/lower,upperdir=/changes/upper,workdir=/changes/work root /root ||
  fail "cannot lay the overlay over the host's files"
mkdir -p /root/out
mount -t 9p -o $options,cache=none out /root/out || fail "cannot mount the folder for results"
for dir in dev proc sys; do mount --move /$dir /root/$dir; done
exec switch_root /root /bin/bash /out/.guest/guest.sh
