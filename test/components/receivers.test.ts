import { describe, expect, it } from "vitest";
import { GitReceiver, type GitReceiverArgs } from "../../components/git-receiver.ts";
import { ReceiverToken } from "../../components/receiver-token.ts";
import { type Registered, recorded } from "../support/program.ts";

const made = async (load: () => unknown) => (await recorded("test", async () => load())).resources;
const kinds = (resources: readonly Registered[]) =>
  Object.fromEntries(
    resources.filter(({ custom }) => custom).map(({ type, inputs }) => [type.split(":").at(-1), inputs]),
  );

describe("ReceiverToken", () => {
  const stored = (resources: readonly Registered[]) => resources.find(({ type }) => type.endsWith(":SecretVersion"));

  it("stores letters and digits alone, as a secret, and a new one with a new generation", async () => {
    const first = await made(() => new ReceiverToken("shop", { keyArn: "arn:key" }));
    expect(kinds(first)).toMatchObject({
      RandomPassword: { length: 48, special: false, keepers: { generation: "1" } },
      Secret: { name: "shop", kmsKeyId: "arn:key", recoveryWindowInDays: 30 },
    });
    expect(stored(first)).toMatchObject({ secrets: ["secretString"] });
    const second = await made(() => new ReceiverToken("shop", { keyArn: "arn:key", generation: "2" }));
    expect(stored(second)?.inputs["secretString"]).not.toBe(stored(first)?.inputs["secretString"]);
  });
});

describe("GitReceiver", () => {
  const receiver = async (change: Partial<GitReceiverArgs> = {}) =>
    kinds(
      await made(
        () => new GitReceiver("git", { type: "github", storeName: "store", remoteSecret: "shop/token", ...change }),
      ),
    );

  it("calls for every GitRepository of Flux's namespace with the label, and takes pushes only", async () => {
    const { Receiver } = await receiver();
    expect(Receiver).toMatchObject({
      metadata: { name: "git-receiver", namespace: "flux-system" },
      spec: {
        type: "github",
        events: ["ping", "push"],
        secretRef: { name: "git-receiver" },
        resources: [{ kind: "GitRepository", name: "*", matchLabels: { "fleet.internal/receiver": "git" } }],
      },
    });
    expect((await receiver({ type: "gitlab" }))["Receiver"]?.["spec"].events).toEqual(["Push Hook"]);
    // Calls without a name of an event would all be refused.
    expect((await receiver({ type: "generic-hmac" }))["Receiver"]?.["spec"]).not.toHaveProperty("events");
  });

  it("has the token delivered by External Secrets, under the label by which Flux takes a new one at once", async () => {
    const { ExternalSecret } = await receiver({ generation: "7" });
    expect(ExternalSecret).toMatchObject({
      metadata: { annotations: { "fleet.internal/generation": "7" } },
      spec: {
        secretStoreRef: { kind: "SecretStore", name: "store" },
        target: { template: { metadata: { labels: { "reconcile.fluxcd.io/watch": "Enabled" } } } },
        data: [{ secretKey: "token", remoteRef: { key: "shop/token", property: "token" } }],
      },
    });
  });

  it("admits pods only, or besides them the networks that it is given, to the port of the calls alone", async () => {
    expect(await receiver()).not.toHaveProperty("NetworkPolicy");
    const { NetworkPolicy } = await receiver({ cidrs: ["10.0.0.0/16", "192.0.2.0/24"] });
    expect(NetworkPolicy?.["spec"]).toEqual({
      podSelector: { matchLabels: { app: "notification-controller" } },
      policyTypes: ["Ingress"],
      ingress: [
        {
          from: [{ ipBlock: { cidr: "10.0.0.0/16" } }, { ipBlock: { cidr: "192.0.2.0/24" } }],
          ports: [{ port: 9292, protocol: "TCP" }],
        },
      ],
    });
  });
});
