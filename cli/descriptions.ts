import type { Description } from "./commands.ts";
import generated from "./descriptions.json" with { type: "json" };

/** What is known of every command without loading it: `npm run generate` takes it over from the commands. */
export const descriptions = generated as Readonly<Record<string, unknown>> as Readonly<Record<string, Description>>;
