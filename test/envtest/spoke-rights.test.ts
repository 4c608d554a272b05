import { type ControlPlane, startControlPlane } from "@eks-gitops-fleet/local/test";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hubGroups } from "../../lib/spoke.ts";
import type { Manifest } from "../repos/support/kustomize.ts";
import { render, withAddons } from "../repos/support/spoke.ts";
import { definitionsOf, kubectlOf, type Said } from "./support/kubectl.ts";

/** What Flux on the hub may do on a spoke once the chain has narrowed its rights, judged by a real API server without nodes. */

const spoke = render(withAddons("minimal", []));
const applied = spoke.steps.filter(({ spec }) => spec.kubeConfig).flatMap(({ metadata }) => spoke.by(metadata.name));
/** What kustomize-controller applies only where it is missing. */
const isLeftAlone = ({ metadata }: Manifest) =>
  metadata.annotations?.["kustomize.toolkit.fluxcd.io/ssa"] === "IfNotPresent";
/** As kustomize-controller sends it: with an empty creation timestamp, roles aside (fluxcd/pkg, ssa/normalize), which makes it a change. */
const asFlux = (object: Manifest) =>
  ["Role", "ClusterRole"].includes(object.kind)
    ? object
    : { ...object, metadata: { ...object.metadata, creationTimestamp: null } };
const found = (kind: string, name: string) => {
  const object = applied.find((each) => each.kind === kind && each.metadata.name === name);
  if (object === undefined) throw new Error(`the chain applies no ${kind} ${name}`);
  return object;
};

let plane: ControlPlane;
let client: ReturnType<typeof kubectlOf>;

const as = (group: string) => [`--as=hub`, `--as-group=${group}`, "--as-group=system:authenticated"];
const flux = (args: readonly string[], input?: object) =>
  client.run([...args, ...as(hubGroups.kustomize_controller)], input);
/** As kustomize-controller does: by server-side apply, first as a dry run. */
const apply = (object: object, ...flags: string[]) =>
  flux(["apply", "--server-side", "--field-manager=kustomize-controller", ...flags, "--filename", "-"], object);
const forbidden = (said: Said) => {
  expect(said.ok, said.text).toBe(false);
  expect(said.text).toMatch(/forbidden: [Uu]ser |is attempting to grant RBAC permissions/);
};

beforeAll(async () => {
  const toolchain = await ensureToolchain();
  plane = await startControlPlane(toolchain);
  client = kubectlOf(toolchain, plane);
  client.define([
    ...definitionsOf("github.com/fluxcd/kustomize-controller"),
    ...definitionsOf("github.com/fluxcd/source-controller"),
    ...definitionsOf("github.com/bitnami/sealed-secrets"),
    ...definitionsOf("github.com/external-secrets/external-secrets").filter(({ metadata }) =>
      ["externalsecrets.external-secrets.io", "secretstores.external-secrets.io"].includes(metadata?.name),
    ),
  ]);
  const isNamespace = ({ kind }: { kind: string }) => kind === "Namespace";
  client.apply(applied.filter(isNamespace));
  client.apply(applied.filter((object) => !isNamespace(object)));
});
afterAll(() => plane?.stop());

