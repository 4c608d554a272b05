import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { newSpoke, type SpokeRequest } from "../../../cli/spoke/folder.ts";
import { UsageError } from "../../../cli/usage.ts";
import { inNewCases } from "./cases.ts";

/** A checkout of gitops-system for each test of a file, and what `fleet new-cluster` is asked to make in it. */
export async function inNewSpokeCases(prefix: string) {
  const cases = await inNewCases(prefix, "gitops-system");
  const { at } = cases;
  const request: SpokeRequest = { name: "blue", environment: "dev", tenant: "payments" };
  const made = (change: Partial<SpokeRequest> = {}) =>
    newSpoke(at.checkout, { ...request, ...change }, async () => at.fleet);
  const unreachable = () => Promise.reject(new Error("asked the fleet"));
  return {
    ...cases,
    request,
    made,
    make: async (change: Partial<SpokeRequest> = {}) => (await made(change)).folder,
    unreachable,
    /** The message with which the request is refused, before the fleet is asked. */
    refusal: (change: Partial<SpokeRequest>) =>
      newSpoke(at.checkout, { ...request, ...change }, unreachable).then(
        () => expect.fail("it was not refused"),
        (error: unknown) => {
          expect(error).toBeInstanceOf(UsageError);
          return (error as Error).message;
        },
      ),
    spokes: () => readdirSync(join(at.checkout, "spokes", "fleet")).sort(),
  };
}
