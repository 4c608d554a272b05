import { inventoryOf } from "../../support/inventory.ts";
import { fleetScope, spokeScope } from "../../support/inventory-scope.ts";
import { account } from "./fleet.ts";

/** Everything of the fleet in the emulated account, and every OIDC provider and customer managed key: nobody else is there. */
export const inventory = (fleet: string): Promise<string[]> => inventoryOf(account, fleetScope(fleet), true);

/** Everything of one spoke alone. */
export const spokeInventory = (fleet: string, spoke: string): Promise<string[]> =>
  inventoryOf(account, spokeScope(fleet, spoke));
