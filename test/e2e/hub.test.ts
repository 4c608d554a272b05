import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CreateAccessKeyCommand,
  CreateUserCommand,
  DeleteAccessKeyCommand,
  DeleteUserCommand,
} from "@aws-sdk/client-iam";
import { describe, expect, test } from "vitest";
import { parse, parseDocument } from "yaml";
import { deploymentsOf, expectApplied, expectNodes, expectPods, hubControllers, isReady } from "../support/cluster.ts";
import { temporaryFolder } from "../support/temporary.ts";
import {
  account,
  aws,
  eventually,
  execute,
  get,
  git,
  helm,
  hub,
  instance,
  kubectl,
  outputs,
  realAws,
  secretData,
  tryKubectl,
} from "./support/fleet.ts";

const base = temporaryFolder("fleet-hub");
const { bridgeData: bridge, clusterName } = await outputs();

describe("what runs on the hub", () => {
  test("Flux, Crossplane and External Secrets come from the program's own Helm releases", async () => {
    const releases = JSON.parse(await helm(["list", "--all-namespaces", "--output", "json"]));
    expect(
      releases.map(({ namespace, name, status }: Record<string, string>) => `${namespace}/${name} ${status}`).sort(),
    ).toEqual([
      "crossplane-system/crossplane deployed",
      "external-secrets/external-secrets deployed",
      "flux-system/flux deployed",
    ]);
  });

  test("every controller is there and every pod is Ready", async () => {
    expect(await deploymentsOf(hub)).toEqual([...hubControllers, "kube-system/coredns"]);
    await expectPods(hub);
  });

  test("the composition function is installed and run by the digest in the stack, regardless of its tag", async () => {
    const digest = bridge.function_digest;
    expect(digest).toMatch(/^@sha256:[0-9a-f]{64}$/);
    const { spec, status } = await get(["functions.pkg.crossplane.io", "function-spoke"]);
    expect(spec.package.endsWith(digest), spec.package).toBe(true);
    for (const type of ["Installed", "Healthy"])
      expect(status.conditions).toContainEqual(expect.objectContaining({ type, status: "True" }));
    const selector = "pkg.crossplane.io/function=function-spoke";
    const pods = await get(["pods", "--namespace", "crossplane-system", "--selector", selector]);
    const images = pods.items.flatMap((pod: { spec: { containers: { image: string }[] } }) =>
      pod.spec.containers.map(({ image }) => image),
    );
    expect(images.length).toBeGreaterThan(0);
    // Crossplane puts the digest alone into the Deployment (crossplane v2.4.0, internal/controller/pkg/runtime/runtime_function.go, Post).
    for (const image of images) expect(image).toMatch(new RegExp(`^[^@]*/function-spoke${digest}$`));
  });

  test("nodes run the version that the program asks for and are Ready", async () => {
    await expectNodes(hub, bridge.kubernetes_version);
  });
});

