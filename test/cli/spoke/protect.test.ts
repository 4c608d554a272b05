import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SpokesCheckout, spokeText } from "../support/spokes-checkout.ts";

let at: SpokesCheckout;
beforeEach(() => {
  at = new SpokesCheckout();
});
afterEach(() => at.remove());

const file = "spokes/fleet/blue/spoke.yaml";

describe("fleet protect", () => {
  test("puts the protection on and off, and leaves the rest of the file", async () => {
    const on = await at.run("protect", "blue");
    expect(on).toMatchObject({ code: 0, said: expect.stringContaining("Protect spoke blue from deletion") });
    expect(at.read(file)).toBe(spokeText("blue", "  deletionProtection: true\n"));
    const off = await at.run("protect", "blue", "--off");
    expect(off.said).toContain("Take deletion protection off spoke blue");
    expect(off.said).toContain("kubectl -n spokes get spoke blue");
    expect(at.read(file)).toBe(spokeText("blue", "  deletionProtection: false\n"));
  });

  test("changes nothing where it is so already, also by default", async () => {
    expect((await at.run("protect", "blue", "--off")).said).toBe(
      "Nothing to change: the deletion protection of blue is off",
    );
    await at.run("protect", "blue");
    expect((await at.run("protect", "blue")).said).toBe("Nothing to change: the deletion protection of blue is on");
  });

  test("says that EKS does not protect a cluster that Cluster API makes, and who does", async () => {
    at.write(file, spokeText("blue", "  existing:\n    madeBy: ClusterAPI\n"));
    const { said } = await at.run("protect", "blue");
    expect(said).toMatch(/EKS would still delete the cluster[\s\S]*the hub refuses that while the Spoke is there/);
    expect((await at.run("protect", "blue", "--off")).said).not.toContain("EKS");
  });

  test("refuses a spoke that is not there", async () => {
    const { code, said } = await at.run("protect", "red");
    expect(code).toBe(2);
    expect(said).toContain("<spoke>: is not the name of a spoke in this checkout");
  });
});
