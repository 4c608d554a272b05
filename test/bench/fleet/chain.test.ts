import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { onTheHub, steps } from "../../../bench/fleet/chain.ts";

const folder = "repos/gitops-system/spoke-bootstrap";
const yaml = (file: string) => parse(readFileSync(`${folder}/${file}`, "utf8"));

describe("what stands in for the chain", () => {
  test("has a folder for each step of the chain", () => {
    const paths = readdirSync(`${folder}/steps`)
      .filter((file) => file.endsWith(".yaml"))
      .map((file): string => yaml(`steps/${file}`).spec.path)
      .map((path) => path.replace("./spoke-bootstrap/", "").replace(/\/\$\{sealing_scope\}$/, ""))
      // The SealedSecrets are in the spoke's folder.
      .map((path) => (path.startsWith("./spokes/") ? "secrets" : path));
    expect(Object.values(steps).toSorted()).toEqual(paths.toSorted());
  });

  test("acts on the hub, and is otherwise the chain", () => {
    const chain = yaml("kustomization.yaml");
    const stays = chain.patches.filter(({ path }: { path: string }) => !path.endsWith("on-the-spoke.yaml"));
    expect(stays.length).toBe(chain.patches.length - 1);
    expect(onTheHub(chain)).toEqual({ ...chain, patches: stays });
  });

  test("is refused for a chain that gives its steps a kubeConfig in another way", () => {
    expect(() => onTheHub({ patches: [{ path: "steps/patches/every-step.yaml" }] })).toThrow("has no patch");
  });
});
