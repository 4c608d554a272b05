/** A new tag of an application's image is committed to its repository by the spoke's Flux, in the overlay of dev, and runs. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { prepareAddons } from "@eks-gitops-fleet/local/cli";
import { mirrorOf, publishImages } from "@eks-gitops-fleet/local/registry";
import { ensureToolchain, type Toolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withListed } from "../../cli/folder.ts";
import { fromBase64 } from "../../lib/base64.ts";
import { withSpec } from "../support/checkout.ts";
import { isMissing, isReady } from "../support/cluster.ts";
import { succeeds } from "../support/process.ts";
import {
  APP,
  APP_REPOSITORY,
  appFolder,
  fetchNow,
  manifests,
  ROLLOUT_SECONDS,
  sharedApp,
  untilApplied,
} from "./support/apps.ts";
import { eventually, execute, git, instance, scratch } from "./support/fleet.ts";
import type { Checkout } from "./support/repository.ts";
import {
  BOOTSTRAP_SECONDS,
  clusterOn,
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
const REPOSITORY = "payments/payment-app";
const IMAGE = mirrorOf(REPOSITORY);
const AUTHORITY = "registry-authority";
/** Seconds from a push of an image to its commit: the registry is asked every minute, on a machine that is busy. */
const SCAN_SECONDS = 240;

const overlay = join("overlays", "dev", "kustomization.yaml");
const prod = join("overlays", "prod");
const componentOf = join(appFolder(SPOKE), "auto-update");
const addon = ["kustomization", "image-automation", "--namespace", "flux-system"];
const update = ["kustomization", `${APP}-auto-update`, "--namespace", "flux-system"];

let toolchain: Toolchain;
let platform: Checkout;
let governance: Checkout;
let team: Checkout;
let writeKey = "";

/** Pushes the sample's image under a tag, as the team's pipeline would. */
async function publish(tag: string): Promise<void> {
  const podinfo =
    toolchain.images().find(({ name }) => name === "podinfo") ?? expect.fail("there is no image of podinfo");
  // Of its own: the kubelet takes an image that it has pulled once for no other name any more without a pull (imagePullCredentialsVerificationPolicy).
  const image = { repository: REPOSITORY, tag, layout: podinfo.tar, version: tag };
  await publishImages(instance, toolchain.bin("crane"), [image]);
}

const enable = async (addons: readonly string[], message: string) => {
  await platform.edit(join("spokes", "fleet", SPOKE, "spoke.yaml"), withSpec({ addons }));
  await platform.push(message);
};

/** What Git's server says to a push with the key that commits images. */
async function pushTo(repository: string) {
  const { data } = await getOnSpoke(SPOKE, ["secret", `${APP}-auto-update-git`, "--namespace", APP]);
  const { identity = "", known_hosts: hosts = "" } = fromBase64(data);
  const [key, known] = [join(scratch, "image-key"), join(scratch, "image-known-hosts")];
  writeFileSync(key, identity, { mode: 0o600 });
  writeFileSync(known, hosts);
  const options = `-F /dev/null -i ${key} -o IdentitiesOnly=yes -o UserKnownHostsFile=${known} -o StrictHostKeyChecking=yes`;
  const env = { GIT_SSH_COMMAND: `ssh ${options} -o HostKeyAlias=[git.fleet.internal]:2222` };
  const url = `ssh://git@${instance.gatewayAddress}:2222/${repository}.git`;
  const push = ["push", "--dry-run", url, "HEAD:refs/heads/of-the-image-key"];
  return execute("git", ["-C", team.folder, ...push], { env });
}

const headOfTeam = async () => {
  await git(["fetch", "--quiet"], team.folder);
  return (await git(["rev-parse", "origin/main"], team.folder)).trim();
};

