/** Flux tells what it does: the hub a server of the platform team's, and a spoke the Git host of an application's commits. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttp, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { GIT_HOST, gitAuthority, gitPaths } from "@eks-gitops-fleet/local/git";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withListed } from "../../cli/folder.ts";
import { APP, APP_REPOSITORY, appFolder, fetchNow, manifests, sharedApp, untilApplied } from "./support/apps.ts";
import { eventually, git, instance, kubectl, scratch, upWith } from "./support/fleet.ts";
import type { Checkout } from "./support/repository.ts";
import { fleet, getOnSpoke, sharedSpoke, workloads } from "./support/spokes.ts";

const SPOKE = "blue";
/** Seconds from a push, or a failure, to its call, on a machine that is busy. */
const CALL_SECONDS = 180;
const TOKEN = "t0ken-of-the-team";

interface Call {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: what Flux posts
  readonly body: any;
}

const calls: Call[] = [];
const servers: Server[] = [];

/** Records a call. Bitbucket Server answers 404 where a commit has no such status yet. */
async function record(request: IncomingMessage): Promise<number> {
  const { method = "", url = "", headers } = request;
  const body = await text(request);
  calls.push({ method, path: url, authorization: headers.authorization, body: body && JSON.parse(body) });
  return method === "GET" ? 404 : 204;
}
const answer: RequestListener = (request, response) =>
  void record(request).then(
    (status) => response.writeHead(status).end(),
    (error: Error) => response.writeHead(500).end(error.message),
  );

/** Has a server listen where pods of every cluster reach it. @returns its port */
async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, instance.gatewayAddress, resolve));
  return (server.address() as AddressInfo).port;
}
afterAll(() => {
  for (const server of servers) server.close();
});

describe("the hub's notification", () => {
  const broken = "notified-of";
  beforeAll(async () => {
    const port = await listen(createHttp(answer));
    const address = `http://${instance.gatewayAddress}:${port}/flux`;
    await upWith((config) => ({ ...config, notifications: [{ name: "platform-team", type: "generic", address }] }));
  });
  afterAll(async () => {
    await kubectl(["delete", "kustomization", broken, "--namespace", "flux-system", "--ignore-not-found"]);
    await upWith((config) => config);
  });

  test("tells a server of a Kustomization that fails, and of which fleet it is", async () => {
    const manifest = {
      apiVersion: "kustomize.toolkit.fluxcd.io/v1",
      kind: "Kustomization",
      metadata: { name: broken, namespace: "flux-system" },
      spec: {
        interval: "10m",
        path: "./there-is-no-such-folder",
        prune: true,
        sourceRef: { kind: "GitRepository", name: "gitops-system" },
      },
    };
    const file = join(scratch, "broken.json");
    writeFileSync(file, JSON.stringify(manifest));
    await kubectl(["apply", "--filename", file]);
    await eventually(CALL_SECONDS, async () => {
      const told = calls.find(({ path, body }) => path === "/flux" && body.involvedObject.name === broken);
      expect(told?.body).toMatchObject({
        involvedObject: { kind: "Kustomization", namespace: "flux-system" },
        severity: "error",
        metadata: { fleet: "fleet", cluster: "hub" },
      });
      expect(told?.body.message).toContain("there-is-no-such-folder");
    });
  });
});

describe("the commit status of an application", () => {
  let team: Checkout;
  let governance: Checkout;
  const states = (commit: string) =>
    calls
      .filter(({ method, path }) => method === "POST" && path.endsWith(`/commits/${commit}/builds`))
      .map(({ body }) => body.state);

  /** As the guide says for an application that exists. */
  async function onboardAgain(address: string): Promise<void> {
    const folder = appFolder(SPOKE);
    const [token, authority] = [join(scratch, "token"), join(scratch, "authority.crt")];
    writeFileSync(token, TOKEN, { mode: 0o600 });
    writeFileSync(authority, await gitAuthority(instance));
    await governance.remove(folder);
    const { code, stdout, stderr } = await fleet([
      ...["onboard", APP, "--cluster", SPOKE, "--environment", "dev", "--tenant", "payments"],
      ...["--repository-url", `ssh://git@git.fleet.internal:2222/${APP_REPOSITORY}.git`],
      ...["--commit-status", "bitbucketserver", "--commit-status-address", address],
      ...["--commit-status-token-file", token, "--ca-file", authority, "--repository", governance.folder],
    ]);
    expect(code, stdout + stderr).toBe(0);
    await git(["checkout", "--quiet", "--", folder, `:!${folder}/commit-status`], governance.folder);
    const file = join(governance.folder, folder, "kustomization.yaml");
    writeFileSync(file, withListed(readFileSync(file, "utf8"), "components", "commit-status"));
    await governance.push(`Commit status of ${APP} on ${SPOKE}`);
    await fetchNow(SPOKE, "gitops-workloads", "flux-system");
  }

  beforeAll(async () => {
    await sharedSpoke(SPOKE, "dev");
    await sharedApp(SPOKE, "dev");
    [team, governance] = [await manifests(), await workloads()];
    const { key, certificate } = gitPaths(instance).tls;
    const tls = { key: readFileSync(key), cert: readFileSync(certificate) };
    const port = await listen(createHttps(tls, answer));
    await onboardAgain(`https://${GIT_HOST}:${port}/scm/payments/${APP_REPOSITORY}.git`);
    await eventually(CALL_SECONDS, async () => {
      const { data } = await getOnSpoke(SPOKE, ["secret", "commit-status", "--namespace", APP]);
      expect(atob(data.token)).toBe(TOKEN);
    });
  });
  afterAll(async () => {
    const restored = await team?.restore();
    await governance?.restore();
    if (restored !== undefined) await untilApplied(SPOKE, restored);
  });

  test("is a failure for the commit that breaks it, and a success for the one that mends it", async () => {
    await team.edit("base/deployment.yaml", (deployment) => {
      deployment.spec.replicas = -1;
      return deployment;
    });
    const breaking = await team.push("Break the application");
    await fetchNow(SPOKE);
    await eventually(CALL_SECONDS, async () => expect(states(breaking)).toContain("FAILED"));
    const mending = (await team.restore()) ?? expect.fail("there was nothing to restore");
    await fetchNow(SPOKE);
    await eventually(CALL_SECONDS, async () => expect(states(mending)).toContain("SUCCESSFUL"));
    expect(states(breaking)).not.toContain("SUCCESSFUL");
  });

  test("is written with the team's token, under the name of cluster and application", () => {
    const written = calls.filter(({ method, path }) => method === "POST" && path.endsWith("/builds"));
    expect(new Set(written.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${TOKEN}`]));
    const key = createHash("sha1").update(`fleet/${SPOKE}/${APP}`).digest("hex");
    expect(new Set(written.map(({ body }) => body.key))).toEqual(new Set([key]));
  });
});
