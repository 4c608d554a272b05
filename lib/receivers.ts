import { createHash } from "node:crypto";

/**
 * Receivers of Flux: a Git host calls one after a push, and Flux reads its sources at once (notification-controller 1.9,
 * docs/spec/v1/receivers.md).
 */

/** Types by which Git hosts sign; gitea and forgejo sign like github. */
export const receiverTypes = ["github", "gitlab", "generic-hmac", "generic"] as const;
export type ReceiverType = (typeof receiverTypes)[number];

/** Events that count, by type: pushes, and the call with which GitHub tries a new webhook. Generic calls name no event. */
export const receiverEvents: Readonly<Record<ReceiverType, readonly string[]>> = {
  github: ["ping", "push"],
  gitlab: ["Push Hook"],
  "generic-hmac": [],
  generic: [],
};

/** Port of notification-controller that takes the calls (its flag --receiverAddr). */
export const receiverPort = 9292;

/** Name of the fleet's own Receivers, and of the Secrets with their tokens. */
export const receiverName = "git-receiver";

/** Path of a Receiver's URL: `status.webhookPath` (`GetWebhookPath` in notification-controller 1.9, api/v1/receiver_types.go). */
export const webhookPath = (
  token: string,
  { name, namespace }: { readonly name: string; readonly namespace: string },
) => `/hook/${createHash("sha256").update(`${token}${name}${namespace}`).digest("hex")}`;
