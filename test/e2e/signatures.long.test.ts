import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ensureSystemCommands } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { succeed } from "../support/process.ts";
import { fetchNow } from "./support/apps.ts";
import { eventually, get, git, scratch, upWith } from "./support/fleet.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import { BOOTSTRAP_SECONDS, fleet, getOnSpoke, sharedSpoke, system, untilReady, workloads } from "./support/spokes.ts";

/*
 * Clusters that apply only what is signed: hub and spoke, with signers of each repository's own. Keys are those of ssh-keygen; what Flux does
 * with OpenPGP's differs in the name of the file alone.
 */

const SPOKE = "blue";
/** Seconds from a push until Flux has looked at it. */
const FETCH_SECONDS = 120;

const inFlux = ["--namespace", "flux-system"];
const info = "platform/cluster-info/cluster-info.yaml";
const hubKustomization = "clusters/fleet/kustomization.yaml";

/** Somebody with a key; the path of the private half. */
async function person(name: string): Promise<{ readonly key: string; readonly publicKey: string }> {
  const key = join(scratch, name);
  await succeed("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", `${name}@example.com`, "-f", key]);
  return { key, publicKey: readFileSync(`${key}.pub`, "utf8") };
}
type Person = Awaited<ReturnType<typeof person>>;

let platform: Person;
let governance: Person;
let stranger: Person;
let ofSystem: Checkout;
let ofWorkloads: Checkout;

/** Has everything that is committed in a checkout from now on signed by somebody, or by nobody. */
async function signAs({ folder }: Checkout, whom: Person | undefined): Promise<void> {
  const settings = {
    "gpg.format": "ssh",
    "user.signingKey": whom?.key ?? "",
    "commit.gpgSign": String(whom !== undefined),
  };
  for (const [name, value] of Object.entries(settings)) await git(["config", name, value], folder);
}

/** Pushes a checkout of which the spoke has a source, and has that looked at. @returns the commit */
async function pushed(checkout: Checkout, repository: string, message: string): Promise<string> {
  const commit = await checkout.push(message);
  await fetchNow(SPOKE, repository, "flux-system");
  return commit;
}

/** Pushes a change of the hub's ConfigMap cluster-info that somebody, or nobody, signed. @returns the commit */
async function release(name: string, signer: Person | undefined): Promise<string> {
  await signAs(ofSystem, signer);
  await ofSystem.edit(info, (manifest) => ({ ...manifest, data: { ...manifest.data, release: name } }));
  return pushed(ofSystem, "gitops-system", `Release ${name}`);
}

/** Pushes a file of governance's that no cluster applies. @returns the commit */
async function govern(name: string, signer: Person | undefined): Promise<string> {
  await signAs(ofWorkloads, signer);
  await ofWorkloads.write("notes/signed.yaml", { note: name });
  return pushed(ofWorkloads, "gitops-workloads", `Note ${name}`);
}

interface Source {
  readonly revision: string;
  /** `status.conditions` of that type. */
  readonly verified: { readonly status: string; readonly reason: string; readonly message: string } | undefined;
  readonly verify: object | undefined;
}

const sourceOf = ({ spec, status }: Editable): Source => ({
  revision: status.artifact.revision.replace(/^main@sha1:/, ""),
  verified: status.conditions.find(({ type }: Editable) => type === "SourceVerified"),
  verify: spec.verify,
});
const onHub = async (name = "gitops-system") => sourceOf(await get(["gitrepository", name, ...inFlux]));
const onSpoke = async (name: string) => sourceOf(await getOnSpoke(SPOKE, ["gitrepository", name, ...inFlux]));
/** What the hub applied of {@link release}. */
const released = async (): Promise<string | undefined> =>
  (await get(["configmap", "cluster-info", ...inFlux])).data.release;

/** Waits until a source has a commit, and says who signed it. */
const untilHas = (source: () => Promise<Source>, commit: string) =>
  eventually(FETCH_SECONDS, async () =>
    expect(await source()).toMatchObject({ revision: commit, verified: { status: "True" } }),
  );

/** Waits until a source refuses a commit; it keeps the one from before. */
const untilRefuses = (source: () => Promise<Source>, commit: string, before: string, why: string) =>
  eventually(FETCH_SECONDS, async () => {
    const { revision, verified } = await source();
    expect(verified).toMatchObject({ status: "False", reason: "InvalidCommitSignature" });
    expect(verified?.message).toContain(`signature verification of commit '${commit}' failed: `);
    expect(verified?.message).toContain(why);
    expect(revision).toBe(before);
  });

const unsigned = "unsupported signature type: empty";
const foreign = "unable to verify payload with any of the given authorized keys";

/** The hub's commit that everything has before each refusal. */
let accepted: string;

