import { ownerOf } from "../sealing/deploy-key-notes.ts";
import { generationsOf } from "../sealing/generations.ts";
import { deployRows } from "../sealing/keys.ts";
import { sealedIn } from "../sealing/sealed-secrets.ts";
import type { Key } from "./model.ts";

/** How old keys are. */

/** The sealing keys in the outputs of the hub's stack. */
export const sealingKeys = (outputs: unknown): Key[] =>
  generationsOf(outputs).map(({ scope, generation, isActive, made, expires }) => ({
    ...{ name: `sealing key of ${scope}, generation ${generation}`, scope },
    ...{ made: made.toISOString(), ends: expires.toISOString(), use: isActive ? "seals" : "only opens" },
  }));

/** The deploy keys that SealedSecrets in checkouts note with the day of their making. */
export const deployKeys = (checkouts: readonly string[]): Key[] =>
  deployRows(sealedIn(checkouts)).flatMap(({ publicKey, made, fingerprint, state }) => {
    const time = Date.parse(made ?? "");
    // Who writes annotations by hand may write anything.
    if (Number.isNaN(time)) return [];
    return [
      {
        ...{ name: `deploy key of ${ownerOf(publicKey) || fingerprint}`, scope: undefined },
        ...{ made: new Date(time).toISOString(), ends: undefined, use: state },
      },
    ];
  });
