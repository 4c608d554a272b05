import { sourcesLabel } from "../../lib/labels.ts";
import { receiverEvents } from "../../lib/receivers.ts";
import type { Spoke } from "./api.ts";
import { labelled, patchOf } from "./patches.ts";

/** Component of spoke-bootstrap/sync that has a push to the spoke's repositories count at once. */
const component = "receiver";

/**
 * Patches of the chain for a spoke whose Git host calls it; none for others. The Receiver is not among the spoke's secrets, as its token
 * is: they come before Flux, and are removed beside it, which would leave nobody to take the Receiver's finalizer away.
 */
export function receiverPatches({ spec: { gitReceiver: type } }: Spoke): object[] {
  if (type === undefined) return [];
  const variables = { git_receiver: type, git_receiver_events: JSON.stringify(receiverEvents[type]) };
  return [
    patchOf(
      labelled(sourcesLabel),
      { op: "add", path: "/spec/components", value: [component] },
      // A ring or a stage that is rolled back may have a chain of before: its spokes look by themselves then.
      { op: "add", path: "/spec/ignoreMissingComponents", value: true },
      { op: "add", path: "/spec/postBuild/substitute", value: variables },
    ),
  ];
}
