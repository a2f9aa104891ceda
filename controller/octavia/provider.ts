/** What this provider is called and what it can do. */
import { Fault } from "./fault.ts";

export const providerName = "openflow";

export const providerDescription = "Open vSwitch, programmed over OpenFlow";

/**
 * Options of the API that need something special of the switch's program. A daemon lists those its program honours; any other
 * is refused, for an option that is accepted and ignored is worse than one that is not there.
 */
export const optionNames = [
  "SOURCE_IP",
  "LEAST_CONNECTIONS",
  "allowed_cidrs",
  "connection_limit",
  "timeout_client_data",
  "timeout_member_data",
  "timeout_member_connect",
  "timeout_tcp_inspect",
  "monitor_address",
  "monitor_port",
  "persistence_timeout",
  "persistence_granularity",
] as const;

export type OptionName = (typeof optionNames)[number];

/** A valid request for something this provider cannot do. */
export const unsupportedOption = (what: string): Fault =>
  new Fault(
    501,
    `Provider '${providerName}' does not support a requested option: ${providerName} provider does not support ${what}.`,
  );

export const unsupportedAction = (what: string): Fault =>
  new Fault(
    501,
    `Provider '${providerName}' does not support a requested action: ${providerName} provider does not support ${what}.`,
  );

/** @throws Fault when the program does not honour the option */
export const demand = (options: ReadonlySet<OptionName>, option: OptionName): void => {
  if (!options.has(option)) throw unsupportedOption(option);
};