describe("the way from Git to the hub", () => {
  const bare = join(instance.paths.git, "gitops-system.git");
  const head = async () => (await git(["--git-dir", bare, "rev-parse", "main"])).trim();

  test("the deploy key goes from Secrets Manager through External Secrets to Flux, which clones over SSH with it", async () => {
    const source = await get(["gitrepository", "gitops-system", "--namespace", "flux-system"]);
    expect(source.spec.url).toMatch(/^ssh:\/\/git@/);
    expect(source.spec.secretRef.name).toBe("gitops-system");
    expect(isReady(source)).toBe(true);
    expect(source.status.artifact.revision).toBe(`main@sha1:${await head()}`);
    const credential = await secretData("flux-system", "gitops-system");
    const { deployPublicKeys } = await outputs();
    expect(credential["identity.pub"]?.split(" ")[1]).toBe(deployPublicKeys["gitops-system"].split(" ")[1]);
    expect(credential["known_hosts"]).toContain("ssh-ed25519");
    const owner = await get(["secret", "gitops-system", "--namespace", "flux-system"]);
    expect(owner.metadata.ownerReferences[0].kind).toBe("ExternalSecret");
  });

  test("the deploy key may read its repository and not push to it", async () => {
    const credential = await secretData("flux-system", "gitops-system");
    writeFileSync(join(base, "identity"), credential["identity"] ?? "", { mode: 0o600 });
    writeFileSync(join(base, "known_hosts"), credential["known_hosts"] ?? "");
    const options = `-F /dev/null -i ${join(base, "identity")} -o IdentitiesOnly=yes -o UserKnownHostsFile=${join(base, "known_hosts")}`;
    // This machine doesn't resolve the name: HostKeyAlias keeps the check of the host key by its name.
    const env = {
      GIT_SSH_COMMAND: `ssh ${options} -o StrictHostKeyChecking=yes -o HostKeyAlias=[git.fleet.internal]:2222`,
    };
    const url = `ssh://git@${instance.gatewayAddress}:2222/gitops-system.git`;
    const clone = join(base, "by-key");
    expect(await execute("git", ["clone", "--quiet", url, clone], { env })).toMatchObject({ code: 0 });
    await git(["commit", "--quiet", "--allow-empty", "--message", "Try to push"], clone);
    const push = await execute("git", ["-C", clone, "push"], { env });
    expect(push.code).not.toBe(0);
    expect(push.stderr).toContain("may only read gitops-system");
  });

  test("everything that clusters/fleet names is applied and Ready at the head of the branch", async () => {
    await expectApplied(hub, "main", await head());
  });

  test("manifests get their variables from the hub's cluster secret", async () => {
    const { data } = await get(["configmap", "cluster-info", "--namespace", "flux-system"]);
    const { cluster_name, environment, aws_account_id, aws_region, kubernetes_version } = await secretData(
      "flux-system",
      "cluster-hub",
    );
    expect(data).toEqual({ cluster_name, environment, aws_account_id, aws_region, kubernetes_version });
    expect(data).toMatchObject({ cluster_name: "hub", aws_account_id: "000000000000" });
  });

  test("a person's push is applied, and taken back by a revert", async () => {
    const clone = join(base, "person");
    await git(["clone", "--quiet", bare, clone]);
    const file = join(clone, "platform", "cluster-info", "cluster-info.yaml");
    const document = parseDocument(readFileSync(file, "utf8"));
    document.setIn(["data", "greeting"], "hello");
    writeFileSync(file, document.toString());
    await git(["commit", "--quiet", "--all", "--message", "Say hello"], clone);
    await git(["push", "--quiet"], clone);
    const greeting = async () => (await get(["configmap", "cluster-info", "--namespace", "flux-system"])).data.greeting;
    await eventually(120, async () => expect(await greeting()).toBe("hello"));
    await git(["revert", "--no-edit", "HEAD"], clone);
    await git(["push", "--quiet"], clone);
    await eventually(120, async () => expect(await greeting()).toBeUndefined());
  });
});

describe("the cluster secret", () => {
  test("carries exactly the bridge that the stack shows, and no credential", async () => {
    const data = await secretData("flux-system", "cluster-hub");
    expect(data).toEqual(bridge);
    for (const [key, value] of Object.entries(data)) {
      expect(key).toMatch(/^[a-z][a-z0-9_]*$/);
      expect(value, key).not.toMatch(
        /-----BEGIN|^ey[A-Za-z0-9_-]+\.ey|k8s-aws-v1\.|(?:AKIA|ASIA)[A-Z0-9]{16}|password|token/i,
      );
    }
  });

  test("can't be given a credential: admission refuses the key, and lets a fact through", async () => {
    const secret = (key: string) => ({
      input: JSON.stringify({
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          name: "cluster-test",
          namespace: "spokes",
          labels: { "fleet.internal/cluster": "test", "fleet.internal/role": "spoke" },
        },
        stringData: { [key]: "value" },
      }),
    });
    const apply = ["apply", "--dry-run=server", "--filename", "-"];
    expect(await tryKubectl(apply, secret("aws_region"))).toMatchObject({ code: 0 });
    for (const key of ["token", "bearerToken", "kubeconfig", "aws_secret_access_key", "tls.key"]) {
      const { code, stderr } = await tryKubectl(apply, secret(key));
      expect(code, key).toBe(1);
      expect(stderr).toContain(`a cluster secret holds facts about a cluster, never a credential: got the keys ${key}`);
    }
  });
});

