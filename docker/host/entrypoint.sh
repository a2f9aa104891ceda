#!/bin/bash
# What a machine's operating system would do: waits for its network card, gives it address and routes, and serves.
#
#   HPNN_PORT  name of the bridge's port; the node finds this container by it
#   ADDRESS    with prefix length
#   ROUTES     "PREFIX=GATEWAY ..."; none for a client that only talks to its own segment
#   MAC        of the network card; any without it
#   SERVE      name to answer with on port 8080; without it nothing is served
set -euo pipefail
: "${HPNN_PORT:?}" "${ADDRESS:?}"
trap 'exit 0' TERM INT

configure() {
  ip link set lo up
  # Frames go to the bridge as they would on a wire: with checksums, no larger than the MTU.
  ethtool -K eth0 tx off tso off gso off >/dev/null
  [ -z "${MAC:-}" ] || ip link set eth0 address "$MAC"
  ip addr replace "$ADDRESS" dev eth0
  ip link set eth0 up
  for route in ${ROUTES:-}; do ip route replace "${route%%=*}" via "${route#*=}"; done
  echo "host: $HPNN_PORT has $ADDRESS"
}

[ -z "${SERVE:-}" ] || node /opt/backend.mjs "$SERVE" 8080 &
# The card comes from outside, and anew when the node is started again.
while :; do
  if [ -e /sys/class/net/eth0 ] && [ -z "$(ip -4 addr show dev eth0)" ]; then configure || true; fi
  sleep 1 &
  wait $! || true
done
