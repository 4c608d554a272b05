import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { AppAccess } from "../../../cli/app/credential.ts";
import { onboardApp } from "../../../cli/app/folder.ts";
import { run } from "../../../cli/app/onboard.ts";
import type { AppRequest } from "../../../cli/app/rules.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { build, documents, files } from "../../repos/support/kustomize.ts";
import { request } from "../support/apps.ts";
import { inNewCases } from "../support/cases.ts";
import { printed, traces } from "../support/receivers.ts";

const { at, dev } = await inNewCases("fleet-onboard-auto-update-", "gitops-workloads");

const TOKEN = "glpat-0f1e2d3c";
const image = "ghcr.io/acme/shop";
const ecr = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/acme/shop_worker";
const https = { repositoryUrl: "https://git.example/payments/app.git" };

const system = () => join(dirname(at.checkout), "gitops-system");
const writeSpoke = (addons: string): void => {
  const folder = join(system(), "spokes", "fleet", "blue");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "spoke.yaml"),
    `kind: Spoke\nmetadata: { name: blue }\nspec: { environment: dev, addons: [${addons}] }\n`,
  );
};
beforeEach(() => writeSpoke("image_automation"));

const onboard = (more: Partial<AppRequest> = {}, access: AppAccess = {}, from: string | undefined = system()) =>
  onboardApp(at.checkout, { ...request, autoUpdate: [image], ...more }, async () => at.fleet, access, from);
const problems = (...given: Parameters<typeof onboard>) =>
  onboard(...given).then(
    () => expect.fail("it was accepted"),
    (error: Error) => error.message,
  );
const made = (folder: string) => build(join(folder, "auto-update", "images"));
const spec = (folder: string, kind: string) => made(folder).find((object) => object.kind === kind)?.spec;

describe("fleet onboard for new images", () => {
  test("adds a Kustomization of its own, which the spoke's Flux finds in the application's folder", async () => {
    const { folder } = await onboard();
    expect(parse(readFileSync(join(folder, "kustomization.yaml"), "utf8")).components).toEqual(["auto-update"]);
    const [sync] = documents(join(folder, "auto-update", "auto-update.yaml"));
    expect(build(folder).map(({ metadata }) => metadata.name)).toContain("payment-app-auto-update");
    expect(join(at.checkout, sync?.spec.path)).toBe(join(folder, "auto-update", "images"));
    for (const file of files(folder)) expect(readFileSync(file, "utf8"), file).not.toMatch(/__[a-zA-Z]+__/);
  });

  test("commits below the overlay that Flux applies, on its branch", async () => {
    const { folder } = await onboard({ path: "./overlays/dev-eu", revision: "trunk" });
    expect(spec(folder, "ImageUpdateAutomation").update.path).toBe("./overlays/dev-eu");
    expect(spec(folder, "GitRepository").ref).toEqual({ branch: "trunk" });
  });

  test("watches each image with a policy, all released versions unless a range is given, ECR by the add-on's role", async () => {
    const { folder } = await onboard({ autoUpdate: [image, ecr] });
    const of = (kind: string) => made(folder).filter((object) => object.kind === kind);
    expect(of("ImageRepository").map(({ metadata, spec }) => [metadata.name, spec.image, spec.provider])).toEqual([
      ["shop", image, "generic"],
      ["shop-worker", ecr, "aws"],
    ]);
    expect(of("ImagePolicy").map(({ spec }) => [spec.imageRepositoryRef.name, spec.policy.semver.range])).toEqual([
      ["shop", ">=0.0.0"],
      ["shop-worker", ">=0.0.0"],
    ]);
    rmSync(folder, { recursive: true });
    const narrow = await onboard({ autoUpdateRange: ">=1.0.0-0 <2.0.0" });
    expect(spec(narrow.folder, "ImagePolicy").policy.semver.range).toBe(">=1.0.0-0 <2.0.0");
  });

  test("has a deploy key of its own for that, and the one that reads stays another", async () => {
    const { publicKey, writeKey } = await onboard();
    const [reading, writing] = at.kubeseal.calls().map(({ input }) => input);
    expect(reading?.metadata.name).toBe("payment-app-git");
    expect(writing?.metadata).toEqual({ name: "payment-app-auto-update-git", namespace: "payment-app" });
    expect(fromBase64(writing?.data ?? {})["identity.pub"]).toBe(writeKey);
    expect(fromBase64(reading?.data ?? {})["identity.pub"]).toBe(publicKey);
    expect(writeKey).toMatch(/ payment-app-auto-update@blue$/);
    expect(writeKey?.split(" ")[1]).not.toBe(publicKey?.split(" ")[1]);
  });

  test("notes the key that writes, so that it can be replaced as well", async () => {
    const { folder, writeKey } = await onboard();
    const sealed = parse(readFileSync(join(folder, "auto-update", "images", "credential.yaml"), "utf8"));
    expect(sealed.metadata.annotations["fleet.internal/deploy-key"]).toBe(writeKey);
  });

  test("over HTTPS takes a token for that, which is written nowhere and is not the one that reads", async () => {
    const { folder, writeKey } = await onboard(https, { token: "read", autoUpdateToken: `${TOKEN}\n` });
    expect(writeKey).toBeUndefined();
    const [reading, writing] = at.kubeseal.calls();
    expect(fromBase64(reading?.input.data ?? {})).toMatchObject({ password: "read" });
    expect(fromBase64(writing?.input.data ?? {})).toMatchObject({ username: "git", password: TOKEN });
    expect(traces(TOKEN, at.checkout, at.kubeseal.calls())).toEqual([]);
    expect(spec(folder, "GitRepository").url).toBe(https.repositoryUrl);
  });

  test("adds nothing where it is not asked for", async () => {
    const { folder } = await onboard({ autoUpdate: undefined });
    expect(existsSync(join(folder, "auto-update"))).toBe(false);
    expect(at.kubeseal.calls()).toHaveLength(1);
  });

  test("prints which key has to be registered with write access, and the lines for the team's overlay", async () => {
    mkdirSync(join(system(), "templates", "fleet"), { recursive: true });
    const { known_hosts: hosts = "" } = await at.fleet.credential("gitops-workloads");
    const said = await printed(
      run,
      at.kubeseal.program,
      [
        ...["shop", "--cluster", "blue", "--tenant", "payments", "--repository-url", request.repositoryUrl],
        ...["--auto-update", image, "--fleet", "fleet", "--repository", at.checkout, "--system", system()],
      ],
      { certificate: dev, "known-hosts": hosts },
    );
    expect(said).toMatch(/Register this read-only deploy key at ssh:.*:\n {3}ssh-ed25519 \S+ shop@blue\n/);
    expect(said).toMatch(/this deploy key, with write access, at ssh:.*:\n {3}ssh-ed25519 \S+ shop-auto-update@blue\n/);
    expect(said).toContain(`- name: ${image}\n`);
    expect(said).toContain('newTag: 1.0.0 # {"$imagepolicy": "shop:shop:tag"}');
    expect(said).toContain("./overlays/dev/kustomization.yaml");
  });
});