/** As the guide says for an application that exists. */
async function onboardAgain(): Promise<string> {
  const folder = appFolder(SPOKE);
  await governance.remove(folder);
  const stdout = await succeeds(
    fleet([
      ...["onboard", APP, "--cluster", SPOKE, "--tenant", "payments", "--auto-update", IMAGE],
      ...["--repository-url", `ssh://git@git.fleet.internal:2222/${APP_REPOSITORY}.git`],
      ...["--repository", governance.folder, "--system", platform.folder],
    ]),
  );
  await git(["checkout", "--quiet", "--", folder, `:!${componentOf}`], governance.folder);
  const file = join(governance.folder, folder, "kustomization.yaml");
  writeFileSync(file, withListed(readFileSync(file, "utf8"), "components", "auto-update"));
  // This registry's certificate is of an authority of its own.
  const images = join(governance.folder, componentOf, "images", "images.yaml");
  const trusting = `  provider: generic\n  certSecretRef:\n    name: ${AUTHORITY}\n`;
  writeFileSync(images, readFileSync(images, "utf8").replace("  provider: generic\n", trusting));
  const [, key = ""] = /with write access, at .*\n +(ssh-ed25519 \S+ .+)/.exec(stdout) ?? [];
  return key;
}

beforeAll(async () => {
  toolchain = await ensureToolchain();
  await prepareAddons(instance, ["image_automation"]);
  await publish("6.9.2");
  await sharedSpoke(SPOKE, "dev");
  await sharedApp(SPOKE, "dev");
  [platform, governance, team] = [await system(), await workloads(), await manifests()];
  await enable(["image_automation"], `Let ${SPOKE} commit images`);
  const trusted = {
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name: AUTHORITY, namespace: APP } },
    stringData: { "ca.crt": readFileSync(instance.paths.caCertificate, "utf8") },
  };
  await onSpoke(SPOKE, ["apply", "--filename", "-"], { input: JSON.stringify(trusted) });
  await eventually(BOOTSTRAP_SECONDS, async () => expect(isReady(await getOnSpoke(SPOKE, addon))).toBe(true));

  const kustomization = readFileSync(join(team.folder, overlay), "utf8");
  const marked = `images:
  - name: ghcr.io/stefanprodan/podinfo
    newName: ${IMAGE}
    newTag: 6.9.2 # {"$imagepolicy": "${APP}:payment-app:tag"}
`;
  writeFileSync(join(team.folder, overlay), kustomization + marked);
  const commit = await team.push("Let Flux raise the image of dev");

  writeKey = await onboardAgain();
  const registered = await execute(join(instance.paths.bin, "deploy-key"), ["--write", APP_REPOSITORY, writeKey]);
  expect(registered.code, registered.stdout + registered.stderr).toBe(0);
  await governance.push(`Commit the images of ${APP} on ${SPOKE}`);
  await fetchNow(SPOKE, "gitops-workloads", "flux-system");
  await fetchNow(SPOKE);
  await untilApplied(SPOKE, commit);
  await eventually(SCAN_SECONDS, async () => expect(isReady(await getOnSpoke(SPOKE, update))).toBe(true));
});
afterAll(async () => {
  await governance?.restore();
  await fetchNow(SPOKE, "gitops-workloads", "flux-system");
  await eventually(BOOTSTRAP_SECONDS, async () => expect(await isMissing(clusterOn(SPOKE), update)).toBe(true));
  // Flux has committed to it meanwhile.
  if (team !== undefined) await git(["pull", "--quiet", "--rebase"], team.folder);
  const restored = await team?.restore();
  await platform?.restore();
  if (writeKey !== "") await execute(join(instance.paths.bin, "deploy-key"), ["--remove", APP_REPOSITORY, writeKey]);
  await onSpoke(SPOKE, ["delete", "secret", AUTHORITY, "--namespace", APP, "--ignore-not-found"]);
  if (restored !== undefined) await untilApplied(SPOKE, restored);
  await untilReady(SPOKE);
});

