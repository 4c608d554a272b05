import { randomBytes } from "node:crypto";
import { watchLabel } from "../../lib/labels.ts";
import type { Problem } from "../../lib/problems.ts";
import { type ReceiverType, receiverName, receiverTypes } from "../../lib/receivers.ts";
import { choiceProblems } from "../usage.ts";
import { type SealingKey, seal } from "./seal.ts";

/** What a cluster needs so that its Git host can tell it of pushes. */

/** The flag that asks for it. */
export const receiverFlag = "--git-receiver";

export const receiverProblems = (type: string | undefined, key = receiverFlag): Problem[] =>
  type === undefined ? [] : choiceProblems(key, type, receiverTypes, "choose how the Git host signs its calls");

/** The SealedSecret of a Receiver's new token, which nobody sees before the cluster opens it. */
export const sealReceiverToken = (kubeseal: string, key: SealingKey, namespace: string): Promise<string> =>
  seal(kubeseal, key, {
    ...{ namespace, name: receiverName },
    // notification-controller takes a new token at once.
    labels: watchLabel,
    data: { token: randomBytes(32).toString("hex") },
  });

/** What a person enters at the Git host once the Receiver runs, and where the cluster shows it. */
export function webhookHelp(type: ReceiverType, namespace: string, repositories: readonly string[]): string {
  const read = (what: string) => `kubectl --context <cluster> -n ${namespace} get ${what}`;
  const secret = `secret: ${read(`secret ${receiverName} -o jsonpath='{.data.token}' | base64 -d`)}`;
  return `Once it runs, let its Service webhook-receiver in flux-system take calls (docs/guides/git-access.md#webhooks), and add a webhook of type
${type} for pushes at ${repositories.join(" and ")}:
   path:   ${read(`receiver ${receiverName} -o jsonpath='{.status.webhookPath}'`)}
   ${type === "generic" ? "secret: none, the path stands for it" : secret}
Where a webhook is registered already, both are the former ones for some time after the push: wait until the path differs from the registered
one. Then test the webhook: the answer is 200.
`;
}
