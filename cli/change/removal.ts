import type { Problem } from "../../lib/problems.ts";
import type { Wish } from "./options.ts";

/** What commands that remove something from the fleet have in common. */

export const removalOptions = { yes: { type: "boolean", default: false } } as const;

export const removalHelp = `  --yes                  required, except with --dry-run: what is removed from AWS does not come back`;

/** The problem of a removal that nobody has confirmed; a question at the terminal would stop a script. */
export function confirmationProblems(wish: Wish & { readonly yes: boolean }, what: string): Problem[] {
  if (wish.yes || wish["dry-run"]) return [];
  return [
    {
      key: "--yes",
      what: `is missing: ${what} does not come back`,
      got: "(nothing)",
      allowed: "--yes, or --dry-run to see what would go",
      remedy: "look at it with --dry-run, then give --yes",
    },
  ];
}

/**
 * What AWS keeps of what applications ordered. Sources: Crossplane's documentation, "Managed resources" (managementPolicies); DynamoDB
 * Developer Guide, "Before you begin using point-in-time recovery".
 */
export const keptOfOrders = [
  "databases of RDS with all that is in them, except those whose manifests ask twice for their removal, of which a final snapshot is left",
  "buckets with all that is in them, except empty ones whose manifests ask twice for their removal (annotation fleet.internal/deletes)",
  "tables and queues whose manifests leave Delete out of managementPolicies: of all that is kept, nothing manages it afterwards",
  "of tables with point-in-time recovery a system backup, <table>$DeletedTableBackup, for 35 days",
] as const;

export const list = (items: readonly string[]): string => items.map((item) => `  - ${item}`).join("\n");