describe("kubectl as against EKS", () => {
  const kubeconfig = join(base, "kubeconfig");
  // `aws eks update-kubeconfig` writes plain `aws`, as on AWS; here it is the instance's.
  const PATH = `${instance.paths.bin}:${process.env["PATH"]}`;

  test("aws eks update-kubeconfig gives the deployer access", async () => {
    await aws(["eks", "update-kubeconfig", "--name", clusterName, "--kubeconfig", kubeconfig]);
    const whoami = await kubectl(["--kubeconfig", kubeconfig, "auth", "whoami", "--output", "json"], { env: { PATH } });
    expect(JSON.parse(whoami).status.userInfo.username).toContain(":user/deployer");
  });

  test("the instance's kubeconfig has a context named like the cluster and stores no token", () => {
    const text = readFileSync(instance.paths.kubeconfig, "utf8");
    expect(parse(text).contexts.map(({ name }: { name: string }) => name)).toEqual([clusterName]);
    expect(text).not.toMatch(/token:|client-key-data|password/);
  });

  test("the stack's own kubeconfig output works too", async () => {
    const file = join(base, "from-output");
    const { kubeconfig: output } = await outputs();
    writeFileSync(file, typeof output === "string" ? output : JSON.stringify(output), { mode: 0o600 });
    expect(await kubectl(["--kubeconfig", file, "auth", "can-i", "*", "*"], { env: { PATH } })).toBe("yes\n");
  });

  test("an IAM user without an access entry is not let in", async () => {
    const UserName = "stranger";
    await account.iam.send(new CreateUserCommand({ UserName }));
    const { AccessKey } = await account.iam.send(new CreateAccessKeyCommand({ UserName }));
    try {
      const env = {
        AWS_ACCESS_KEY_ID: AccessKey?.AccessKeyId ?? "",
        AWS_SECRET_ACCESS_KEY: AccessKey?.SecretAccessKey ?? "",
      };
      // The wrapper's profile would win over keys in the environment, so the real aws is asked for the token.
      const token = JSON.parse(await aws(["eks", "get-token", "--cluster-name", clusterName], {})).status.token;
      expect(
        await tryKubectl(["--token", token, "--kubeconfig", "/dev/null", ...server(), "auth", "whoami"]),
      ).toMatchObject({ code: 0 });
      const other = JSON.parse(
        (
          await execute(realAws(), ["eks", "get-token", "--cluster-name", clusterName], {
            env: { ...endpoint, ...env },
          })
        ).stdout,
      ).status.token;
      const refused = await tryKubectl(["--token", other, "--kubeconfig", "/dev/null", ...server(), "auth", "whoami"]);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(/Unauthorized|must be logged in/);
    } finally {
      await account.iam.send(new DeleteAccessKeyCommand({ UserName, AccessKeyId: AccessKey?.AccessKeyId }));
      await account.iam.send(new DeleteUserCommand({ UserName }));
    }
  });

  const endpoint = { AWS_ENDPOINT_URL: instance.awsEndpoint, AWS_DEFAULT_REGION: "us-east-1" };

  /** Address and CA of the hub as kubectl flags. */
  function server(): string[] {
    const [{ cluster }] = parse(readFileSync(instance.paths.kubeconfig, "utf8")).clusters;
    const ca = join(base, "cluster-ca.crt");
    writeFileSync(ca, Buffer.from(cluster["certificate-authority-data"], "base64"));
    return ["--server", cluster.server, "--certificate-authority", ca];
  }
});