describe("kustomize-controller of the hub", () => {
  test("applies what the chain has, again and again, and reads it", () => {
    const items = applied.filter((object) => !isLeftAlone(object)).map(asFlux);
    const all = { apiVersion: "v1", kind: "List", items };
    expect(apply(all, "--dry-run=server", "--force-conflicts")).toMatchObject({ ok: true });
    expect(apply(all, "--force-conflicts")).toMatchObject({ ok: true });
    expect(flux(["get", "--filename", "-", "--output", "name"], all)).toMatchObject({ ok: true });
  });

  test("makes again what somebody removed", () => {
    const info = found("ConfigMap", "cluster-info");
    expect(client.run(["delete", "configmap", "cluster-info", "--namespace", "flux-system"])).toMatchObject({
      ok: true,
    });
    expect(apply(info)).toMatchObject({ ok: true });
  });

  test("applies another value, another generation of sealing keys and another sealed secret, without more rights", () => {
    const info = found("ConfigMap", "cluster-info");
    expect(apply({ ...info, data: { tenant: "others" } }, "--force-conflicts")).toMatchObject({ ok: true });
    for (const [kind, name] of [
      ["ExternalSecret", "sealing-key-1"],
      ["SealedSecret", "gitops-system"],
    ] as const) {
      const object = found(kind, name);
      expect(apply({ ...object, metadata: { ...object.metadata, name: "more" } })).toMatchObject({ ok: true });
    }
  });

  test.for([
    ["its own rights", "ClusterRole", { apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
    ["its own rights in a namespace", "Role", { apiGroups: [""], resources: ["secrets"], verbs: ["get"] }],
  ] as const)("does not widen %s", ([, kind, rule]) => {
    const role = found(kind, "hub-kustomize-controller.fleet.internal") as unknown as { rules: object[] };
    forbidden(apply({ ...role, rules: [...role.rules, rule] }, "--force-conflicts"));
  });

  test("does not take the rights that helm-controller has", () => {
    const role = found("RoleBinding", "hub-helm-controller.fleet.internal") as unknown as { subjects: object[] };
    const [subject] = role.subjects;
    const subjects = [...role.subjects, { ...subject, name: hubGroups.kustomize_controller }];
    forbidden(apply({ ...role, subjects }, "--force-conflicts"));
  });

  test.for([
    ["reads no Secret", ["get", "secrets", "--namespace", "sealed-secrets"]],
    ["reads no Secret by its name", ["get", "secret", "gitops-system", "--namespace", "flux-system"]],
    ["reads no Helm release", ["get", "secrets", "--namespace", "fleet-releases"]],
    ["makes no namespace", ["create", "namespace", "more"]],
    ["makes no binding", ["create", "clusterrolebinding", "more", "--clusterrole=cluster-admin", "--user=hub"]],
    ["runs no pod", ["run", "more", "--image=more", "--namespace", "flux-system"]],
    ["removes no namespace", ["delete", "namespace", "flux-system"]],
    ["removes no admission policy", ["delete", "validatingadmissionpolicy", "git-source.fleet.internal"]],
    ["removes nothing of the chain", ["delete", "configmap", "cluster-info", "--namespace", "flux-system"]],
    ["changes no other ConfigMap", ["create", "configmap", "more", "--namespace", "flux-system"]],
    ["makes no token", ["create", "token", "default", "--namespace", "flux-system"]],
  ] as const)("%s", ([, args]) => forbidden(flux(args)));

  test("acts as nobody else", () => {
    const can = (user: string[]) =>
      client
        .run(["auth", "can-i", "impersonate", "users", ...user])
        .text.trim()
        .split("\n")
        .at(-1);
    expect(can(as(hubGroups.kustomize_controller))).toBe("no");
    expect(can([])).toBe("yes");
  });
});

describe("helm-controller of the hub", () => {
  const helm = (args: readonly string[]) => client.run([...args, ...as(hubGroups.helm_controller)]);

  test("reads what Helm remembers of its releases", () => {
    expect(helm(["get", "secrets", "--namespace", "fleet-releases", "--selector", "owner=helm"])).toMatchObject({
      ok: true,
    });
  });

  test.for([
    ["reads no other Secret", ["get", "secrets", "--namespace", "sealed-secrets"]],
    ["changes no release", ["create", "secret", "generic", "more", "--namespace", "fleet-releases"]],
    ["removes no release", ["delete", "secrets", "--all", "--namespace", "kube-system"]],
    ["reads nothing else", ["get", "deployments", "--namespace", "flux-system"]],
  ] as const)("%s", ([, args]) => forbidden(helm(args)));
});
