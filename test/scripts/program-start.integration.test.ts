import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

const root = join(import.meta.dirname, "..", "..");
const { runtime } = parse(readFileSync(join(root, "Pulumi.yaml"), "utf8"));

/** What a module of the checkout prints in the Node that Pulumi starts. */
function underPulumisNode(module: string): unknown {
  const flags = String(runtime.options.nodeargs).split(" ");
  const env = { ...process.env, NODE_NO_WARNINGS: "1" };
  const args = [...flags, "--input-type=module", "--eval", module];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: "utf8", env }));
}

describe("the Node that Pulumi starts", () => {
  const found = underPulumisNode(`
    import module from "node:module";
    import { unknown } from "./scripts/program-start.mjs";
    import { isProxy } from "node:util/types";
    import "@pulumi/pulumi/cmd/run/tracing.js";
    import * as pulumi from "@pulumi/pulumi";
    import * as aws from "@pulumi/aws";
    import * as eks from "@pulumi/eks";
    import * as kubernetes from "@pulumi/kubernetes";
    const { cache } = module.createRequire(process.cwd() + "/x.js");
    const loaded = (part) => Object.keys(cache).filter((file) => file.includes(part) && !isProxy(cache[file].exports));
    const late = ["/typescript/lib/typescript.js", "@pulumi/pulumi/automation/", "@pulumi/aws/s3/"];
    const before = late.flatMap(loaded);
    const { text } = await pulumi.runtime.serializeFunction(() => "captured");
    const { s3 } = aws;
    const captured = await pulumi.runtime.serializeFunction(() => s3.Bucket);
    const used = {
      automation: typeof pulumi.automation.LocalWorkspace.create,
      aws: new Set(Object.keys(aws.s3)).has("Bucket") && typeof aws.s3.Bucket,
      kubernetes: typeof kubernetes.apps.v1.Deployment,
      missing: "Nothing" in aws.sqs,
      text: text.includes("captured"),
    };
    const references = [...loaded("@pulumi/aws/"), ...loaded("@pulumi/kubernetes/")];
    console.log(JSON.stringify({ before, used, folder: module.getCompileCacheDir(), references, unknown, captured: captured.text }));
  `) as {
    before: string[];
    used: Record<string, unknown>;
    folder: string;
    references: string[];
    unknown: string[];
    captured: string;
  };

  test("keeps what it compiles of the program in the checkout's own cache", () => {
    expect(found.folder.startsWith(join(root, "node_modules", ".cache", "compile"))).toBe(true);
  });

  test("loads no feature of the SDKs that the program does not use", () => expect(found.before).toEqual([]));

  test("knows every feature of the installed SDK that it leaves out", () => expect(found.unknown).toEqual([]));

  test("puts a module that a function captures into the state by its name, not by its content", () => {
    expect(found.captured).toContain('require("@pulumi/aws/s3/index.js")');
    expect(found.captured.length).toBeLessThan(2000);
  });

  test("loads a feature when it is used, with everything in it", () => {
    expect(found.used).toEqual({
      automation: "function",
      aws: "function",
      kubernetes: "function",
      missing: false,
      text: true,
    });
  });

  test("knows the types that outputs of @pulumi/eks refer to", () => {
    const outputs = ["cluster", "managedNodeGroup", "types/output"].map((file) =>
      readFileSync(join(root, "node_modules", "@pulumi", "eks", `${file}.d.ts`), "utf8"),
    );
    const named = outputs.join().matchAll(/pulumi(Aws|Kubernetes)\.([a-z]\w*)\./g);
    const wanted = new Set(
      [...named].map(([, sdk = "", namespace]) => `@pulumi/${sdk.toLowerCase()}/${namespace}/index.js`),
    );
    expect(wanted.size).toBeGreaterThan(5);
    expect([...wanted].filter((file) => !found.references.some((loaded) => loaded.endsWith(file)))).toEqual([]);
  });
});
