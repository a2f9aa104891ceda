/** `npm run bench -- --only slots`: how many slots move when one member changes. */
import { disturbance, disturbanceTable } from "./disturbance.ts";

console.log("slots of 1024 that had to move + others that moved; the worst of the members tried");
console.log(disturbanceTable(disturbance()));
