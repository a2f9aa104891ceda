/** OpenFlow's reserved ports (OF1.3.5 §7.2.1) that flows name. */

/** Back out of the port the packet came in by; naming that port's number would be skipped. */
export const IN_PORT = 0xffff_fff8;

/** No port: what a bucket that watches nothing says (OFPP_ANY, OFPG_ANY). */
export const ANY = 0xffff_ffff;

/** Whether a port number stands for something else than a port of the switch (OFPP_MAX and above). */
export const isReservedPort = (port: number): boolean => port >= 0xffff_ff00;