beforeAll(async () => {
  await ensureSystemCommands(() => {});
  [platform, governance, stranger] = await Promise.all([person("platform"), person("governance"), person("stranger")]);
  await sharedSpoke(SPOKE, "dev");
  [ofSystem, ofWorkloads] = await Promise.all([system(), workloads()]);
  // The newest commits are signed before they have to be, as the guide says.
  accepted = await release("first", platform);
  const governed = await govern("first", governance);
  await eventually(FETCH_SECONDS, async () => expect(await released()).toBe("first"));
  await upWith((config) => ({
    ...config,
    gitVerification: {
      "gitops-system": { "platform.sshpub": platform.publicKey },
      "gitops-workloads": { "governance.sshpub": governance.publicKey },
    },
  }));
  await untilHas(onHub, accepted);
  await eventually(BOOTSTRAP_SECONDS, async () => {
    expect((await onSpoke("gitops-system")).verified?.status).toBe("True");
    expect((await onSpoke("gitops-workloads")).verified?.status).toBe("True");
  });
  expect((await onSpoke("gitops-workloads")).revision).toBe(governed);
  await untilReady(SPOKE);
});

afterAll(async () => {
  await upWith((config) => config);
  await eventually(BOOTSTRAP_SECONDS, async () => {
    for (const { verify } of [await onHub(), await onSpoke("gitops-system"), await onSpoke("gitops-workloads")])
      expect(verify).toBeUndefined();
  });
  for (const checkout of [ofSystem, ofWorkloads]) {
    if (checkout === undefined) continue;
    await signAs(checkout, undefined);
    await checkout.restore();
  }
  await eventually(FETCH_SECONDS, async () => expect(await released()).toBeUndefined());
  await untilReady(SPOKE);
});

describe("with gitVerification", () => {
  test("a signed commit is applied, and its source says with which key it was verified", async () => {
    accepted = await release("signed", platform);
    await untilHas(onHub, accepted);
    await untilHas(() => onSpoke("gitops-system"), accepted);
    await eventually(FETCH_SECONDS, async () => expect(await released()).toBe("signed"));
    expect((await onHub()).verified?.message).toContain("with key 'SHA256:");
  });

  test.each([
    ["that nobody signed", () => undefined, unsigned],
    ["that a stranger signed", () => stranger, foreign],
    ["that somebody signed who may sign the other repository only", () => governance, foreign],
  ])("a commit %s is applied nowhere, and fleet why says what to do", async (name, signer, why) => {
    const refused = await release(name, signer());
    await untilRefuses(onHub, refused, accepted, why);
    await untilRefuses(() => onSpoke("gitops-system"), refused, accepted, why);
    expect(await released()).toBe("signed");

    const reason = `GitRepository flux-system/gitops-system: signature verification of commit '${refused}' failed`;
    // Between two looks of Flux a source says for a moment that it is being read.
    await eventually(FETCH_SECONDS, async () => {
      const { code, stdout, stderr } = await fleet(["why", SPOKE]);
      expect(code, stdout + stderr).toBe(1);
      for (const part of [`hub: ${reason}`, `spoke: ${reason}`, "gitVerification", "docs/guides/signatures.md"])
        expect(stdout).toContain(part);
    });
  });

  test("a commit of governance's that nobody signed stays off the spoke, until a signed one is on top of it", async () => {
    const before = (await onSpoke("gitops-workloads")).revision;
    const refused = await govern("unsigned", undefined);
    await untilRefuses(() => onSpoke("gitops-workloads"), refused, before, unsigned);
    await eventually(FETCH_SECONDS, async () =>
      expect((await fleet(["why", SPOKE])).stdout).toContain(
        `spoke: GitRepository flux-system/gitops-workloads: signature verification of commit '${refused}' failed`,
      ),
    );

    const signed = await govern("signed", governance);
    await untilHas(() => onSpoke("gitops-workloads"), signed);
  });

  test("a signed commit on top brings what came before it, and what it adds to the hub's sources is verified, too", async () => {
    const stage = "gitops-system-stage";
    await ofSystem.write("clusters/fleet/stage.yaml", {
      apiVersion: "source.toolkit.fluxcd.io/v1",
      kind: "GitRepository",
      metadata: { name: stage, namespace: "flux-system" },
      spec: {
        url: "$" + "{gitops_system_repo_url}",
        ref: { branch: "main" },
        provider: "$" + "{git_provider}",
        secretRef: { name: "gitops-system" },
        interval: "1m",
      },
    });
    await ofSystem.edit(hubKustomization, ({ resources, ...manifest }) => ({
      ...manifest,
      resources: [...resources, "stage.yaml"],
    }));
    accepted = await release("on top", platform);
    await untilHas(onHub, accepted);
    await untilHas(() => onSpoke("gitops-system"), accepted);
    await eventually(FETCH_SECONDS, async () => expect(await released()).toBe("on top"));
    await untilHas(() => onHub(stage), accepted);
    expect((await onHub(stage)).verify).toEqual({ mode: "HEAD", secretRef: { name: "gitops-system-signers" } });
    await untilReady(SPOKE);
    expect((await fleet(["why", SPOKE])).stdout).not.toContain("signature verification");
  }, 900_000);
});
