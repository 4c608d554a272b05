import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { nextSteps } from "../../../cli/init/next.ts";
import type { InitRequest } from "../../../cli/init/request.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { root } from "../support/fleet.ts";
import { byToken, newProject } from "../support/init.ts";

const base = temporaryFolder("fleet-init-next");
/** What the tutorial asks for. */
const request: InitRequest = {
  ...newProject(base).request,
  folder: "../fleet",
  region: "eu-central-1",
  sampleAppUrl: "ssh://git@github.com/acme/payment-app-manifests.git",
  functionPackage: "ghcr.io/acme/function-spoke",
};

/** The commands of the tutorial that come after fleet init, or that init can't know to be done. */
const way = [
  /functions\/spoke\/package\/main\.ts$/m,
  /crane push --index .* ghcr\.io\/acme\/function-spoke:v[\d.]+$/m,
  /gh api orgs\/acme --jq \.deploy_keys_enabled_for_repositories/,
  /gh repo create acme\//,
  /push --set-upstream origin main/,
  /pulumi stack init pilot --secrets-provider/,
  /fleet doctor/,
  /git add stacks\/Pulumi\.pilot\.yaml && git commit/,
  /pulumi up/,
  /pulumi stack output kubeconfig .*> \.\.\/pilot\.kubeconfig && export KUBECONFIG=/,
  /kubectl get nodes/,
  /gh repo deploy-key add <\(pulumi stack output --json deployPublicKeys/,
  /fleet new-cluster green /,
  /commit -m "Add spoke green"/,
  /kubectl -n spokes get spoke green --watch/,
  /fleet onboard payment-app --cluster green/,
  /gh repo deploy-key add <\(echo '<the key that it printed>'\) --repo acme\/payment-app-manifests --title green/,
  /commit -m "Onboard payment-app on green"/,
  /aws eks update-kubeconfig .*--name pilot-spoke-green --kubeconfig \.\.\/green\.kubeconfig/,
  /kubectl --kubeconfig \.\.\/green\.kubeconfig -n payment-app get pods --watch/,
];
const inOrder = (text: string): number[] => {
  const positions: number[] = [];
  for (const pattern of way) {
    const from = positions.at(-1) ?? 0;
    const found = text.slice(from).search(pattern);
    expect(found, `${pattern} after ${text.slice(from, from + 80)}`).toBeGreaterThanOrEqual(0);
    positions.push(from + found);
  }
  return positions;
};

describe("the next steps of fleet init", () => {
  test("are the tutorial's, in its order", () => {
    inOrder(readFileSync(join(root, "docs", "tutorials", "first-spoke-on-aws.md"), "utf8"));
    inOrder(nextSteps(request));
  });

  test("name the version of the function that this checkout has", () => {
    const { version } = JSON.parse(readFileSync(join(root, "functions", "spoke", "package.json"), "utf8"));
    expect(nextSteps(request)).toContain(`ghcr.io/acme/function-spoke:v${version}\n`);
  });

  test("create the function's repository in Amazon ECR, and log in there without a token", () => {
    const host = "123456789012.dkr.ecr.eu-central-1.amazonaws.com";
    const steps = nextSteps({ ...request, functionPackage: `${host}/mirror/function-spoke` });
    const inEcr = [
      "aws ecr create-repository --region eu-central-1 --repository-name mirror/function-spoke ",
      `aws ecr get-login-password --region eu-central-1 | crane auth login ${host} --username AWS --password-stdin\n`,
      `${host}/mirror/function-spoke:v`,
    ];
    for (const command of inEcr) expect(steps).toContain(command);
    expect(steps).not.toMatch(/<user>|pull secret/);
    const tutorial = readFileSync(join(root, "docs", "tutorials", "first-spoke-on-aws.md"), "utf8");
    for (const command of inEcr) expect(tutorial).toContain(command);
  });

  test("set the digest that crane push prints, and publish no package whose digest is known", () => {
    expect(nextSteps(request)).toContain("functionPackage: ghcr.io/acme/function-spoke@sha256:<digest>\n");
    const functionPackage = `ghcr.io/acme/function-spoke@sha256:${"1".repeat(64)}`;
    const steps = nextSteps({ ...request, functionPackage });
    expect(steps).toContain(`Check that the hub can pull ${functionPackage}`);
    expect(steps).not.toContain("crane push");
  });

  test("leave the package to its document where the stack takes this project's", () => {
    const steps = nextSteps({ ...request, functionPackage: undefined });
    expect(steps).toContain("docs/guides/signatures.md#the-functions-package");
    expect(steps).not.toContain("crane push");
  });

  test("register no key where Git is read by token, and make no repository at a host that gh does not know", () => {
    const token = nextSteps({
      ...request,
      ...byToken,
      sampleAppUrl: "https://github.com/acme/payment-app-manifests.git",
    });
    expect(token).not.toContain("deploy-key add");
    expect(token).not.toContain("deploy_keys_enabled");
    expect(token).toContain("--token-file <file>");
    const elsewhere = "ssh://git@git.example.com/acme";
    const steps = nextSteps({
      ...request,
      systemUrl: `${elsewhere}/gitops-system.git`,
      workloadsUrl: `${elsewhere}/gitops-workloads.git`,
      sampleAppUrl: `${elsewhere}/payment-app-manifests.git`,
    });
    expect(steps).not.toMatch(/gh (repo|api)/);
    expect(steps).toContain(
      `# register the deploy key that it printed, read-only, at ${elsewhere}/payment-app-manifests.git`,
    );
  });
});
