import { basename } from "node:path";
import { z } from "zod";
import type { Webhook } from "../git/index.ts";
import { receiverTypes } from "../product.ts";
import { type Kubectl, objects } from "./flux.ts";

/** What a Git host is told of the Receivers on a cluster, as a person reads it there. */

const RECEIVERS = "receivers.notification.toolkit.fluxcd.io";
/** A cluster that does not answer holds nobody up. */
const PATIENCE = "--request-timeout=15s";

const labels = z.record(z.string(), z.string());
const receiverSchema = z.object({
  metadata: z.object({ namespace: z.string() }),
  spec: z.object({
    type: z.enum(receiverTypes),
    secretRef: z.object({ name: z.string() }),
    resources: z.array(z.object({ kind: z.string(), name: z.string(), matchLabels: labels.optional() })),
  }),
  status: z.object({ webhookPath: z.string().optional() }).optional(),
});
const sourceSchema = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string(), labels: labels.optional() }),
  spec: z.object({ url: z.url() }),
});

type Receiver = z.infer<typeof receiverSchema>;
type Source = z.infer<typeof sourceSchema>;

/** Whether a Receiver tells a GitRepository: one of its namespace, by name, or any with the labels. */
const tells = ({ metadata, spec }: Receiver, source: Source): boolean =>
  metadata.namespace === source.metadata.namespace &&
  spec.resources.some(
    ({ kind, name, matchLabels = {} }) =>
      kind === "GitRepository" &&
      (name === "*"
        ? Object.entries(matchLabels).every(([key, value]) => source.metadata.labels?.[key] === value)
        : name === source.metadata.name),
  );

const repositoryOf = ({ spec }: Source): string => basename(new URL(spec.url).pathname, ".git");

/**
 * The webhooks for the Receivers of a cluster, one for each repository that they tell of. Without a path yet, a Receiver takes no call.
 * @param url of a Receiver with this path
 */
export async function webhooksOn(kubectl: Kubectl, url: (path: string) => string): Promise<Webhook[]> {
  const everywhere = ["--all-namespaces", PATIENCE];
  const receivers = z.array(receiverSchema).parse(await objects(kubectl, [RECEIVERS], everywhere));
  if (receivers.length === 0) return [];
  const kinds = ["gitrepositories.source.toolkit.fluxcd.io"];
  const sources = z.array(sourceSchema).parse(await objects(kubectl, kinds, everywhere));
  const webhooks: Webhook[] = [];
  for (const receiver of receivers) {
    const { metadata, spec, status } = receiver;
    if (status?.webhookPath === undefined) continue;
    const where = ["--namespace", metadata.namespace, PATIENCE];
    const token = await kubectl(["get", "secret", spec.secretRef.name, ...where, "--output", "jsonpath={.data.token}"]);
    const secret = Buffer.from(token, "base64").toString();
    const repositories = new Set(sources.filter((source) => tells(receiver, source)).map(repositoryOf));
    for (const repository of repositories)
      webhooks.push({ repository, url: url(status.webhookPath), type: spec.type, secret });
  }
  return webhooks;
}
