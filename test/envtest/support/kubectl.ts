import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ControlPlane } from "@eks-gitops-fleet/local/test";
import { type DefiningModule, definitionFolder, type Toolchain } from "@eks-gitops-fleet/local/toolchain";
import { parse } from "yaml";
import type { Editable } from "../../e2e/support/repository.ts";

/** What kubectl said. */
export interface Said {
  readonly ok: boolean;
  /** stdout and stderr. */
  readonly text: string;
}

/** The CustomResourceDefinitions of a Go module of the toolchain. */
export function definitionsOf(module: DefiningModule): Editable[] {
  const folder = definitionFolder(module);
  return readdirSync(folder).map((file) => parse(readFileSync(join(folder, file), "utf8")));
}

/** kubectl as the administrator of a control plane. */
export function kubectlOf(toolchain: Pick<Toolchain, "bin">, plane: Pick<ControlPlane, "kubeconfigFile">) {
  const run = (args: readonly string[], input?: object): Said => {
    const { status, stdout, stderr } = spawnSync(
      toolchain.bin("kubectl"),
      ["--kubeconfig", plane.kubeconfigFile, ...args],
      { encoding: "utf8", input: input === undefined ? "" : JSON.stringify(input) },
    );
    return { ok: status === 0, text: stdout + stderr };
  };
  /** @throws what kubectl said, when it refused any of the objects. */
  const apply = (items: readonly object[]): void => {
    const { ok, text } = run(["apply", "--server-side", "--filename", "-"], { apiVersion: "v1", kind: "List", items });
    if (!ok) throw new Error(text);
  };
  /** Applies CustomResourceDefinitions and waits until their kinds are served. */
  const define = (definitions: readonly { readonly metadata: { readonly name: string } }[]): void => {
    apply(definitions);
    for (const { metadata } of definitions) {
      const { ok, text } = run(["wait", "crd", metadata.name, "--for=condition=Established", "--timeout=60s"]);
      if (!ok) throw new Error(text);
    }
  };
  return { run, apply, define };
}
