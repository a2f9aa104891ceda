/** Time limits are multiplied by this on machines that are slow (emulated ones, for instance): OFLB_SLOW, 1 or more. */
export function slowness(): number {
  const factor = Number(process.env["OFLB_SLOW"] ?? "1");
  return Number.isFinite(factor) && factor >= 1 ? factor : 1;
}
