import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Choices } from "@eks-gitops-fleet/local/cli";
import { gitPaths } from "@eks-gitops-fleet/local/git";
import { findInstance, type Instance, run } from "@eks-gitops-fleet/local/instance";
import { command } from "@eks-gitops-fleet/local/test";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

/** The GitRepositories of an instance with the demo, by the kubectl context of their cluster. */
const sources = [
  { context: "fleet-hub", namespace: "flux-system", name: "gitops-system" },
  { context: "fleet-spoke-blue", namespace: "flux-system", name: "gitops-system" },
  { context: "fleet-spoke-blue", namespace: "flux-system", name: "gitops-workloads" },
  { context: "fleet-spoke-blue", namespace: "payment-app", name: "payment-app" },
] as const;
type Source = (typeof sources)[number];

const ways = [
  { method: "token", charts: "oci", provider: "generic", members: ["ca.crt", "password", "username"] },
  {
    method: "github-app",
    charts: "https",
    provider: "github",
    members: ["ca.crt", "githubAppBaseURL", "githubAppID", "githubAppInstallationID", "githubAppPrivateKey"],
  },
] as const satisfies readonly {
  method: Choices["git"];
  charts: Choices["charts"];
  provider: string;
  members: readonly string[];
}[];

/** Longer than Flux waits before it asks a repository again that failed. */
const eventually = (assertion: () => Promise<void>) => vi.waitFor(assertion, { timeout: 180_000, interval: 2000 });

// An instance of its own for each: how the clusters read Git is settled when it is made.
describe.each(ways)(
  "a fleet that reads Git with $method and charts over $charts",
  ({ method, charts, provider, members }) => {
    let dir: string;
    let instance: Instance;
    /** Command lines of what ran while the fleet came up. */
    const ran = new Set<string>();

    const kubectl = (context: string, ...args: readonly string[]) =>
      run([join(instance.paths.bin, "kubectl"), "--context", context, ...args], {
        env: { ...process.env, KUBECONFIG: instance.paths.kubeconfig },
      });
    const get = async ({ context, namespace }: Source, kind: string, name: string) =>
      JSON.parse(await kubectl(context, "--namespace", namespace, "get", kind, name, "--output", "json"));
    const ready = async (source: Source) => {
      const { status } = await get(source, "gitrepository", source.name);
      return status.conditions.find(({ type }: { type: string }) => type === "Ready") as Record<string, string>;
    };
    const fetchNow = ({ context, namespace, name }: Source) => {
      const now = `reconcile.fluxcd.io/requestedAt=${new Date().toISOString()}`;
      return kubectl(context, "--namespace", namespace, "annotate", "--overwrite", "gitrepository", name, now);
    };

    beforeAll(async () => {
      dir = mkdtempSync(join(tmpdir(), `fleet-git-${method}-`));
      // Ends well once the spoke is Ready and the application answers.
      const look = async () => {
        for (const line of (await run(["ps", "axww", "--format", "args"])).split("\n")) ran.add(line);
      };
      const sample = setInterval(() => void look(), 500);
      await command("start.ts", dir, ["--git", method, "--charts", charts]).finally(() => clearInterval(sample));
      instance = (await findInstance(dir)) ?? expect.fail(`no instance runs in ${dir}`);
    }, 2_400_000);
    afterAll(async () => {
      await command("down.ts", dir);
      // The command removes it too, when it was empty before.
      rmSync(dir, { recursive: true, force: true });
    }, 1_200_000);

    test.each(sources)("has $name of $namespace on $context read over HTTPS", async (source) => {
      const { spec } = await get(source, "gitrepository", source.name);
      expect(spec).toMatchObject({ provider, url: expect.stringMatching(/^https:\/\/git\.fleet\.internal:8443\//) });
      expect(await ready(source)).toMatchObject({ status: "True" });
      const { data } = await get(source, "secret", spec.secretRef.name);
      expect(Object.keys(data).sort()).toEqual(members);
    });

    test.each(["fleet-hub", "fleet-spoke-blue"])("has %s install its charts from there", async (context) => {
      const all = async (kind: string) =>
        JSON.parse(await kubectl(context, "get", kind, "--all-namespaces", "--output", "json")).items;
      const repositories = await all("helmrepositories");
      expect(repositories.length).toBeGreaterThan(0);
      for (const { spec } of repositories)
        expect(spec).toMatchObject({
          type: charts === "oci" ? "oci" : "default",
          url: expect.stringMatching(new RegExp(`^${charts}://`)),
        });
      const releases = await all("helmreleases");
      expect(releases.length).toBeGreaterThan(0);
      for (const { status } of releases)
        expect(status.conditions.find(({ type }: { type: string }) => type === "Ready")).toMatchObject({
          status: "True",
        });
    });

    test("keeps the credential out of what runs and of what is committed", async () => {
      const { credentials, root } = gitPaths(instance);
      const [file, line] = method === "token" ? ["fleet.token", 0] : ["app-1.pem", 1];
      const secret = readFileSync(join(credentials, file), "utf8").split("\n")[line] ?? "";
      expect(secret.length).toBeGreaterThan(20);
      expect(
        [...ran].some((line) => line.includes("pulumi")),
        "what ran was seen",
      ).toBe(true);
      expect([...ran].filter((line) => line.includes(secret))).toEqual([]);
      for (const folder of ["logs", "pulumi"]) {
        const found = await run(["grep", "-rlF", "-e", secret, join(dir, folder)]).catch(
          ({ exitCode }: { exitCode?: number }) => (exitCode === 1 ? "" : expect.fail(`grep in ${folder}`)),
        );
        expect(found).toBe("");
      }
      for (const repository of ["gitops-system", "gitops-workloads"]) {
        const history = await run(["git", "--git-dir", join(root, `${repository}.git`), "log", "--patch", "main"]);
        expect(history.includes(secret), repository).toBe(false);
      }
    });

    test("reads nothing any more once its credentials are revoked, and says so", async () => {
      const { keys } = gitPaths(instance);
      const before = readFileSync(keys, "utf8");
      try {
        writeFileSync(keys, JSON.stringify({ ...JSON.parse(before), tokens: [], apps: [] }));
        for (const source of sources) {
          await eventually(async () => {
            await fetchNow(source);
            expect(await ready(source)).toMatchObject({
              status: "False",
              message: expect.stringMatching(/authentication required|invalid credentials|401/i),
            });
          });
        }
      } finally {
        writeFileSync(keys, before);
      }
      for (const source of sources)
        await eventually(async () => {
          await fetchNow(source);
          expect(await ready(source)).toMatchObject({ status: "True" });
        });
    });
  },
);
