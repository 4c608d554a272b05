import { creationFailed, lookAgainAnnotation } from "../product.ts";
import { annotateAll, type Kubectl } from "./flux.ts";
import type { Spoke } from "./spokes.ts";

/** For how long a failure must last after Crossplane was made to look again (milliseconds): somebody might have repaired it. */
const LASTING_MS = 10_000;

/** What AWS failed to create for a spoke, and doesn't retry, with what to do; undefined if there is none. */
export const givenUp = ({ status }: Spoke): string | undefined =>
  status?.conditions?.find(({ status, message = "" }) => status === "False" && creationFailed.test(message))?.message;

/** Returns a check to repeat while a spoke isn't Ready. It rejects once the spoke has reported for a while what AWS failed to create. */
export function failureCheck(kubectl: Kubectl, now = Date.now): (spoke: Spoke) => Promise<void> {
  let since: number | undefined;
  return async (spoke) => {
    const failure = givenUp(spoke);
    if (failure === undefined) {
      since = undefined;
    } else if (since === undefined) {
      since = now();
      const annotation = `${lookAgainAnnotation}=${new Date(since).toISOString()}`;
      await annotateAll(kubectl, "nodegroups.eks.aws.m.upbound.io", annotation);
    } else if (now() - since >= LASTING_MS) {
      throw new Error(`spoke ${spoke.metadata.name} can't become Ready automatically: ${failure}`);
    }
  };
}
