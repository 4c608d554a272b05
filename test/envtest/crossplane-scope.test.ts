import { join } from "node:path";
import { familyCrds } from "@eks-gitops-fleet/local/crossplane";
import { type ControlPlane, startControlPlane } from "@eks-gitops-fleet/local/test";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { build } from "../repos/support/kustomize.ts";
import { system } from "../repos/support/spoke.ts";
import { asked } from "./support/admission-cluster.ts";
import type { Cases } from "./support/admission-request.ts";
import {
  crossplaneScope,
  labelledNamespace,
  providerConfigs,
  removedByCrossplane,
  tokenRefused,
  tokenRequest,
} from "./support/crossplane-scope.ts";
import { kubectlOf } from "./support/kubectl.ts";

/** The admission of what Crossplane's pods write on the hub and on spokes. What RBAC permits them: crossplane-rights.test.ts. */

const policy = "crossplane.fleet.internal";
const configPolicy = "provider-configs.fleet.internal";
const place = "crossplane-system";
const account = (name: string) => `system:serviceaccount:${place}:${name}`;

let plane: ControlPlane;
let client: ReturnType<typeof kubectlOf>;

const asMaster = (by: string) => [`--as=${by}`, "--as-group=system:masters"];

beforeAll(async () => {
  const toolchain = await ensureToolchain();
  plane = await startControlPlane(toolchain);
  client = kubectlOf(toolchain, plane);
  const namespaces = ["flux-system", "spokes", place].map((name) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name },
  }));
  client.define([...familyCrds]);
  client.apply([...namespaces, labelledNamespace, ...build(join(system, "platform", "crossplane", "policies"))]);
  const rejected = (cases: Cases) =>
    cases.find((each) => each.refused !== undefined && !each.from === (cases === crossplaneScope));
  for (const [name, cases] of [
    [policy, crossplaneScope],
    [configPolicy, providerConfigs],
  ] as const) {
    const refused = rejected(cases);
    if (refused === undefined) throw new Error("no case is rejected");
    await vi.waitUntil(() => asked(client, refused).text.includes(name), { timeout: 60_000, interval: 500 });
  }
});
afterAll(async () => {
  await plane?.stop();
});

describe("the admission of what Crossplane's pods write", () => {
  test.for(
    [...crossplaneScope, ...providerConfigs].map(
      (each) => [each.refused ? "rejects" : "admits", each.title, each] as const,
    ),
  )("%s %s", ([, , each]) => {
    const { ok, text } = asked(client, each);
    expect(ok, text).toBe(each.refused === undefined);
    expect(text.replaceAll(/\s+/g, " ")).toContain(each.refused ?? "");
  });

  test.for(removedByCrossplane.map((each) => [each.refused ? "rejects" : "admits", each.title, each] as const))(
    "%s %s",
    ([, , { object, by = "", refused }]) => {
      expect(client.run(["create", "--filename", "-"], object)).toMatchObject({ ok: true });
      const { ok, text } = client.run(["delete", "--dry-run=server", ...asMaster(by), "--filename", "-"], object);
      expect(client.run(["delete", "--filename", "-"], object)).toMatchObject({ ok: true });
      expect(ok, text).toBe(refused === undefined);
      expect(text.replaceAll(/\s+/g, " ")).toContain(refused ?? "");
    },
  );

  test.for(["flux-system", place])("rejects a token of a service account in %s", (namespace) => {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`;
    const request = { ...tokenRequest, metadata: { name: "default", namespace } };
    const create = (by: string) => client.run(["create", "--raw", path, ...asMaster(by), "--filename", "-"], request);
    for (const name of ["crossplane", "provider-aws-iam"]) {
      const { ok, text } = create(account(name));
      expect(ok, text).toBe(false);
      expect(text).toContain(tokenRefused);
    }
    expect(create("system:serviceaccount:kube-system:anybody")).toMatchObject({ ok: true });
  });

  test.for([policy, configPolicy])("is by expressions that fit the kinds: %s", async (name) => {
    const status = () => JSON.parse(client.run(["get", "validatingadmissionpolicy", name, "-o", "json"]).text).status;
    await expect.poll(status, { timeout: 60_000 }).toMatchObject({ observedGeneration: 1 });
    expect(status().typeChecking?.expressionWarnings ?? []).toEqual([]);
  });
});
