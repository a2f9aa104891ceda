import type { LoadBalancerRow, MemberRow } from "../../../controller/store/rows.ts";

const common = {
  number: 1,
  admin_state_up: true,
  project_id: "p",
  created_at: "2026-01-01T00:00:00.000",
  updated_at: null,
};

/** A member row as the API would write it. */
export const memberRow = (id: string, pool = "pool", more: Partial<MemberRow> = {}): MemberRow => ({
  ...common,
  id,
  name: id,
  tags: [],
  pool_id: pool,
  address: "192.0.2.1",
  protocol_port: 80,
  weight: 1,
  backup: false,
  subnet_id: null,
  monitor_address: null,
  monitor_port: null,
  drain: false,
  ...more,
});

export const loadBalancerRow = (id: string): LoadBalancerRow => ({
  ...common,
  id,
  name: id,
  tags: [],
  description: "",
  vip_address: "192.0.2.10",
  vip_subnet_id: "s",
  vip_network_id: null,
  vip_port_id: "port",
  additional_vips: [],
});
