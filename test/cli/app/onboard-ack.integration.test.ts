import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { onboardApp } from "../../../cli/app/folder.ts";
import type { AppRequest } from "../../../cli/app/rules.ts";
import { build, files, type Manifest } from "../../repos/support/kustomize.ts";
import { request } from "../support/apps.ts";
import { inNewCases } from "../support/cases.ts";

const { at } = await inNewCases("fleet-onboard-ack-", "gitops-workloads");

const onboard = (more: Partial<AppRequest> = {}) =>
  onboardApp(at.checkout, { ...request, awsEngine: "ack", ...more }, async () => at.fleet);

describe("fleet onboard for ACK's kinds", () => {
  test("adds a component to the application's folder, complete by itself", async () => {
    const { folder } = await onboard();
    expect(parse(readFileSync(join(folder, "kustomization.yaml"), "utf8")).components).toEqual(["ack"]);
    for (const file of files(folder)) expect(readFileSync(file, "utf8"), file).not.toMatch(/__[a-zA-Z]+__/);
  });

  // An application of this name has an IAM role of this name, too.
  test.for(["payment-app", "deployer"])(
    "lets the team's Flux order tables and queues for %s, and no other kind of ACK",
    async (app) => {
      const objects = async (awsEngine?: string) => build((await onboard({ app, awsEngine })).folder);
      const roleIn = (found: readonly Manifest[]): Manifest => {
        const role = found.find(({ apiVersion, kind }) => kind === "Role" && apiVersion.startsWith("rbac."));
        return role ?? expect.fail("it has no Role");
      };
      const byAck = await objects("ack");
      rmSync(join(at.checkout, "clusters"), { recursive: true });
      const byCrossplane = await objects();
      const verbs = ["get", "list", "watch", "create", "update", "patch", "delete"];
      expect(roleIn(byAck)["rules"]).toEqual([
        ...roleIn(byCrossplane)["rules"],
        { apiGroups: ["dynamodb.services.k8s.aws"], resources: ["tables"], verbs },
        { apiGroups: ["sqs.services.k8s.aws"], resources: ["queues"], verbs },
      ]);
      const rest = (found: readonly Manifest[]) =>
        found.filter((object) => object !== roleIn(found) && !["Kustomization", "SealedSecret"].includes(object.kind));
      expect(rest(byAck)).toEqual(rest(byCrossplane));
    },
  );

  test("calls the application ready when ACK says so, beside what Crossplane makes", async () => {
    const { folder } = await onboard();
    const sync = build(folder).find(
      ({ kind, metadata }) => kind === "Kustomization" && metadata.name === "payment-app",
    );
    const kinds = sync?.spec.healthCheckExprs.map(
      ({ apiVersion, kind }: Record<string, string>) => `${apiVersion} ${kind}`,
    );
    expect(kinds).toEqual(
      expect.arrayContaining([
        "dynamodb.aws.m.upbound.io/v1beta1 Table",
        "dynamodb.services.k8s.aws/v1alpha1 Table",
        "sqs.services.k8s.aws/v1alpha1 Queue",
      ]),
    );
  });

  test("leaves an application by Crossplane's kinds as it is", async () => {
    const { files: without } = await onboard({ awsEngine: undefined });
    expect(Object.keys(without).filter((file) => file.startsWith("ack"))).toEqual([]);
    expect(parse(without["kustomization.yaml"] ?? "").components).toBeUndefined();
  });
});
