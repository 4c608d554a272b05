import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { instantiate, withListed } from "../../../cli/folder.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { repos } from "../../repos/support/spoke.ts";
import { application } from "../support/application-seeds.ts";
import { type Change, found, removeCopies, replaced, spoke, withChanges } from "../support/seeds.ts";

afterAll(removeCopies);

const app = "payment-app";
const folder = `gitops-workloads/clusters/blue/${app}`;

/** The application on the spoke blue, as fleet onboard --aws-engine ack makes it. */
async function byAck(): Promise<Change[]> {
  const template = await instantiate(join(repos, "gitops-workloads"), join("templates", "app-ack"), { app });
  const files = await application(app, "payments", { path: "./overlays/dev-ack" });
  return [
    ...files.map((change) =>
      change.file === `${folder}/kustomization.yaml`
        ? { ...change, to: withListed(change.to, "components", "ack") }
        : change,
    ),
    ...Object.entries(template).map(([name, to]) => ({ file: `${folder}/ack/${name}`, to })),
  ];
}

const blue = (...addons: string[]): Change[] => [
  ...spoke("blue", "10.64.0.0/18"),
  replaced("gitops-system/spokes/fleet/blue/spoke.yaml", "  network:", `  addons: [${addons.join(", ")}]\n  network:`),
];
const findings = (changes: readonly Change[]) =>
  withChanges(changes, (copy) => found(check({ repos: copy, build: buildText }), copy));

describe("fleet check, of an application that orders by ACK's kinds", () => {
  test("finds nothing wrong on a spoke with ACK's controllers", async () => {
    expect(findings([...blue("ack_dynamodb", "ack_sqs"), ...(await byAck())])).toEqual([]);
  });

  test("says that nothing installs the kinds on a spoke without one of them", async () => {
    expect(findings([...blue("ack_dynamodb"), ...(await byAck())])).toMatchObject([
      {
        rule: "definition-order",
        file: "payment-app-manifests/ack/queue.yaml",
        problem: "Queue events: nothing installs the kinds of sqs.services.k8s.aws on the cluster",
        clusters: ["blue"],
      },
    ]);
  });
});
