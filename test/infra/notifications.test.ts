import { rootCertificates } from "node:tls";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../infra/config.ts";
import { problemsWith } from "../support/config-problems.ts";
import { project, type Registered, runStack, stackConfig } from "../support/program.ts";

const own = (key: string) => `${project}:${key}`;
const HOOK = "https://hooks.slack.com/services/T0/B0/x1y2z3";
const TOKEN = "s3cr3tT0ken";

const channel = { name: "platform-team", type: "slack" };
const status = { name: "commits", type: "github" };
const secrets = { "platform-team": { address: HOOK }, commits: { token: TOKEN } };

const keysOf = (notifications: readonly object[], given: object = {}, more: Record<string, string> = {}) => ({
  [own("notifications")]: JSON.stringify(notifications),
  [own("notificationSecrets")]: JSON.stringify(given),
  ...Object.fromEntries(Object.entries(more).map(([key, value]) => [own(key), value])),
});
const problems = (notifications: readonly object[], given: object = {}, more: Record<string, string> = {}) =>
  problemsWith(keysOf(notifications, given, more));

describe("notifications are refused", () => {
  const github = { gitopsSystemRepoUrl: "ssh://git@github.com/org/gitops-system.git" };
  it.each<[string, object[], object, RegExp]>([
    ["of an unknown type", [{ name: "a", type: "pager" }], {}, /notifications: .*not allowed/],
    ["with an unknown member", [{ ...channel, token: "x" }], {}, /notifications: .*not allowed/],
    ["with a name that is none of Kubernetes", [{ ...channel, name: "The Team" }], {}, /notifications: .*not allowed/],
    ["with an unknown severity", [{ ...channel, severity: "fatal" }], {}, /notifications: .*not allowed/],
    ["about an unknown group of events", [{ ...channel, events: ["apps"] }], {}, /notifications: .*not allowed/],
    ["about nothing", [{ ...channel, events: [] }], {}, /notifications: .*not allowed/],
    [
      "to Slack without its webhook",
      [channel],
      {},
      /notificationSecrets: has no address for the notification platform/,
    ],
    [
      "to Slack's API without a token and a channel",
      [{ ...channel, address: "https://slack.com/api/chat.postMessage" }],
      {},
      /notificationSecrets: has no token[\s\S]*notifications: has no channel/,
    ],
    ["to Teams without its webhook", [{ name: "a", type: "msteams" }], {}, /notificationSecrets: has no address/],
    ["to nowhere", [{ name: "a", type: "generic" }], {}, /notifications: has no address for a/],
    [
      "signed without a token",
      [{ name: "a", type: "generic-hmac", address: "https://a.example" }],
      {},
      /notificationSecrets: has no token for the notification a: the calls are signed/,
    ],
    ["of commits without a token", [status], {}, /notificationSecrets: has no token for the notification commits/],
    [
      "of commits that fail and not of those that mend things",
      [{ ...status, severity: "error" }],
      secrets,
      /notifications: has severity error for commits/,
    ],
    [
      "of commits of Bitbucket Server, which does not find the repository",
      [{ ...status, type: "bitbucketserver" }],
      { commits: { token: TOKEN } },
      /notifications: has an address for commits that bitbucketserver does not take[\s\S]*\/scm\//,
    ],
    [
      "over plain HTTP, which shows the secret",
      [channel],
      { "platform-team": { address: HOOK.replace("https", "http") } },
      /notificationSecrets: has an address for platform-team that slack does not take[\s\S]*\(not shown\)/,
    ],
    [
      "with a channel where there is none",
      [{ name: "a", type: "generic", address: "https://a.example", channel: "c" }],
      {},
      /notifications: has a channel for a, which generic does not have/,
    ],
    ["with a name twice", [channel, channel], { "platform-team": { address: HOOK } }, /uses a name twice/],
    [
      "with an address beside a secret one",
      [{ ...channel, address: "https://slack.com/api/chat.postMessage", channel: "c" }],
      { "platform-team": { address: HOOK } },
      /notifications: has an address for platform-team that is not used[\s\S]*\(not shown\)/,
    ],
    ["with a secret of no notification", [], { gone: { token: TOKEN } }, /has a secret of no notification[\s\S]*gone/],
    ["with an empty secret", [channel], { "platform-team": {} }, /notificationSecrets: .*not allowed/],
    [
      "beyond what one role can read",
      Array.from({ length: 21 }, (_, index) => ({ name: `n${index}`, type: "generic", address: "https://a.example" })),
      {},
      /notifications: has more entries[\s\S]*at most 20/,
    ],
  ])("%s", (_, notifications, given, message) => {
    const text = problems(notifications, given, github)
      .map(({ key, what, got, allowed }) => `${key}: ${what}\n${got}\n${allowed}`)
      .join("\n");
    expect(text).toMatch(message);
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain("hooks.slack.com/services");
  });

  it("with secrets in plain text, without showing them", () => {
    const values = { ...stackConfig("dev"), ...keysOf([channel], secrets) };
    const { problems: found } = readConfig({ project, values, isSecret: () => false, region: "us-east-1" });
    expect(found).toMatchObject([{ key: "notificationSecrets", what: "is a secret and is in plain text" }]);
    expect(JSON.stringify(found)).not.toContain(HOOK);
  });

  it.each([
    [[channel, status], secrets],
    [
      [{ ...channel, address: "https://slack.com/api/chat.postMessage", channel: "platform" }],
      { "platform-team": { token: TOKEN } },
    ],
    [[{ name: "a", type: "generic", address: "http://alerts.monitoring:8080/flux", events: ["spokes"] }], {}],
    [
      [{ ...status, type: "bitbucketserver", address: "https://git.example/scm/fleet/gitops-system.git" }],
      { commits: { token: TOKEN } },
    ],
  ])("and good ones are not: %j", (notifications, given) => expect(problems(notifications, given, github)).toEqual([]));
});

