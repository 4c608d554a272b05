import { spawnSync } from "node:child_process";
import type { Toolchain } from "../../../local/toolchain/index.ts";
import type { ControlPlane } from "./control-plane.ts";

/** What kubectl said. */
export interface Said {
  readonly ok: boolean;
  /** stdout and stderr. */
  readonly text: string;
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
