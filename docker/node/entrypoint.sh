#!/bin/bash
# Starts Open vSwitch with a bridge, plugs the container's networks and the machines into it, and keeps doing so.
#
#   BRIDGE      name of the bridge
#   BRIDGE_MAC  its address; the datapath id is made of it
#   DATAPATH    system: the kernel's module openvswitch, which the host must have loaded; netdev: userspace, /dev/net/tun
#   CONTROLLER  tcp:HOST:PORT; the host's name is looked up here
#   UPLINKS     "PORT=PREFIX ...": the interface whose address begins with PREFIX becomes the bridge's port PORT. Its
#               address goes: the bridge's own addresses exist in flows only.
#   MACHINES    "PORT=OFPORT ...": containers that are to be plugged in, see attach.sh
set -euo pipefail
: "${BRIDGE:?}" "${CONTROLLER:?}"
datapath=${DATAPATH:-system}

say() { echo "node: $*"; }

stop() {
  trap - EXIT TERM INT
  say "stopping"
  ovs-appctl --timeout=5 -t ovs-vswitchd exit --cleanup || true
  ovs-appctl --timeout=5 -t ovsdb-server exit || true
  exit "${1:-0}"
}

if [ "$datapath" = system ] && [ ! -d /sys/module/openvswitch ]; then
  modprobe openvswitch 2>/dev/null ||
    { say "the host's kernel has no module openvswitch loaded: modprobe openvswitch, or DATAPATH=netdev"; exit 1; }
fi

# A container that is started again finds its old files, of processes that are gone.
mkdir -p /var/run/openvswitch /var/log/openvswitch /etc/openvswitch
rm -f /var/run/openvswitch/*.pid /var/run/openvswitch/*.ctl /var/run/openvswitch/db.sock
# Ports come and go with the containers: what the last run knew of them is of no use.
rm -f /etc/openvswitch/conf.db
ovsdb-tool create /etc/openvswitch/conf.db /usr/share/openvswitch/vswitch.ovsschema
ovsdb-server /etc/openvswitch/conf.db --remote=punix:/var/run/openvswitch/db.sock \
  --pidfile --detach --no-chdir --log-file -vconsole:off
trap 'stop 1' EXIT
trap 'stop 0' TERM INT
ovs-vsctl --no-wait init
ovs-vswitchd unix:/var/run/openvswitch/db.sock --pidfile --detach --no-chdir --log-file -vconsole:off

bridge=(datapath_type="$datapath" fail_mode=secure protocols=OpenFlow13 other-config:disable-in-band=true)
[ -z "${BRIDGE_MAC:-}" ] || bridge+=("other-config:hwaddr=\"$BRIDGE_MAC\"")
ovs-vsctl --timeout=20 --may-exist add-br "$BRIDGE" -- set bridge "$BRIDGE" "${bridge[@]}"
ip link set "$BRIDGE" up

# Docker numbers interfaces as it likes; what tells them apart is the address it has given them.
ofport=1
for uplink in ${UPLINKS:-}; do
  port=${uplink%%=*} prefix=${uplink#*=}
  link=$(ip -4 -o addr show | awk -v prefix="$prefix" 'index($4, prefix) == 1 { print $2; exit }')
  if [ -z "$link" ]; then say "no interface has an address that begins with $prefix, for port $port"; exit 1; fi
  ip addr flush dev "$link"
  ip link set "$link" down
  ip link set "$link" name "$port"
  ip link set "$port" up
  ovs-vsctl --timeout=20 add-port "$BRIDGE" "$port" -- set interface "$port" "ofport_request=$ofport"
  ofport=$((ofport + 1))
  say "port $port is the interface with $prefix"
done

# Open vSwitch wants an address. The first set-controller of a bridge removes its flows; there are none yet.
host=${CONTROLLER#*:} host=${host%:*}
until address=$(getent ahostsv4 "$host" | awk '{ print $1; exit }') && [ -n "$address" ]; do
  say "waiting for the name $host"
  sleep 1
done
ovs-vsctl --timeout=20 set-controller "$BRIDGE" "${CONTROLLER%%:*}:$address:${CONTROLLER##*:}" \
  -- set controller "$BRIDGE" connection_mode=out-of-band max_backoff=1000
say "bridge $BRIDGE ($datapath) asks for its controller at $address"

# In the background, so that a signal is seen at once.
while :; do
  attach.sh || true
  pidof ovs-vswitchd >/dev/null || { say "ovs-vswitchd has ended"; exit 1; }
  sleep 2 &
  wait $! || true
done
