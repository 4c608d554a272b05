import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { SpokesCheckout, spokeText } from "../support/spokes-checkout.ts";

let at: SpokesCheckout;
beforeEach(() => {
  at = new SpokesCheckout();
});
afterEach(() => at.remove());

const file = "spokes/fleet/blue/spoke.yaml";
const nodes = () => parse(at.read(file)).spec.nodes;
const scale = (...argv: string[]) => at.run("scale", "blue", ...argv);

describe("fleet scale", () => {
  test("writes a fixed number of nodes behind what is there, and leaves comments", async () => {
    const { code, said } = await scale("--nodes", "3");
    expect(code).toBe(0);
    expect(at.read(file)).toBe(spokeText("blue", "  nodes:\n    min: 3\n    desired: 3\n    max: 3\n"));
    expect(said).toContain(
      'git add spokes/fleet/blue/spoke.yaml && git commit -m "Scale spoke blue to 3 nodes" && git push',
    );
  });

  test("leaves the number that is not given, and whatever else nodes says", async () => {
    at.write(file, spokeText("blue", "  nodes:\n    diskSize: 80 # ours\n    max: 10\n"));
    await scale("--nodes-min", "3");
    expect(nodes()).toEqual({ diskSize: 80, min: 3, desired: 3, max: 10 });
    expect(at.read(file)).toContain("diskSize: 80 # ours");
    await scale("--nodes-max", "20");
    expect(nodes()).toEqual({ diskSize: 80, min: 3, desired: 3, max: 20 });
  });

  const groups =
    "  nodeGroups:\n    - name: nodes # ours\n      max: 6\n    - name: gpu\n      taints: [{ key: gpu, effect: NoSchedule }]\n";

  test("writes into the group of node groups that is named, and leaves the others", async () => {
    at.write(file, spokeText("blue", groups));
    const { code, said } = await scale("--group", "gpu", "--nodes", "1");
    expect(code).toBe(0);
    expect(said).toContain('-m "Scale group gpu of spoke blue to 1 to 2 nodes"');
    await scale("--group", "nodes", "--nodes-min", "3");
    expect(parse(at.read(file)).spec.nodeGroups).toEqual([
      { name: "nodes", max: 6, min: 3, desired: 3 },
      { name: "gpu", taints: [{ key: "gpu", effect: "NoSchedule" }], min: 1, desired: 1, max: 2 },
    ]);
    expect(at.read(file)).toContain("name: nodes # ours");
    expect(nodes()).toBeUndefined();
    expect((await scale("--group", "nodes", "--nodes-min", "3")).said).toBe(
      "Nothing to change: group nodes of blue has at least 3, at most 6",
    );
  });

  test("asks for the group where there are several, takes the only one, and refuses one that is not there", async () => {
    at.write(file, spokeText("blue", groups));
    expect((await scale("--nodes", "3")).said).toMatch(/--group: is needed[\s\S]*allowed: nodes, gpu/);
    expect((await scale("--group", "gpus", "--nodes", "3")).said).toMatch(
      /--group: has an unknown value[\s\S]*did you mean gpu\?/,
    );
    at.write(file, spokeText("blue"));
    expect((await scale("--group", "gpu", "--nodes", "3")).said).toContain(
      "--group: can't be given: the Spoke has spec.nodes, and no spec.nodeGroups",
    );
    at.write(file, spokeText("blue", "  nodeGroups:\n    - name: main\n"));
    expect((await scale("--nodes", "3")).code).toBe(0);
    expect(parse(at.read(file)).spec.nodeGroups).toEqual([{ name: "main", min: 3, desired: 3, max: 3 }]);
  });

  test("leaves room to replace the only node", async () => {
    await scale("--nodes", "1");
    expect(nodes()).toEqual({ min: 1, desired: 1, max: 2 });
  });

  test("refuses a spoke whose cluster Cluster API makes, and says where its nodes are", async () => {
    const before = spokeText("blue", "  existing:\n    madeBy: ClusterAPI\n");
    at.write(file, before);
    const { code, said } = await scale("--nodes", "3");
    expect(code).toBe(2);
    expect(said).toMatch(/existing\.madeBy ClusterAPI[\s\S]*cluster\/release\.yaml/);
    expect(at.read(file)).toBe(before);
  });

  test("refuses a spoke with EKS Auto Mode, which has nothing to scale", async () => {
    const before = spokeText("blue", "  compute: auto\n");
    at.write(file, before);
    const { code, said } = await scale("--nodes", "3");
    expect(code).toBe(2);
    expect(said).toMatch(/spec\.compute: leaves nothing to scale[\s\S]*NodePool/);
    expect(at.read(file)).toBe(before);
  });

  test("changes nothing when it runs again, and says so", async () => {
    await scale("--nodes", "3");
    const before = at.read(file);
    expect(await scale("--nodes", "3")).toEqual({ code: 0, said: "Nothing to change: blue has at least 3, at most 3" });
    expect(at.read(file)).toBe(before);
  });

  test("writes nothing with --dry-run: it shows the change, and why it can't show what follows on the clusters", async () => {
    const { code, said } = await scale("--nodes", "3", "--dry-run");
    expect(code).toBe(0);
    expect(at.read(file)).toBe(spokeText("blue"));
    expect(said).toContain("+  nodes:\n+    min: 3\n+    desired: 3\n+    max: 3\n");
    expect(said).toMatch(/What it does to each cluster is left out: FLEET_KUSTOMIZE is \/nowhere/);
    expect(said).toContain("Nothing was written.");
  });

  test("refuses numbers by the Spoke API, a missing number and an unknown spoke, all at once", async () => {
    const wrong = await at.run("scale", "bleu", "--nodes", "0", "--nodes-max", "many");
    expect(wrong.code).toBe(2);
    expect(wrong.said).toMatch(/^3 problems in fleet scale/);
    expect(wrong.said).toContain("did you mean blue?");
    expect(wrong.said).toContain("allowed: a whole number from 1 to 450");
    expect((await scale()).said).toContain("--nodes: is missing");
    expect((await scale("--nodes-min", "5", "--nodes-max", "3")).said).toContain("do not fit each other");
    expect((await scale("--nodes", "3", "--dry-run", "--push")).said).toContain("--dry-run: writes nothing");
    expect(at.read(file)).toBe(spokeText("blue"));
  });

  test("asks for the fleet where several have such a spoke", async () => {
    at.write("spokes/other/blue/spoke.yaml", spokeText("blue"));
    expect((await scale("--nodes", "3")).said).toMatch(/--fleet: is needed[\s\S]*allowed: fleet, other/);
    expect((await scale("--nodes", "3", "--fleet", "third")).said).toContain("blue of fleet third");
    await scale("--nodes", "3", "--fleet", "other");
    expect(at.read("spokes/other/blue/spoke.yaml")).toContain("min: 3");
    expect(at.read(file)).toBe(spokeText("blue"));
  });

  test("refuses a file that is no Spoke", async () => {
    at.write(file, "spec: {}\n");
    expect((await scale("--nodes", "3")).said).toContain("<spoke>: has no Spoke in its file");
  });
});
