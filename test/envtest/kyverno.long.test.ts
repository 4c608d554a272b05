import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { documents } from "../repos/support/kustomize.ts";
import { system } from "../repos/support/spoke.ts";
import { admissionCases } from "./support/admission-cases.ts";
import { parameters } from "./support/admission-cluster.ts";
import { tenantNamespace } from "./support/admission-request.ts";
import { kyvernoModule } from "./support/kyverno.ts";

/** The Kyverno set under Kyverno's own CEL compiler, on the requests that admission.test.ts sends to an API server. */

const policies = documents(join(system, "platform", "kyverno", "policies", "policies.yaml"));

/** Kyverno matches by namespace before it evaluates; of tenants' sources only those in a tenant's namespace get so far. */
const requests = admissionCases.filter(
  ({ policy, object }) => policy !== "tenant-source.fleet.internal" || object.metadata.namespace === tenantNamespace,
);

function judge(configMap: object | undefined): readonly string[] {
  const { status, stdout, stderr } = spawnSync("go", ["run", "."], {
    ...kyvernoModule,
    input: JSON.stringify({ policies, parameters: configMap, requests }),
  });
  if (status !== 0) throw new Error(stderr);
  return (JSON.parse(stdout) as string[]).map((refusal) => refusal.replaceAll(/\s+/g, " "));
}

describe("the Kyverno set", () => {
  let refusals: readonly string[];
  // Compiles some 500 packages the first time.
  beforeAll(() => {
    refusals = judge(parameters);
  });

  test.for(requests.map(({ policy, title, refused }, index) => [policy, title, refused, index] as const))(
    "%s judges as the API server does: %s",
    ([, , refused, index]) => {
      if (refused === undefined) expect(refusals[index]).toBe("");
      else expect(refusals[index]).toContain(refused);
    },
  );

  test("refuses what needs parameters when they are gone", () => {
    const without = judge({ metadata: {} });
    const [git] = requests.flatMap(({ policy }, index) =>
      policy === "git-source.fleet.internal" ? [without[index]] : [],
    );
    expect(git).toContain("v1 configmaps flux-system/admission-parameters: not found");
  });
});
