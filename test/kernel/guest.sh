# The guest's process 1 once the root file system is there: completes the system as far as tests need it, runs the
# command, and tells its status by a file. The machine ends with this script, whatever happens.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8
trap 'sync; echo b >/proc/sysrq-trigger; sleep 60' EXIT

mount -t tmpfs run /run
mkdir -p /run/netns /dev/pts /dev/shm
mount -t devpts pts /dev/pts
mount -t tmpfs shm /dev/shm
ln -sf /proc/self/fd /dev/fd
hostname kernel-guest
ip link set lo up
uptime() {
  read -r seconds _ </proc/uptime
  echo "$seconds"
}
if [ ! -d /sys/module/openvswitch ]; then
  echo "guest: module openvswitch is not loaded"
  exit
fi
echo "guest: ready after $(uptime) s, Linux $(uname -r)"

cd "$(cat /out/.guest/folder)" || exit
set -a
. /out/.guest/environment
set +a
bash /out/.guest/command </dev/null
status=$?
echo "guest: done after $(uptime) s, status $status"
echo $status >/out/.guest/status