describe("a stack with notifications", () => {
  const made = (notifications: readonly object[], given: object = {}, more: Record<string, string> = {}) =>
    runStack("prod", keysOf(notifications, given, more), [own("notificationSecrets"), own("gitToken")]);
  const ofKind = (resources: readonly Registered[], kind: string) =>
    resources.filter(({ inputs }) => inputs["kind"] === kind).map(({ inputs }) => inputs);
  const called = (name: string) => (resource: Registered) => resource.name === `notification-${name}-version`;

  it("keeps each secret in Secrets Manager, where only External Secrets on the hub reads it, and nowhere in plain text", async () => {
    const { resources } = await made([channel, status], secrets);
    const stored = resources.find(called("platform-team"));
    expect(stored).toMatchObject({ secrets: ["secretString"], protect: false });
    expect(JSON.parse(stored?.inputs["secretString"])).toEqual({ address: HOOK });
    const readers = resources
      .filter(({ type, inputs }) => type.startsWith("aws:iam/") && JSON.stringify(inputs).includes("/notifications/"))
      .map(({ parent }) => parent);
    expect(readers).toEqual(["eks-gitops-fleet:index:IrsaRole::external-secrets"]);
    const plain = JSON.stringify(resources.filter(({ type }) => !type.includes("SecretVersion")));
    expect(plain).not.toContain(HOOK);
    expect(plain).not.toContain(TOKEN);
  });

  it("tells a channel of failures of the platform and of what puts spokes up", async () => {
    const { resources } = await made([channel], { "platform-team": { address: HOOK } });
    const alerts = ofKind(resources, "Alert");
    expect(alerts).toMatchObject([
      {
        metadata: { name: "platform-team", namespace: "flux-system" },
        spec: {
          providerRef: { name: "platform-team" },
          eventSeverity: "error",
          eventSources: ["flux-system", "spokes"].flatMap((namespace) =>
            ["ArtifactGenerator", "GitRepository", "HelmChart", "HelmRelease", "HelmRepository", "Kustomization"].map(
              (kind) => ({ kind, name: "*", namespace }),
            ),
          ),
          eventMetadata: { fleet: "fleet-prod", cluster: "hub" },
        },
      },
    ]);
    const providers = ofKind(resources, "Provider").filter(({ apiVersion }) => /notification/.test(apiVersion));
    expect(providers.map(({ spec }) => spec)).toEqual([
      { type: "slack", secretRef: { name: "notification-platform-team" } },
    ]);
  });

  it("writes the state of commits to the Git host of gitops-system, from Kustomizations alone, failures and successes", async () => {
    const url = { gitopsSystemRepoUrl: "ssh://git@github.com/org/gitops-system.git" };
    const { resources } = await made(
      [{ ...status, events: ["platform"] }],
      { commits: { token: TOKEN } },
      {
        ...url,
        gitKnownHosts: `${stackConfig("prod")[own("gitKnownHosts")]}\ngithub.com ssh-ed25519 AAAA`,
      },
    );
    const [provider] = ofKind(resources, "Provider").filter(({ apiVersion }) => /notification/.test(apiVersion));
    expect(provider?.["spec"]).toMatchObject({ type: "github", address: "https://github.com/org/gitops-system.git" });
    expect(ofKind(resources, "Alert")[0]?.["spec"]).toMatchObject({
      eventSeverity: "info",
      eventSources: [{ kind: "Kustomization", name: "*", namespace: "flux-system" }],
    });
  });

  it("needs no secret for a server of one's own", async () => {
    const { resources } = await made([{ name: "own", type: "generic", address: "http://alerts.monitoring/flux" }]);
    const [provider] = ofKind(resources, "Provider").filter(({ apiVersion }) => /notification/.test(apiVersion));
    expect(provider?.["spec"]).toEqual({ type: "generic", address: "http://alerts.monitoring/flux" });
    expect(resources.some(called("own"))).toBe(false);
  });

  it("trusts the authorities of the private Git host at that host alone, whose address may be a secret", async () => {
    const gitCaCertificate = rootCertificates[0] as string;
    const url = "https://git.example/scm/fleet/gitops-system.git";
    const authorityFor = async (address: string) => {
      const more = {
        gitopsSystemRepoUrl: url,
        gitopsWorkloadsRepoUrl: url,
        gitAuthentication: "token",
        gitToken: TOKEN,
        gitCaCertificate,
      };
      const { resources } = await made(
        [{ ...status, type: "bitbucketserver" }],
        { commits: { token: TOKEN, address } },
        more,
      );
      return JSON.parse(resources.find(called("commits"))?.inputs["secretString"])["ca.crt"];
    };
    expect(await authorityFor(url)).toBe(gitCaCertificate);
    expect(await authorityFor("https://other.example/scm/fleet/gitops-system.git")).toBeUndefined();
  });

  it("removes them before Flux and External Secrets", async () => {
    const { resources } = await made([channel], { "platform-team": { address: HOOK } });
    const [component] = resources.filter(({ type }) => type === "eks-gitops-fleet:index:Notification");
    expect(component?.dependencies).toEqual(
      expect.arrayContaining([
        "kubernetes:helm.sh/v3:Release::flux-release",
        "kubernetes:helm.sh/v3:Release::external-secrets-release",
      ]),
    );
  });

  it("has nothing of it by default", async () => {
    const { resources } = await runStack("prod");
    expect(resources.filter(({ name }) => name.startsWith("notification"))).toEqual([]);
  });
});
