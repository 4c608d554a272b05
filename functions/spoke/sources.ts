import { sourcesLabel } from "../../lib/labels.ts";
import { receiverEvents } from "../../lib/receivers.ts";
import { verification } from "../../lib/signers.ts";
import type { Spoke } from "./api.ts";
import type { Hub } from "./hub.ts";
import { labelled, patchOf } from "./patches.ts";
import { readAtOnce } from "./rollout.ts";

/** Component of spoke-bootstrap/sync that has a push to the spoke's repositories count at once. */
const receiverComponent = "receiver";

/** Component of spoke-bootstrap/sync with the public keys of those whose commits the spoke applies. */
const signersComponent = "signers";

/** What the Receiver of a spoke whose Git host calls it is made of. */
function receiverVariables({ spec: { gitReceiver: type } }: Spoke): Readonly<Record<string, string>> | undefined {
  return type && { git_receiver: type, git_receiver_events: JSON.stringify(receiverEvents[type]) };
}

/** Patches of the spoke's GitRepositories whose commits are verified. */
function verified({ signers }: Hub): object[] {
  const all = { "gitops-system": signers.gitopsSystem, "gitops-workloads": signers.gitopsWorkloads };
  const value = (name: string) => ({ op: "add", path: "/spec/verify", value: verification(name) });
  return Object.entries(all).flatMap(([name, keys]) =>
    Object.keys(keys).length === 0 ? [] : [patchOf({ kind: "GitRepository", name }, value(name))],
  );
}

/**
 * Patches of the step of the chain that brings a spoke its sources. The Receiver is not among the spoke's secrets, as its token is: they come
 * before Flux, and are removed beside it, which would leave nobody to take the Receiver's finalizer away.
 * @param revision the revision of its ring that a spoke is brought (`rollout.ts`)
 */
export function sourcesPatches(spoke: Spoke, hub: Hub, revision: string | undefined): object[] {
  const variables = receiverVariables(spoke);
  const verify = verified(hub);
  const components = [
    ...(variables === undefined ? [] : [receiverComponent]),
    ...(verify.length === 0 ? [] : [signersComponent]),
  ];
  const patches = [...(revision === undefined ? [] : [readAtOnce(revision)]), ...verify];
  const operations = [
    ...(components.length === 0 ? [] : [{ op: "add", path: "/spec/components", value: components }]),
    ...(variables === undefined ? [] : [{ op: "add", path: "/spec/postBuild/substitute", value: variables }]),
    ...(patches.length === 0 ? [] : [{ op: "add", path: "/spec/patches", value: patches }]),
  ];
  return operations.length === 0 ? [] : [patchOf(labelled(sourcesLabel), ...operations)];
}
