/** Flux tells what it does: hub and spoke a server of the platform team's, and the spoke the Git host of an application's commits. */

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttp } from "node:http";
import { createServer as createHttps } from "node:https";
import { join } from "node:path";
import { GIT_HOST, gitAuthority, gitPaths } from "@eks-gitops-fleet/local/git";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withListed } from "../../cli/folder.ts";
import { withResources, withSpec } from "../support/checkout.ts";
import { succeeds } from "../support/process.ts";
import { APP, APP_REPOSITORY, appFolder, fetchNow, manifests, sharedApp, untilApplied } from "./support/apps.ts";
import { answer, CALL_SECONDS, calls, listen, told } from "./support/calls.ts";
import { eventually, git, instance, kubectl, scratch, upWith } from "./support/fleet.ts";
import type { Checkout } from "./support/repository.ts";
import {
  BOOTSTRAP_SECONDS,
  fleet,
  getOnSpoke,
  onSpoke,
  sharedSpoke,
  system,
  tryOnSpoke,
  untilReady,
  workloads,
} from "./support/spokes.ts";

const SPOKE = "blue";
const TOKEN = "t0ken-of-the-team";

/** A Kustomization of a folder that its source does not have. */
const broken = (name: string, namespace: string, source: string, serviceAccountName?: string) => ({
  apiVersion: "kustomize.toolkit.fluxcd.io/v1",
  kind: "Kustomization",
  metadata: { name, namespace },
  spec: {
    interval: "10m",
    path: "./there-is-no-such-folder",
    prune: true,
    sourceRef: { kind: "GitRepository", name: source },
    ...(serviceAccountName !== undefined && { serviceAccountName }),
  },
});

describe("the hub's notification", () => {
  const name = "notified-of";
  beforeAll(async () => {
    const port = await listen(createHttp(answer));
    const address = `http://${instance.gatewayAddress}:${port}/flux`;
    await upWith((config) => ({ ...config, notifications: [{ name: "platform-team", type: "generic", address }] }));
  });
  afterAll(async () => {
    await kubectl(["delete", "kustomization", name, "--namespace", "flux-system", "--ignore-not-found"]);
    await upWith((config) => config);
  });

  test("tells a server of a Kustomization that fails, and of which fleet it is", async () => {
    const file = join(scratch, "broken.json");
    writeFileSync(file, JSON.stringify(broken(name, "flux-system", "gitops-system")));
    await kubectl(["apply", "--filename", file]);
    const body = await told("/flux", name);
    expect(body).toMatchObject({
      involvedObject: { kind: "Kustomization", namespace: "flux-system" },
      severity: "error",
      metadata: { fleet: "fleet", cluster: "hub" },
    });
    expect(body.message).toContain("there-is-no-such-folder");
  });
});

describe("a spoke's notification", () => {
  const folder = join("spokes", "fleet", SPOKE);
  const alert = ["alert", "notifications", "--namespace", "flux-system"];
  const ofPlatform = ["notified-of", "notified-of-later"] as const;
  const ofTenant = "not-notified-of";
  let platform: Checkout;

  const apply = (manifest: object) => onSpoke(SPOKE, ["apply", "--filename", "-"], { input: JSON.stringify(manifest) });
  const applyOfPlatform = (name: string) => apply(broken(name, "flux-system", "gitops-system", "kustomize-controller"));

  beforeAll(async () => {
    await sharedSpoke(SPOKE, "dev");
    await sharedApp(SPOKE, "dev");
    const port = await listen(createHttp(answer));
    platform = await system();
    // As the guide says.
    await platform.edit(join("tools", "dev", "notifications", "provider.yaml"), withSpec({ type: "generic" }));
    await succeeds(
      fleet(
        [
          ...["seal", "--cluster", SPOKE, "--namespace", "flux-system", "--name", "notifications"],
          ...["--from-stdin", "address", "--output", join(platform.folder, folder, "secrets", "notifications.yaml")],
          ...["--system", platform.folder],
        ],
        { input: `http://${instance.gatewayAddress}:${port}/spoke\n` },
      ),
    );
    await platform.edit(join(folder, "secrets", "kustomization.yaml"), withResources("notifications.yaml"));
    await platform.edit(join(folder, "spoke.yaml"), (spoke) => ({
      ...spoke,
      spec: { ...spoke.spec, addons: [...(spoke.spec.addons ?? []), "notifications"] },
    }));
    await platform.push(`Have ${SPOKE} tell what fails`);
    await eventually(BOOTSTRAP_SECONDS, async () => {
      const provider = ["provider.notification.toolkit.fluxcd.io", "notifications", "--namespace", "flux-system"];
      expect((await getOnSpoke(SPOKE, provider)).spec.type).toBe("generic");
      await getOnSpoke(SPOKE, alert);
      await getOnSpoke(SPOKE, ["secret", "notifications", "--namespace", "flux-system"]);
    });
  });
  afterAll(async () => {
    const remove = (namespace: string, ...names: readonly string[]) =>
      onSpoke(SPOKE, ["delete", "kustomization", ...names, "--namespace", namespace, "--ignore-not-found"]);
    await remove("flux-system", ...ofPlatform);
    await remove(APP, ofTenant);
    await platform?.restore();
    await eventually(BOOTSTRAP_SECONDS, async () =>
      expect((await tryOnSpoke(SPOKE, ["get", ...alert])).stderr).toContain("NotFound"),
    );
    await untilReady(SPOKE);
  });

  test("tells a server, whose address was sealed for it, what the spoke's own Flux fails at, and on which cluster", async () => {
    await applyOfPlatform(ofPlatform[0]);
    const body = await told("/spoke", ofPlatform[0]);
    expect(body).toMatchObject({
      involvedObject: { kind: "Kustomization", namespace: "flux-system" },
      severity: "error",
      metadata: { fleet: "fleet", cluster: SPOKE },
    });
    expect(body.message).toContain("there-is-no-such-folder");
  });

  test("says nothing of what fails in a tenant's namespace", async () => {
    await apply(broken(ofTenant, APP, APP, "deployer"));
    await eventually(CALL_SECONDS, async () => {
      const failed = await getOnSpoke(SPOKE, ["kustomization", ofTenant, "--namespace", APP]);
      expect(failed.status.conditions).toContainEqual(
        expect.objectContaining({ type: "Ready", status: "False", reason: "ArtifactFailed" }),
      );
    });
    // The tenant's would have been told before this one.
    await applyOfPlatform(ofPlatform[1]);
    await told("/spoke", ofPlatform[1]);
    const namespaces = calls.filter(({ path }) => path === "/spoke").map(({ body }) => body.involvedObject.namespace);
    expect(new Set(namespaces)).toEqual(new Set(["flux-system"]));
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
    await succeeds(
      fleet([
        ...["onboard", APP, "--cluster", SPOKE, "--environment", "dev", "--tenant", "payments"],
        ...["--repository-url", `ssh://git@git.fleet.internal:2222/${APP_REPOSITORY}.git`],
        ...["--commit-status", "bitbucketserver", "--commit-status-address", address],
        ...["--commit-status-token-file", token, "--ca-file", authority, "--repository", governance.folder],
      ]),
    );
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
