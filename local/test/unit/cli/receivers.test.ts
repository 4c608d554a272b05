import { expect, test } from "vitest";
import { webhooksOn } from "../../../cli/receivers.ts";

const label = { "fleet.internal/receiver": "git" };
const sourceOf = (namespace: string, name: string, labels?: Record<string, string>) => ({
  kind: "GitRepository",
  metadata: { namespace, name, ...(labels ? { labels } : {}) },
  spec: { url: `ssh://git@git.fleet.internal:2222/${name}-manifests.git` },
});
const receiverOf = (namespace: string, resource: object, webhookPath?: string) => ({
  kind: "Receiver",
  metadata: { namespace, name: "git-receiver" },
  spec: { type: "github", secretRef: { name: "git-receiver" }, resources: [{ kind: "GitRepository", ...resource }] },
  ...(webhookPath === undefined ? {} : { status: { webhookPath } }),
});

/** What kubectl says of a cluster; each namespace's token names it. */
const cluster = (receivers: readonly object[], sources: readonly object[]) => {
  const asked: string[] = [];
  return {
    asked,
    kubectl: async ([, kind = "", ...args]: readonly string[]) => {
      asked.push(kind);
      if (kind === "secret") return Buffer.from(`token of ${args[args.indexOf("--namespace") + 1]}`).toString("base64");
      return JSON.stringify({ items: kind.startsWith("receivers.") ? receivers : sources });
    },
  };
};
const url = (path: string) => `http://127.0.0.1/blue${path}`;
const all = { name: "*", matchLabels: label };

test("a Receiver is called for each repository that it tells of, by label or by name, in its own namespace", async () => {
  const { kubectl } = cluster(
    [receiverOf("flux-system", all, "/hook/a"), receiverOf("payments", { name: "app" }, "/hook/b")],
    [
      sourceOf("flux-system", "system", label),
      sourceOf("flux-system", "other"),
      sourceOf("payments", "app"),
      sourceOf("payments", "second", label),
    ],
  );
  expect(await webhooksOn(kubectl, url)).toEqual([
    { repository: "system-manifests", url: url("/hook/a"), type: "github", secret: "token of flux-system" },
    { repository: "app-manifests", url: url("/hook/b"), type: "github", secret: "token of payments" },
  ]);
});

test("a Receiver without a path takes no call, and its token is not asked for", async () => {
  const { asked, kubectl } = cluster([receiverOf("flux-system", all)], [sourceOf("flux-system", "system", label)]);
  expect(await webhooksOn(kubectl, url)).toEqual([]);
  expect(asked).not.toContain("secret");
});

test("a cluster without a Receiver is asked no more", async () => {
  const { asked, kubectl } = cluster([], []);
  expect(await webhooksOn(kubectl, url)).toEqual([]);
  expect(asked).toEqual(["receivers.notification.toolkit.fluxcd.io"]);
});
