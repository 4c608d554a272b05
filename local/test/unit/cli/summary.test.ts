import { describe, expect, test } from "vitest";
import type { Spoke } from "../../../cli/spokes.ts";
import { summary } from "../../../cli/summary.ts";
import { instanceAt } from "../../../instance/index.ts";

const instance = instanceAt("/tmp/fleet", 0);
const ready = (name: string, environment: string): Spoke => ({
  metadata: { name },
  spec: { environment },
  status: { phase: "Ready", cluster: { name: `fleet-spoke-${name}` }, conditions: [{ type: "Ready", status: "True" }] },
});
const blue = ready("blue", "dev");

describe("the end of npm start", () => {
  test("names the spoke with its application, and how to add a second one", () => {
    const text = summary(instance, { spokes: [blue], doors: [], withApp: ["blue"] });
    expect(text).toContain(
      "Spoke blue (dev) is running; gitops-workloads puts payment-app on it. Open it in a browser",
    );
    expect(text).toContain("\n  http://127.100.0.1:9898\n");
    expect(text).toContain("fleet new-cluster green");
    expect(text).toContain("fleet onboard payment-app --cluster green");
  });

  test("gives the URLs of the load balancers of its Ingresses, and of no other cluster's", () => {
    const ingress = "payment-app/payment-app";
    const doors = [
      { cluster: "fleet-spoke-blue", ingress, url: "http://100.64.252.1" },
      { cluster: "fleet-spoke-green", ingress, url: "http://100.64.252.2" },
    ];
    const text = summary(instance, { spokes: [blue], doors, withApp: ["blue"] });
    expect(text).toMatch(/^ {2}http:\/\/100\.64\.252\.1 +the load balancer of Ingress payment-app\/payment-app$/m);
    expect(text).not.toContain("100.64.252.2");
  });

  test("gives commands that can be pasted, whatever the directory is called", () => {
    const odd = instanceAt("/home/it's ä/.local", 0);
    const text = summary(odd, { spokes: [blue], doors: [], withApp: ["blue"] });
    expect(text).toContain(`  . '/home/it'\\''s ä/.local/env'\n`);
    expect(text).toContain(`git clone '/home/it'\\''s ä/.local/git/gitops-system.git' && cd`);
  });

  test("gives commands that change nothing in the folder in which they are pasted, the second time neither", () => {
    const text = summary(instance, { spokes: [blue], doors: [], withApp: ["blue"] });
    const clones = text.split("\n").filter((line) => line.includes("git clone"));
    expect(clones).toHaveLength(3);
    for (const line of clones) expect(line).toMatch(/^ {2}cd "\$\(mktemp -d\)" && git clone .* && cd [a-z-]+( &&)?$/);
    // What is added and pushed is so only where everything before went well.
    expect(text).not.toMatch(/[^&]\n {2}git add/);
  });

  test("asks for no spoke that is there already, and for its application only until it has it", () => {
    const green = ready("green", "prod");
    const without = summary(instance, { spokes: [blue, green], doors: [], withApp: ["blue"] });
    expect(without).toContain("Spoke green (prod) is running:");
    expect(without).not.toContain("new-cluster");
    expect(without).toContain("fleet onboard payment-app --cluster green");
    const withBoth = summary(instance, { spokes: [blue, green], doors: [], withApp: ["blue", "green"] });
    expect(withBoth).not.toMatch(/new-cluster|onboard/);
  });

  test("says how far a spoke is that is not Ready, and claims none that is not there", () => {
    const coming: Spoke = {
      metadata: { name: "green" },
      spec: {},
      status: { phase: "Nodes", message: "the nodes: making" },
    };
    const text = summary(instance, { spokes: [coming], doors: [], withApp: [] });
    expect(text).toContain("Spoke green: Nodes: the nodes: making\n");
    expect(text).not.toContain("blue");
    expect(text).not.toContain("is running; ");
  });
});
