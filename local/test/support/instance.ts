import { inject } from "vitest";
import { rootAws } from "../../cli/aws.ts";
import { findInstance } from "../../instance/index.ts";

/** The tests' instance; it runs. */
export const instance = await (async () => {
  const found = await findInstance(inject("dir"));
  if (found === undefined) throw new Error(`no instance runs in ${inject("dir")}`);
  return found;
})();

/** AWS clients as the account's root: for what a test needs and no identity of the fleet may do. */
export const account = await rootAws(instance);