describe("a new tag of an application's image", () => {
  test("is committed to the overlay of dev, and runs; the overlay of prod and everything else stay", async () => {
    const before = await headOfTeam();
    await publish("6.11.0-rc.1");
    await publish("6.10.0");
    await eventually(SCAN_SECONDS, async () => expect(await headOfTeam()).not.toBe(before));
    const after = await headOfTeam();
    const log = await git(["log", "--format=%an <%ae>%n%B", `${before}..${after}`], team.folder);
    expect(log).toContain(`Image automation on ${SPOKE} <image-automation@fleet.internal>`);
    expect(log).toContain("6.9.2 -> 6.10.0");
    const changed = await git(["diff", "--name-only", before, after], team.folder);
    expect(changed.trim()).toBe(overlay);
    // A pre-release is in no range that does not name one.
    const file = await git(["show", `${after}:${overlay}`], team.folder);
    expect(file).toContain(`newTag: 6.10.0 # {"$imagepolicy": "${APP}:payment-app:tag"}`);
    expect(await git(["diff", before, after, "--", prod], team.folder)).toBe("");

    await fetchNow(SPOKE);
    await untilApplied(SPOKE, after);
    await eventually(ROLLOUT_SECONDS, async () => {
      const { items } = await getOnSpoke(SPOKE, ["pods", "--namespace", APP]);
      const running = items
        .filter(isReady)
        .flatMap(({ spec }: { spec: { containers: { image: string }[] } }) =>
          spec.containers.map(({ image }) => image),
        );
      expect(new Set(running)).toEqual(new Set([`${IMAGE}:6.10.0`]));
    });
  });

  test("is committed with a key that opens no other repository", async () => {
    expect(await pushTo(APP_REPOSITORY)).toMatchObject({ code: 0 });
    for (const other of ["gitops-workloads", "gitops-system"]) {
      const refused = await pushTo(other);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain(other);
    }
  });

  test("is nothing that the team's Flux may order by itself, in no namespace", async () => {
    const deployer = ["--as", `system:serviceaccount:${APP}:deployer`];
    for (const kind of ["imagerepositories", "imagepolicies", "imageupdateautomations"])
      for (const namespace of [APP, "flux-system"]) {
        const asked = ["auth", "can-i", "create", `${kind}.image.toolkit.fluxcd.io`, "--namespace", namespace];
        expect((await tryOnSpoke(SPOKE, [...asked, ...deployer])).stdout.trim(), kind).toBe("no");
      }
  });
});

describe("the add-on, taken out of the Spoke", () => {
  const crds = ["imagepolicies", "imagerepositories", "imageupdateautomations"].map(
    (kind) => `${kind}.image.toolkit.fluxcd.io`,
  );

  test("stays as long as an application needs it, and says which one", async () => {
    await enable([], `Let ${SPOKE} commit no images`);
    await eventually(BOOTSTRAP_SECONDS, async () => {
      const { status } = await getOnSpoke(SPOKE, ["kustomization", "tools", "--namespace", "flux-system"]);
      expect(JSON.stringify(status.conditions)).toContain(`${APP}-auto-update still exists`);
    });
    expect(await isMissing(clusterOn(SPOKE), addon)).toBe(false);
    expect(await isMissing(clusterOn(SPOKE), ["imagepolicy", "payment-app", "--namespace", APP])).toBe(false);
  });

  test("goes after the application's folder, with its controllers and kinds", async () => {
    await governance.restore();
    await fetchNow(SPOKE, "gitops-workloads", "flux-system");
    await eventually(BOOTSTRAP_SECONDS, async () => {
      expect(await isMissing(clusterOn(SPOKE), update)).toBe(true);
      expect(await isMissing(clusterOn(SPOKE), addon)).toBe(true);
    });
    for (const name of ["image-automation-controller", "image-reflector-controller"])
      for (const kind of ["deployment", "serviceaccount"])
        expect(await isMissing(clusterOn(SPOKE), [kind, name, "--namespace", "flux-system"]), name).toBe(true);
    for (const crd of crds) expect(await isMissing(clusterOn(SPOKE), ["crd", crd]), crd).toBe(true);
    expect(await isMissing(clusterOn(SPOKE), ["secret", `${APP}-auto-update-git`, "--namespace", APP])).toBe(true);
  });
});
