import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseOptions } from "@eks-gitops-fleet/local/crossplane";
import { describe, expect, test } from "vitest";
import { type FleetSizeName, fleetSizes } from "../../components/fleet-size.ts";
import { build, type Manifest } from "./support/kustomize.ts";
import { system } from "./support/spoke.ts";

const folder = join(system, "platform", "crossplane", "packages");
const names = Object.keys(fleetSizes) as FleetSizeName[];

/** The packages as a hub of this size gets them. */
const packages = (size: FleetSizeName) => build(folder, [`sizes/${size}`]);
const runtime = (manifests: readonly Manifest[], name: string) =>
  manifests.find(({ kind, metadata }) => kind === "DeploymentRuntimeConfig" && metadata.name === name)?.spec
    .deploymentTemplate.spec;

const providers = (size: FleetSizeName) =>
  packages(size).flatMap(({ kind, metadata }) => (kind === "Provider" ? [metadata.name] : []));

/** Managed resources of the provider with the most of them in a production spoke: EC2 (test/functions/spoke/golden). */
const resourcesOfASpoke = 29;

describe("the sizes of a fleet", () => {
  test("are those that a stack can have", () => {
    const folders = readdirSync(join(folder, "sizes")).filter((name) => name !== "redundant");
    expect(folders.sort()).toEqual([...names].sort());
  });

  test.for(names)(
    "%s: providers look at everything in time, by half of their rate, which is a tenth to a fifth of their default",
    (size) => {
      const [container] = runtime(packages(size), "provider-aws-ec2").template.spec.containers;
      const { concurrency, pollMs } = parseOptions(container.args);
      expect(concurrency).toBeGreaterThanOrEqual(10);
      expect(concurrency).toBeLessThanOrEqual(20);
      expect((fleetSizes[size].spokes * resourcesOfASpoke) / (pollMs / 1000)).toBeLessThan(concurrency / 2);
    },
  );

  test.for(names)(
    "%s: a provider is never killed for its memory, and keeps the identity that the role trusts",
    (size) => {
      expect(providers(size)).toHaveLength(6);
      for (const name of providers(size)) {
        const { serviceAccountName, containers } = runtime(packages(size), name).template.spec;
        expect(serviceAccountName).toBe(name);
        expect(containers, name).toEqual([
          { name: "package-runtime", args: expect.any(Array), resources: { requests: expect.any(Object) } },
        ]);
      }
    },
  );

  test.for(names)(
    "%s: the function has as many pods as the controllers, and a budget that lets a drain end",
    (size) => {
      const manifests = packages(size);
      const { replicas = 1, template } = runtime(manifests, "function-spoke");
      expect(replicas).toBe(fleetSizes[size].replicas);
      const budgets = manifests.filter(({ kind }) => kind === "PodDisruptionBudget");
      if (replicas === 1) {
        expect([budgets, template.spec.topologySpreadConstraints]).toEqual([[], undefined]);
        return;
      }
      const labels = { matchLabels: { "pkg.crossplane.io/function": "function-spoke" } };
      expect(budgets.map(({ spec }) => spec)).toEqual([{ maxUnavailable: 1, selector: labels }]);
      expect(template.spec.topologySpreadConstraints).toEqual(
        ["topology.kubernetes.io/zone", "kubernetes.io/hostname"].map((topologyKey) => ({
          maxSkew: 1,
          topologyKey,
          whenUnsatisfiable: "ScheduleAnyway",
          labelSelector: labels,
        })),
      );
    },
  );
});
