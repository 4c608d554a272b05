import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { componentsOf } from "../../scripts/documents/components.ts";

const root = join(import.meta.dirname, "..", "..");
const components = componentsOf(root);
const { config } = parse(readFileSync(join(root, "Pulumi.yaml"), "utf8")) as { config: object };
const byName = new Map(components.map((component) => [component.name, component]));

/** What an example hands to components: the class, and the names of its arguments. */
function calls(example: string): { name: string; given: string[] }[] {
  const found: { name: string; given: string[] }[] = [];
  const visit = (node: ts.Node): void => {
    const [, args] = ts.isNewExpression(node) ? (node.arguments ?? []) : [];
    if (ts.isNewExpression(node))
      found.push({
        name: node.expression.getText(),
        given:
          args && ts.isObjectLiteralExpression(args) ? args.properties.map((one) => one.name?.getText() ?? "") : [],
      });
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("example.ts", example, ts.ScriptTarget.ES2023, true));
  return found;
}

describe.each(components.map((component) => [component.name, component] as const))("%s", (_, component) => {
  test("says what it is, what each argument and output means, and what a missing argument does", () => {
    const silent = [...component.args, ...component.outputs].filter(({ comment }) => comment.text === "");
    const withoutDefault = component.args.filter(({ optional, comment }) => optional && !comment.tags["default"]);
    const withNeedlessDefault = component.args.filter(({ optional, comment }) => !optional && comment.tags["default"]);
    expect(component.comment.text).not.toBe("");
    // What follows an @ in a sentence would be taken for a tag, and the sentence would end before it.
    const tags = [component, ...component.args, ...component.outputs].flatMap(({ comment }) =>
      Object.keys(comment.tags),
    );
    expect(tags.filter((tag) => !["default", "example", "throws"].includes(tag))).toEqual([]);
    expect([silent, withoutDefault, withNeedlessDefault].map((members) => members.map(({ name }) => name))).toEqual([
      [],
      [],
      [],
    ]);
  });

  test("shows in its examples all arguments that are needed, and none that there isn't", () => {
    const examples = (component.comment.tags["example"] ?? []).flatMap(calls);
    expect(examples.map(({ name }) => name)).toContain(component.name);
    // Resources of the SDKs (`new aws.iam.Role`) are theirs to document.
    for (const { name, given } of examples.filter(({ name }) => !name.includes("."))) {
      const args = byName.get(name)?.args ?? [];
      expect(byName.has(name), name).toBe(true);
      expect(given.filter((one) => !args.some((arg) => arg.name === one))).toEqual([]);
      expect(args.filter((arg) => !arg.optional && !given.includes(arg.name)).map((arg) => arg.name)).toEqual([]);
    }
  });
});

test("the library exports every component with the type of its arguments; the program stays what Pulumi runs", async () => {
  const entry = readFileSync(join(root, "components", "index.ts"), "utf8");
  const library: Record<string, unknown> = await import("eks-gitops-fleet/components");
  for (const { name } of components) {
    expect(library[name], name).toBeTypeOf("function");
    expect(entry).toMatch(new RegExp(`\\b${name}Args\\b`));
  }
  // Pulumi's runner takes "." before `main`.
  const { main, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect([main, exports["."]]).toEqual(["infra/index.ts", "./infra/index.ts"]);
});

/** Keys of Pulumi.yaml that a component takes as they are, with what its name says already. */
const words: readonly (readonly [component: string, prefix: string, ...keys: string[]])[] = [
  ["Network", "vpc", "vpcCidr", "zones", "availabilityZones", "privateSubnetCidrs", "publicSubnetCidrs", "natGateways"],
  ["HubCluster", "", "endpointPublicAccess", "endpointPublicAccessCidrs", "endpointPrivateAccess"],
  [
    "HubCluster",
    "",
    "endpointPrivateAccessCidrs",
    "permissionsBoundary",
    "logTypes",
    "logRetentionDays",
    "logKey",
    "kmsDeletionWindowDays",
  ],
  ["HubCluster", "cluster", "clusterAdmins", "clusterViewers", "deletionProtection", "protect"],
  ["HubCluster", "kubernetes", "kubernetesVersion"],
  ["HubNodes", "node", "nodeInstanceTypes", "nodeCapacityType", "nodeAmiType", "nodeReleaseVersion", "nodeDiskSize"],
  ["HubNodes", "node", "nodeMin", "nodeDesired", "nodeMax", "permissionsBoundary"],
  ["EncryptionKey", "", "kmsDeletionWindowDays", "protect"],
  ["SealingKeys", "sealing", "sealingKeys", "formerSealingKeys", "secretRecoveryWindowDays", "protect"],
  ["GitCredentials", "git", "gitAuthentication", "secretRecoveryWindowDays", "protect"],
  ["FluxSync", "git", "gitInterval"],
  ["GitReceiver", "gitReceiver", "gitReceiverGeneration", "gitReceiverCidrs"],
  ["ReceiverToken", "gitReceiver", "gitReceiverGeneration", "secretRecoveryWindowDays"],
  ["Flux", "controller", "controllerLogLevel"],
  ["Flux", "fleet", "fleetSize"],
];

test.each(words)("%s calls its arguments as Pulumi.yaml does, without %j", (component, prefix, ...keys) => {
  const args = byName.get(component)?.args.map(({ name }) => name);
  for (const key of keys) {
    expect(Object.keys(config)).toContain(key);
    const rest = key.startsWith(prefix) ? key.slice(prefix.length) : key;
    expect(args).toContain(rest.charAt(0).toLowerCase() + rest.slice(1));
  }
});
