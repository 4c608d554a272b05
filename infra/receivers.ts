import type * as pulumi from "@pulumi/pulumi";
import type { GitReceiverArgs } from "../components/git-receiver.ts";
import { ReceiverToken, type ReceiverTokenArgs } from "../components/receiver-token.ts";
import type { SecretStore } from "../components/secret-store.ts";
import { fleetNames, namespaces } from "../lib/names.ts";
import { type ReceiverType, receiverName, webhookPath } from "../lib/receivers.ts";
import type { Settings } from "./settings.ts";

/** The calls with which the Git host tells the fleet of a push. */

/** The hub's token; undefined where nothing calls it. */
export function hubReceiverToken(
  { fleet, gitReceiver, gitReceiverGeneration: generation }: Settings,
  secret: Omit<ReceiverTokenArgs, "secretName" | "generation">,
): ReceiverToken | undefined {
  if (gitReceiver === "none") return undefined;
  const args = { ...secret, secretName: fleetNames(fleet).hubReceiverSecret, generation };
  // A new generation replaces it, which protection would refuse; nothing is lost with a token.
  return new ReceiverToken("hub-receiver", args, { protect: false });
}

/** The hub's Receiver; undefined where nothing calls it. */
export function hubReceiver(
  { gitReceiver: type, gitReceiverGeneration: generation, gitReceiverCidrs: cidrs }: Settings,
  token: ReceiverToken | undefined,
  store: SecretStore,
): GitReceiverArgs | undefined {
  if (type === "none" || token === undefined) return undefined;
  return { type, generation, cidrs, storeName: store.storeName, remoteSecret: token.secretName };
}

/** What to enter at a Git host. */
interface Webhook {
  readonly type: ReceiverType;
  /** Path of the URL. It stands for the token where calls are not signed, so it is a secret too. */
  readonly path: string;
  /** The token. */
  readonly secret: string;
}

/** By cluster, what to enter at the Git host of gitops-system; a secret. */
export function webhooks(
  { gitReceiver: type }: Settings,
  token: ReceiverToken | undefined,
): Record<string, pulumi.Output<Webhook>> {
  if (type === "none" || token === undefined) return {};
  const place = { name: receiverName, namespace: namespaces.flux };
  return { hub: token.token.apply((secret) => ({ type, path: webhookPath(secret, place), secret })) };
}

/** How often Flux looks for commits by itself: seldom, where it is told of each. */
export const gitInterval = ({ gitInterval: given, gitReceiver }: Settings): string =>
  given || (gitReceiver === "none" ? "1m" : "10m");
