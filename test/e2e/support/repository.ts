import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { bareRepository } from "@eks-gitops-fleet/local/git";
import { type Checkout, checkoutOf } from "../../support/checkout.ts";
import { instance, scratch } from "./fleet.ts";

export type { Checkout, Editable } from "../../support/checkout.ts";

/** A person's checkout of a repository on the instance's Git server. */
export const checkout = (repository: string): Promise<Checkout> =>
  checkoutOf(bareRepository(instance, repository), join(mkdtempSync(join(scratch, "checkout-")), repository));
