import { createHmac, randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { writeAtomic } from "../instance/index.ts";
import { receiverTypes } from "../product.ts";

/** Webhooks as Git hosts have them: what is called after a push, and how the call is signed. */

const schema = z.array(
  z.strictObject({
    repository: z.string().min(1),
    url: z.url({ protocol: /^https?$/ }),
    type: z.enum(receiverTypes),
    secret: z.string().min(1),
  }),
);

export type Webhook = z.infer<typeof schema>[number];

/** A branch or tag that a push changed. */
export interface Push {
  readonly repository: string;
  readonly before: string;
  readonly after: string;
  readonly ref: string;
}

/** GitHub waits so long for an answer ("Handling webhook deliveries"). */
const TIMEOUT_MS = 10_000;

/** The registered webhooks; none without a file. A wrong file throws with all that is wrong in it, but shows no value. */
export function readWebhooks(file: string): readonly Webhook[] {
  if (!existsSync(file)) return [];
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    throw new Error(`${file} is not JSON: run npm start, which writes it again`);
  }
  const read = schema.safeParse(content);
  if (read.success) return read.data;
  throw new Error(
    `${file} is not a list of webhooks:\n${z.prettifyError(read.error)}\nrun npm start, which writes it again`,
  );
}

/** Replaces the registered webhooks. Only the owner of the instance reads the file: it has their secrets. */
export const registerWebhooks = (file: string, webhooks: readonly Webhook[]): Promise<void> =>
  writeAtomic(file, `${JSON.stringify(webhooks, null, 2)}\n`, 0o600);

const hmac = (algorithm: "sha1" | "sha256", secret: string, body: string) =>
  `${algorithm}=${createHmac(algorithm, secret).update(body).digest("hex")}`;

/** The headers that name and sign a call, as each type has them. */
function headersOf({ type, secret }: Webhook, body: string): Record<string, string> {
  switch (type) {
    case "github": // "Webhook events and payloads", "Delivery headers"
      return {
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": randomUUID(),
        "X-Hub-Signature": hmac("sha1", secret, body),
        "X-Hub-Signature-256": hmac("sha256", secret, body),
      };
    case "gitlab": // "Webhooks", "Delivery headers"
      return { "X-Gitlab-Event": "Push Hook", "X-Gitlab-Token": secret };
    case "generic-hmac": // notification-controller, docs/spec/v1/receivers.md
      return { "X-Signature": hmac("sha256", secret, body) };
    case "generic":
      return {};
  }
}

/** The call for a push: what receivers read of a host's, and no more. */
export function callOf(webhook: Webhook, { repository, before, after, ref }: Push) {
  const named =
    webhook.type === "gitlab"
      ? { object_kind: "push", project: { name: repository } }
      : { repository: { name: repository } };
  const body = JSON.stringify({ ref, before, after, ...named });
  const headers = { "Content-Type": "application/json", "User-Agent": "fleet-git", ...headersOf(webhook, body) };
  return { method: "POST", headers, body };
}

/**
 * Calls the webhooks of a push, each once, as GitHub does (it delivers nothing again by itself). Never rejects: what came of it is logged,
 * without paths, which may stand for a secret.
 */
export async function callWebhooks(
  webhooks: readonly Webhook[],
  push: Push,
  log: (line: string) => void,
  timeout = TIMEOUT_MS,
): Promise<void> {
  const wanted = webhooks.filter(({ repository }) => repository === push.repository);
  await Promise.all(
    wanted.map(async (webhook) => {
      const what = `webhook ${push.repository} ${push.ref} -> ${new URL(webhook.url).host}`;
      try {
        const answer = await fetch(webhook.url, { ...callOf(webhook, push), signal: AbortSignal.timeout(timeout) });
        const text = (await answer.text()).trim().slice(0, 500);
        log(`${what}: status ${answer.status}${text === "" ? "" : `: ${text}`}`);
      } catch (error) {
        const { message, cause } = error as Error;
        log(`${what}: no answer: ${cause instanceof Error ? cause.message : message}`);
      }
    }),
  );
}
