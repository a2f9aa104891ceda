import { existsSync } from "node:fs";
import { describe } from "vitest";

const programs = ["ovs-vswitchd", "ovsdb-server", "ovs-vsctl", "ovs-ofctl", "ip", "ethtool", "tcpdump", "curl"];
const places = ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin"];

const canRun =
  process.getuid?.() === 0 &&
  process.env["OFLB_SKIP_OVS"] !== "1" &&
  programs.every((program) => places.some((place) => existsSync(`${place}/${program}`)));

/**
 * A group of tests on a real Open vSwitch. Skipped without root or without the programs, and with OFLB_SKIP_OVS=1;
 * in CI a skipped one is a failure.
 */
export const describeOvs = describe.skipIf(!canRun);
