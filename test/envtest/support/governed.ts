import { join } from "node:path";
import { substituted } from "../../repos/support/flux.ts";
import { build, type Manifest } from "../../repos/support/kustomize.ts";
import { app, instantiated, type Rendered, repos, sealed } from "../../repos/support/spoke.ts";

/** Everything that the templates of gitops-workloads become for one application on one cluster, with every option of `fleet onboard`. */

const placeholders = {
  ...app,
  ...{ app: "shop", cluster: "blue", path: "./overlays/dev", type: "github", events: "[push]" },
  ...{ address: "https://github.com/example/shop", image: "shop", repository: "registry.example/shop" },
  ...{ registryProvider: "generic", range: ">=1.0.0" },
};
const { app: name } = placeholders;

const credentials = {
  "app/credential.yaml": sealed(`${name}-git`, name),
  "app-receiver/token.yaml": sealed("git-receiver", name),
  "app-commit-status/token.yaml": sealed("commit-status", name),
  "app-auto-update/images/credential.yaml": sealed(`${name}-auto-update-git`, name),
};
const options = ["../app-receiver", "../app-commit-status", "../app-auto-update", "../app-ack"];

export const governed = ({ bridge }: Rendered): readonly Manifest[] =>
  instantiated(join(repos, "gitops-workloads", "templates"), placeholders, credentials, (folder) =>
    [
      ...build(join(folder, "app"), options),
      ...["app-auto-update/images", "argocd", "argocd/cluster", "argocd/applications"].flatMap((each) =>
        build(join(folder, each)),
      ),
    ].map((manifest) => substituted(manifest, bridge)),
  );
