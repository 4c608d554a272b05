import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { instantiate, withListed } from "../../../cli/folder.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { repos, sealed } from "../../repos/support/spoke.ts";
import { application } from "../support/application-seeds.ts";
import { type Change, removeCopies, replaced, spoke, withChanges } from "../support/seeds.ts";

afterAll(removeCopies);

const app = "payment-app";
const folder = `gitops-workloads/clusters/blue/${app}`;
const shop = "ssh://git@git.example.com/payment-app-manifests.git";

/** The application on the spoke blue, as fleet onboard --auto-update makes it. */
async function updated(): Promise<Change[]> {
  const template = await instantiate(join(repos, "gitops-workloads"), join("templates", "app-auto-update"), {
    ...{ app, cluster: "blue", path: "./overlays/dev", repositoryUrl: shop, revision: "main" },
    ...{ image: "shop", repository: "ghcr.io/acme/shop", registryProvider: "generic", range: ">=0.0.0" },
  });
  const files = { ...template, "images/credential.yaml": sealed(`${app}-auto-update-git`, app) };
  const listed = (change: Change): Change =>
    change.file === `${folder}/kustomization.yaml`
      ? { ...change, to: withListed(change.to, "components", "auto-update") }
      : change;
  return [
    ...(await application(app, "payments")).map(listed),
    ...Object.entries(files).map(([name, to]) => ({ file: `${folder}/auto-update/${name}`, to })),
  ];
}

/** What the check says of that, on a spoke with an add-on. */
const problems = async (addon: string, more: readonly Change[] = []) =>
  withChanges(
    [
      ...spoke("blue", "10.64.0.0/18"),
      replaced("gitops-system/spokes/fleet/blue/spoke.yaml", "  network:", `  addons: [${addon}]\n  network:`),
      ...(await updated()),
      ...more,
    ],
    (at) => check({ repos: at, build: buildText }).findings.map(({ problem }) => problem),
  );

describe("fleet check, of an application whose images are committed", () => {
  test("finds nothing wrong where the Spoke has the add-on", async () => {
    expect(await problems("image_automation")).toEqual([]);
  });

  test("finds the add-on missing where it is taken out of the Spoke before the application's folder", async () => {
    expect(await problems("metrics_server")).toEqual(
      expect.arrayContaining([
        `Kustomization ${app}-auto-update depends on flux-system/image-automation, which does not exist there`,
        "ImagePolicy shop: nothing installs the kinds of image.toolkit.fluxcd.io on the cluster",
      ]),
    );
  });

  test("finds the add-on on a Spoke of an environment that does not offer it", async () => {
    const prod = replaced("gitops-system/spokes/fleet/blue/spoke.yaml", "environment: dev", "environment: prod");
    expect(await problems("image_automation", [prod])).toContain(
      "Spoke blue: there is no add-on image_automation in ./tools/prod",
    );
  });

  test("finds the folder of one cluster in that of another", async () => {
    const elsewhere = replaced(`${folder}/auto-update/auto-update.yaml`, "clusters/blue/", "clusters/green/");
    expect(await problems("image_automation", [elsewhere])).toEqual([
      `Kustomization ${app}-auto-update applies ./clusters/green/${app}/auto-update/images, which gitops-workloads does not have`,
    ]);
  });
});