describe("fleet onboard refuses to commit new images", () => {
  test("on a spoke without the add-on, as all are whose environment does not offer it", async () => {
    writeSpoke("metrics_server");
    const message = await problems();
    expect(message).toMatch(/--auto-update: needs the add-on image_automation on the spoke blue/);
    expect(message).toMatch(/spec\.addons: \[metrics_server\] in .*spoke\.yaml/);
    expect(message).toContain("leave --auto-update out where dev changes by pull request only");
  });

  test("where no checkout says which add-ons the spoke has", async () => {
    expect(
      await onboardApp(at.checkout, { ...request, autoUpdate: [image] }, async () => at.fleet).catch(String),
    ).toMatch(/--auto-update: needs the add-on[\s\S]*name the checkout with --system/);
  });

  test.each([
    "shop",
    "acme/shop",
    "ghcr.io/acme/shop:1.0.0",
    "ghcr.io/acme/shop@sha256:00",
    "https://ghcr.io/acme/shop",
    "ghcr.io/Acme/shop",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Flux would substitute it
    "ghcr.io/${tenant}/shop",
  ])("%s, which is no image without a tag", async (wrong) => {
    expect(await problems({ autoUpdate: [wrong] })).toMatch(/--auto-update: is not the name of an image without a tag/);
  });

  test("two images whose policies would have one name", async () => {
    expect(await problems({ autoUpdate: [image, "ghcr.io/other/shop"] })).toMatch(
      /--auto-update: ends like another one/,
    );
  });

  // biome-ignore lint/suspicious/noTemplateCurlyInString: Flux would substitute it
  test.each(["", '1.x"', "1.x\n", "${x}"])("the range %j", async (autoUpdateRange) => {
    expect(await problems({ autoUpdateRange })).toMatch(/--auto-update-range: is not a range of versions/);
  });

  test.each([".", "./", ".//", "./.", "./overlays/.."])(
    "the path %s, which holds the overlays of all environments",
    async (path) => {
      expect(await problems({ path })).toMatch(/--path: is the whole repository, to which --auto-update would commit/);
    },
  );

  test("a name that is too long with what it makes of it", async () => {
    const app = "a".repeat(52);
    expect(await problems({ app })).toMatch(/<app>: is too long for --auto-update[\s\S]*at most 51 characters/);
    // Its role's name is another limit.
    expect(await problems({ app: "a".repeat(51) })).not.toMatch(/is too long for --auto-update/);
  });

  test("https:// without a token, and a token for ssh://", async () => {
    expect(await problems(https, { token: "read" })).toMatch(/--auto-update-token-file: is missing/);
    const message = await problems({}, { autoUpdateToken: TOKEN });
    expect(message).toMatch(/--auto-update-token-file: does not fit an ssh:\/\/ URL/);
    expect(message).not.toContain(TOKEN);
  });

  test("what belongs to new images that nobody asked for", async () => {
    const message = await problems({ autoUpdate: undefined, autoUpdateRange: "1.x" }, { autoUpdateToken: TOKEN });
    expect(message).toMatch(/--auto-update-range: has no effect without --auto-update/);
    expect(message).toMatch(/--auto-update-token-file: has no effect without --auto-update/);
  });
});
