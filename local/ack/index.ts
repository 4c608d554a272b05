/** The stand-in for ACK's controllers: its definitions and charts. */
export { chartFiles } from "./chart.ts";
export { ackDefinitions } from "./definitions.ts";
export { readSettings } from "./settings.ts";
