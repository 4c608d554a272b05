import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { readStack } from "../../../cli/doctor/stack.ts";
import { readFiles } from "../../../cli/folder.ts";
import { nextSteps } from "../../../cli/init/next.ts";
import { contentNames } from "../../../cli/init/repositories.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { noPrograms } from "../doctor/support/programs.ts";
import { root } from "../support/fleet.ts";
import { byToken, inNewProjects } from "../support/init.ts";
import { found } from "../support/seeds.ts";

const { base, at, make, inFolder, git, stackFile, config } = inNewProjects("fleet-init-");

describe("fleet init", () => {
  test("writes both repositories ready to be pushed: branch main, one commit by you, origin, nothing left over", async () => {
    await make();
    expect(readdirSync(at.request.folder).sort()).toEqual(["gitops-system", "gitops-workloads"]);
    for (const name of ["gitops-system", "gitops-workloads"]) {
      expect(git(name, "symbolic-ref", "--short", "HEAD")).toBe("main");
      expect(git(name, "log", "--format=%an <%ae>")).toBe("Ada <ada@example.com>");
      expect(git(name, "remote", "get-url", "origin")).toBe(`ssh://git@github.com/acme/${name}.git`);
      expect(git(name, "status", "--porcelain", "--ignored")).toBe("");
    }
  });

  test("writes the content that the local stack publishes, and the fleet's own folders", async () => {
    await make({ sampleAppUrl: "ssh://git@github.com/acme/payment-app-manifests.git" });
    expect(readdirSync(at.request.folder).sort()).toEqual((await contentNames(at.project)).sort());
    for (const name of await contentNames(at.project)) {
      const written = Object.entries(await readFiles(inFolder(name))).filter(([path]) => !path.startsWith(".git/"));
      // The project of the tests is no Git checkout, so nothing can name its commit.
      const { CODEOWNERS: owners, ...published } = Object.fromEntries(
        Object.entries(await readFiles(join(root, "repos", name))).filter(([path]) => !/^\.git(hub|lab)/.test(path)),
      );
      expect(owners).toBeDefined();
      expect(Object.fromEntries(written)).toMatchObject(published);
      const own = written.map(([path]) => path).filter((path) => !(path in published) && path !== "CODEOWNERS");
      expect(own.sort()).toEqual(
        name === "gitops-system" ? ["clusters/pilot/kustomization.yaml", "spokes/pilot/README.md"] : [],
      );
    }
  });

  test("writes repositories in which fleet check finds nothing", async () => {
    await make({ sampleAppUrl: "ssh://git@github.com/acme/payment-app-manifests.git" });
    const report = check({ repos: at.request.folder, build: buildText });
    expect(found(report, at.request.folder)).toEqual([]);
    expect(report.clusters).toContain("hub");
  });

  test.each(["dev", "prod"])(
    "writes a stack file after %s that is complete and has nothing of somebody else's",
    async (example) => {
      await make({ example, admins: ["arn:aws:iam::123456789012:role/team"] });
      const { stack, findings } = await readStack(
        { root: at.project, stack: "pilot", configFile: undefined },
        noPrograms,
      );
      expect(findings).toMatchObject([{ status: "ok" }]);
      expect(stack).toMatchObject({
        region: "eu-west-1",
        accounts: ["123456789012"],
        settings: { fleet: "pilot", gitopsSystemRepoRevision: "main", endpointPublicAccess: true },
      });
      expect(readFileSync(stackFile(), "utf8")).not.toMatch(
        /example|111111111111|222222222222|203\.0\.113|10\.20\.|cost-center|fleet-(dev|prod)|refuses this block/,
      );
      expect(config()["eks-gitops-fleet:sealingKeys"]).toEqual([{ scope: "dev", generation: "1", active: true }]);
    },
  );

  test("gives principals access to the hub", async () => {
    const [admin, viewer] = ["team", "preview"].map((name) => `arn:aws:iam::123456789012:role/${name}`) as [
      string,
      string,
    ];
    await make({ admins: [admin], viewers: [viewer] });
    expect(config()).toMatchObject({
      "eks-gitops-fleet:clusterAdmins": [admin],
      "eks-gitops-fleet:clusterViewers": [viewer],
    });
  });

  test("takes a boundary, a path for roles and the function's package", async () => {
    const boundary = "arn:aws:iam::123456789012:policy/limits";
    await make({ boundary, rolePath: "/company/", functionPackage: "ghcr.io/acme/function-spoke" });
    expect(config()).toMatchObject({
      "eks-gitops-fleet:rolePath": "/company/",
      "eks-gitops-fleet:permissionsBoundary": boundary,
      "eks-gitops-fleet:functionPackage": "ghcr.io/acme/function-spoke",
    });
  });

  test("takes a private endpoint after prod in a VPC that exists, and says from where that hub is made", async () => {
    const inVpc = {
      example: "prod",
      publicAccessCidrs: [],
      privateAccessCidrs: ["10.30.0.0/16"],
      vpcId: "vpc-0123456789abcdef0",
      privateSubnetIds: ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
      egressCidrs: ["5.6.7.8/32"],
    };
    await make(inVpc);
    expect(config()).toMatchObject({
      "eks-gitops-fleet:endpointPublicAccess": false,
      "eks-gitops-fleet:endpointPrivateAccessCidrs": ["10.30.0.0/16"],
      "eks-gitops-fleet:vpcId": inVpc.vpcId,
      "eks-gitops-fleet:privateSubnetIds": inVpc.privateSubnetIds,
      "eks-gitops-fleet:egressCidrs": inVpc.egressCidrs,
    });
    for (const key of ["vpcCidr", "zones", "natGateways"])
      expect(config()).not.toHaveProperty(`eks-gitops-fleet:${key}`);
    const steps = nextSteps({ ...at.request, ...inVpc });
    expect(steps).toContain(
      `on a machine in 10.30.0.0/16 that reaches ${inVpc.vpcId} (docs/guides/deploy.md#private-endpoints)`,
    );
  });

  test("makes a hub after prod with a public endpoint first, and says how it becomes a private one", async () => {
    await make({ example: "prod" });
    expect(config()).toMatchObject({
      "eks-gitops-fleet:endpointPublicAccess": true,
      "eks-gitops-fleet:endpointPublicAccessCidrs": ["1.2.3.4/32"],
    });
    expect(nextSteps({ ...at.request, example: "prod" })).toContain("docs/guides/deploy.md#private-endpoints");
    expect(nextSteps(at.request)).not.toContain("docs/guides/deploy.md#private-endpoints");
  });

  test("commits every file, whatever your own ignore file says", async () => {
    const ignore = join(base, "ignore");
    writeFileSync(ignore, "*.yaml\n");
    execFileSync("git", ["config", "--global", "core.excludesFile", ignore], { env: at.env });
    await make();
    expect(git("gitops-system", "ls-files")).toContain("clusters/pilot/kustomization.yaml");
  });

  test("writes what Git has of the checkout, and nothing that only lies there", async () => {
    const inProject = (...args: string[]) => execFileSync("git", ["-C", at.project, ...args], { env: at.env });
    inProject("init", "--quiet");
    inProject("add", "--all");
    writeFileSync(join(at.project, "repos", "gitops-system", ".env"), "TOKEN=secret\n");
    await make();
    expect(readdirSync(inFolder("gitops-system"))).not.toContain(".env");
    expect(git("gitops-system", "ls-files")).toContain("platform/api/protection.yaml");
    expect(git("gitops-system", "status", "--porcelain", "--ignored")).toBe("");
  });

  test("commits with the identity that your configuration has for the folder", async () => {
    const own = join(base, "work.gitconfig");
    writeFileSync(own, "[user]\n\tname = Grace\n\temail = grace@example.com\n");
    const folder = dirname(at.request.folder);
    writeFileSync(at.env["GIT_CONFIG_GLOBAL"] ?? "", `[includeIf "gitdir:${folder}/"]\n\tpath = ${own}\n`);
    await make();
    expect(git("gitops-system", "log", "--format=%an <%ae>")).toBe("Grace <grace@example.com>");
    expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("leaves a token to be set as a secret, and is content without it until then", async () => {
    await make(byToken);
    expect(config()["eks-gitops-fleet:gitAuthentication"]).toBe("token");
    const steps = nextSteps({ ...at.request, ...byToken });
    expect(steps).toContain("pulumi config set --secret gitToken");
    expect(steps).not.toContain("deploy-key");
  });

  test("ends with the commands that come next, which fit the Git host", async () => {
    await make();
    const steps = nextSteps(at.request);
    for (const step of [
      "push --set-upstream origin main",
      "pulumi stack init pilot",
      "fleet doctor --stack pilot",
      'git add stacks/Pulumi.pilot.yaml && git commit -m "Add the stack pilot" stacks/Pulumi.pilot.yaml && git push',
      "pulumi up",
    ])
      expect(steps).toContain(step);
    expect(steps.indexOf("git add stacks/")).toBeGreaterThan(steps.indexOf("pulumi stack init"));
    expect(steps).toContain("--repo acme/gitops-system --title pilot-hub");
    expect(nextSteps({ ...at.request, systemUrl: "ssh://git@git.example.com/acme/gitops-system.git" })).toContain(
      `jq -r '."gitops-system"'   # at ssh://git@git.example.com/acme/gitops-system.git`,
    );
    expect(steps).not.toContain("new-fleet");
  });
});
