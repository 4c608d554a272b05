import { join } from "node:path";
import { familyCrds } from "@eks-gitops-fleet/local/crossplane";
import type { ControlPlane } from "@eks-gitops-fleet/local/test";
import type { Toolchain } from "@eks-gitops-fleet/local/toolchain";
import { bridgeData } from "../../../lib/bridge.ts";
import { customResourceDefinition } from "../../functions/spoke/support/definition.ts";
import { hub } from "../../functions/spoke/support/fixtures.ts";
import { substituted } from "../../repos/support/flux.ts";
import { build } from "../../repos/support/kustomize.ts";
import { render, system, withAddons } from "../../repos/support/spoke.ts";
import { type AdmissionCase, type Requested, tenantNamespace } from "./admission-request.ts";
import { definitionsOf, kubectlOf, type Said } from "./kubectl.ts";

/** What the tests of admission have in common: a control plane with the kinds and namespaces of the cases, and what to send to it. */

/** The admission policies and their parameters, as the hub has them. */
export const admissionObjects = build(join(system, "platform", "policies")).map((object) =>
  substituted(object, bridgeData(hub)),
);

export const parameters = admissionObjects.find(({ kind }) => kind === "ConfigMap") as unknown as Requested & {
  readonly data: Record<string, string>;
};

type Client = ReturnType<typeof kubectlOf>;

/** The administrator of a control plane. */
export interface Admin extends Client {
  /** What the API server says of making the object. */
  dryRun(object: object): Said;
}

const fromInput = ["--filename", "-"];

/** What the API server says of a request; what must be there before is made, and goes again. */
export function asked({ run }: Client, { object, from, leaving, by }: Omit<AdmissionCase, "policy" | "title">): Said {
  // In the group of the administrators the user may do everything: what is judged is the admission.
  const as = by === undefined ? [] : [`--as=${by}`, "--as-group=system:masters"];
  if (from === undefined) return run(["create", "--dry-run=server", ...as, ...fromInput], object);
  const must = (said: Said) => {
    if (!said.ok) throw new Error(`${from.kind} ${from.metadata.name}: ${said.text}`);
  };
  must(run(["create", ...fromInput], from));
  if (leaving) must(run(["delete", "--wait=false", ...fromInput], from));
  const said = run(["replace", "--dry-run=server", ...as, ...fromInput], object);
  must(run(["patch", "--type=merge", '--patch={"metadata":{"finalizers":null}}', ...fromInput], from));
  must(run(["delete", "--ignore-not-found", ...fromInput], from));
  return said;
}

/** Gives a fresh control plane the kinds and namespaces of the admission cases. */
export function prepared(toolchain: Toolchain, plane: ControlPlane): Admin {
  const kubectl = kubectlOf(toolchain, plane);
  const sources = definitionsOf("github.com/fluxcd/source-controller");
  kubectl.define([...sources, ...familyCrds, customResourceDefinition()]);
  const namespaces = { "flux-system": {}, spokes: {}, [tenantNamespace]: { "fleet.internal/tenant": "payments" } };
  kubectl.apply(
    Object.entries(namespaces).map(([name, labels]) => ({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, labels },
    })),
  );
  return { ...kubectl, dryRun: (object) => kubectl.run(["create", "--dry-run=server", ...fromInput], object) };
}

/** Sends the objects of the judged kinds that the fleet itself applies, on the hub and on a spoke: how many, and who is refused with which words. */
export function sentOfFleet(kubectl: Admin): { readonly count: number; readonly refused: readonly string[] } {
  const judged = ["ConfigMap", "GitRepository", "HelmRepository", "ProviderConfig", "Secret"];
  const objects = render(withAddons("minimal", [])).applied.flatMap(({ objects }) => objects);
  const sent = objects.filter(({ kind }) => judged.includes(kind));
  const refused = sent.flatMap((object) => {
    const { ok, text } = kubectl.run(["apply", "--server-side", "--dry-run=server", "--filename", "-"], object);
    const { name, namespace = "" } = object.metadata;
    // Refused by nobody who judges: the namespace would be applied before.
    const homeless = text.includes(`namespaces "${namespace}" not found`);
    return ok || homeless ? [] : [`${object.kind} ${name}: ${text}`];
  });
  return { count: sent.length, refused };
}
