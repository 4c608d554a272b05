import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SpokesCheckout, spokeText } from "../support/spokes-checkout.ts";

let at: SpokesCheckout;
beforeEach(() => {
  at = new SpokesCheckout();
});
afterEach(() => at.remove());

const file = "spokes/fleet/blue/spoke.yaml";
const composition = "platform/composition/composition.yaml";
const running = (version: string, more = "") => spokeText("blue", more).replace("1.35", version);
const upgrade = (...argv: string[]) => at.run("upgrade", "blue", ...argv);

describe("fleet upgrade", () => {
  test("raises the version to the next that the Composition offers, and says in which order things follow", async () => {
    const { code, said } = await upgrade();
    expect(code).toBe(0);
    expect(at.read(file)).toBe(running("1.36"));
    expect(said).toContain("Kubernetes 1.35 -> 1.36; the Composition offers 1.35, 1.36, 1.37");
    expect(said).toMatch(/1\. the control plane[\s\S]*2\. the EKS add-ons[\s\S]*3\. the nodes/);
    expect(said).toContain('git commit -m "Upgrade spoke blue to Kubernetes 1.36"');
  });

  test("warns of a version that is newer than pinned components support", async () => {
    expect((await upgrade()).said).not.toContain("newer than supported");
    at.write(file, running("1.36"));
    const { code, said } = await upgrade();
    expect(code).toBe(0);
    expect(said).toContain("Note: Kubernetes 1.37 is newer than supported: Flux 2.9 up to 1.36");
  });

  test("refuses a spoke whose cluster Cluster API makes, and says what raises its version", async () => {
    const before = running("1.35", "  existing:\n    madeBy: ClusterAPI\n");
    at.write(file, before);
    const { code, said } = await upgrade();
    expect(code).toBe(2);
    expect(said).toMatch(/existing\.madeBy ClusterAPI[\s\S]*version of the chart/);
    expect(at.read(file)).toBe(before);
  });

  test("takes the next version by its number, not by its letters", async () => {
    at.write(composition, at.read(composition).replace('"1.35":', '"1.100":\n          "1.35":'));
    at.write(file, running("1.99"));
    await upgrade();
    expect(at.read(file)).toBe(running("1.100"));
  });

  test("changes nothing where the newest version is there already", async () => {
    at.write(file, running("1.37"));
    expect(await upgrade()).toEqual({
      code: 0,
      said: "Nothing to change: blue has Kubernetes 1.37; the Composition offers 1.35, 1.36, 1.37",
    });
  });

  test.each([
    ["two minors at once", "1.35", "1.37", "--to: kubernetesVersion goes up one minor at a time and never down"],
    ["a downgrade", "1.37", "1.36", "the control plane runs 1.37, got 1.36"],
    ["what the Composition does not have", "1.37", "1.38", "--to: has an unknown value"],
    ["what is no version", "1.35", "newest", "--to: has an unknown value"],
  ])("refuses %s, and writes nothing", async (_, from, to, message) => {
    at.write(file, running(from));
    const { code, said } = await upgrade("--to", to);
    expect(code).toBe(2);
    expect(said).toMatch(/^1 problem in fleet upgrade/);
    expect(said).toContain(message);
    expect(at.read(file)).toBe(running(from));
  });

  test("lets nobody skip a minor that the Composition lacks", async () => {
    at.write(file, running("1.32"));
    expect((await upgrade()).said).toContain("the control plane runs 1.32, got 1.35");
  });

  test("chooses no version where the environment's channel holds the Composition back", async () => {
    at.write(composition, at.read(composition).replace('fleet.internal/dev: "true"', 'fleet.internal/dev: "false"'));
    expect((await upgrade()).said).toContain("--to: must be named: the channel of dev holds the Composition back");
    expect((await upgrade("--to", "1.36")).code).toBe(0);
  });

  test("says that a ring's branch may offer other versions", async () => {
    const ring = "  crossplane:\n    compositionRef:\n      name: spoke-early\n  ring: early\n";
    at.write(file, running("1.35", ring));
    expect((await upgrade("--dry-run")).said).toContain("it takes the Composition of the ring early");
    expect(at.read(file)).toBe(running("1.35", ring));
  });

  test("refuses a Spoke without a version", async () => {
    at.write(file, spokeText("blue").replace('  kubernetesVersion: "1.35"\n', ""));
    expect((await upgrade()).said).toContain("spokes/fleet/blue/spoke.yaml: has no spec.kubernetesVersion");
  });
});
