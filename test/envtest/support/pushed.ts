import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import type { kubectlOf } from "./kubectl.ts";

/** A GitRepository without source-controller: archives of manifests that kustomize-controller fetches over HTTP. */

const archiveOf = (objects: readonly object[]): Buffer => {
  const folder = mkdtempSync(join(tmpdir(), "fleet-pushed-"));
  try {
    writeFileSync(join(folder, "all.yaml"), objects.map((object) => stringify(object)).join("---\n"));
    const { status, stderr } = spawnSync("tar", ["-czf", "it.tgz", "all.yaml"], { cwd: folder, encoding: "utf8" });
    if (status !== 0) throw new Error(`tar: ${stderr}`);
    return readFileSync(join(folder, "it.tgz"));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Serves what is pushed to the GitRepository of this name in flux-system; `stop` ends it. */
export async function sourceOf(client: ReturnType<typeof kubectlOf>, address: string, name: string) {
  const archives = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const found = archives.get(request.url ?? "");
    response.writeHead(found ? 200 : 404).end(found);
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;

  /** Makes these objects the newest commit. @returns its revision */
  const push = (objects: readonly object[]): string => {
    const archive = archiveOf(objects);
    const digest = createHash("sha256").update(archive).digest("hex");
    const path = `/${digest}.tar.gz`;
    archives.set(path, archive);
    const revision = `main@sha1:${digest.slice(0, 40)}`;
    const artifact = {
      ...{ revision, digest: `sha256:${digest}`, path, size: archive.length },
      ...{ url: `http://${address}:${port}${path}`, lastUpdateTime: new Date().toISOString() },
    };
    const { ok, text } = client.run([
      ...["patch", "gitrepository", name, "--namespace", "flux-system", "--subresource=status", "--type=merge"],
      ...["--patch", JSON.stringify({ status: { artifact } })],
    ]);
    if (!ok) throw new Error(text);
    return revision;
  };
  return { push, stop: () => new Promise((resolve) => server.close(resolve)) };
}
