#!/bin/bash
# Plugs machines (containers) into the bridge, as a hypervisor would: for each "PORT=OFPORT" of MACHINES that has no
# port, a veth pair from here to the network namespace of the process that has HPNN_PORT=PORT in its environment. The
# process gives its eth0 an address itself. Needs the host's process ids (pid: host) and CAP_SYS_ADMIN.
set -euo pipefail

# Prints the id of a process that has the variable in its environment.
process_with() {
  local environment pid
  for environment in /proc/[0-9]*/environ; do
    pid=${environment%/environ}
    if tr '\0' '\n' 2>/dev/null <"$environment" | grep -qx "HPNN_PORT=$1"; then
      echo "${pid#/proc/}"
      return
    fi
  done
}

for machine in ${MACHINES:-}; do
  port=${machine%%=*}
  # The machine's end of the pair goes with its container, and this end with it.
  [ ! -e "/sys/class/net/$port" ] || continue
  pid=$(process_with "$port")
  [ -n "$pid" ] || continue
  ovs-vsctl --timeout=10 --if-exists del-port "$BRIDGE" "$port"
  ip link add "$port" type veth peer name eth0 netns "$pid" || continue
  ip link set "$port" up
  ovs-vsctl --timeout=10 add-port "$BRIDGE" "$port" -- set interface "$port" "ofport_request=${machine#*=}"
  echo "node: port $port leads to process $pid"
done
