import { type ControlPlane, startControlPlane } from "@eks-gitops-fleet/local/test";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { ApiException, CustomObjectsApi, KubeConfig } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isSchema, type Schema } from "../../lib/openapi.ts";
import { spokeApi } from "../../lib/spoke.ts";
import { customResourceDefinition, spokeSchema } from "../functions/spoke/support/definition.ts";
import { exampleNames, written } from "../functions/spoke/support/fixtures.ts";
import { type RuleCase, ruleCases, spokeWith } from "../functions/spoke/support/rule-cases.ts";
import { kubectlOf } from "./support/kubectl.ts";

/** The rules of the Spoke API, at a real API server without nodes: what does not compile, costs too much or refuses too little is found here. */

const namespace = "spokes";
const [group = "", version = ""] = spokeApi.apiVersion.split("/");
const spokes = { group, version, namespace, plural: spokeApi.plural };
const strict = { fieldValidation: "Strict" };
const asTry = { ...strict, dryRun: "All" };

let plane: ControlPlane;
let client: ReturnType<typeof kubectlOf>;
let api: CustomObjectsApi;

beforeAll(async () => {
  const toolchain = await ensureToolchain();
  plane = await startControlPlane(toolchain);
  client = kubectlOf(toolchain, plane);
  client.define([customResourceDefinition()]);
  client.apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
  const config = new KubeConfig();
  const server = `https://${plane.address}:6443`;
  config.loadFromClusterAndUser({ name: "hub", server, skipTLSVerify: true }, { name: "admin", token: plane.token });
  api = config.makeApiClient(CustomObjectsApi);
});
afterAll(() => plane?.stop());

/** What the API server says to a request: the message of its refusal, in one line, or nothing. */
const said = (request: Promise<unknown>): Promise<string> =>
  request.then(
    () => "",
    (error: unknown) => {
      if (!(error instanceof ApiException)) throw error;
      return String(JSON.parse(error.body).message).replaceAll(/\s+/g, " ");
    },
  );

/** Stores the Spoke that a change begins with, asks for the change and removes it again. */
async function update({ before = {}, change, status }: RuleCase): Promise<string> {
  const body = spokeWith(before);
  const made = await api.createNamespacedCustomObject({ ...spokes, ...strict, body });
  const one = { ...spokes, name: made.metadata.name };
  try {
    const { metadata } =
      status === undefined
        ? made
        : await api.replaceNamespacedCustomObjectStatus({ ...one, body: { ...made, status } });
    const wanted = spokeWith(change);
    const now = { ...(wanted["metadata"] as object), resourceVersion: metadata.resourceVersion };
    return await said(api.replaceNamespacedCustomObject({ ...one, ...asTry, body: { ...wanted, metadata: now } }));
  } finally {
    await api.deleteNamespacedCustomObject(one);
  }
}

const answers = new Map<RuleCase, string>();

/** What the API server says to a case, which is asked once. */
async function answerTo(each: RuleCase): Promise<string> {
  const body = spokeWith(each.change);
  const known =
    answers.get(each) ??
    (each.before === undefined
      ? await said(api.createNamespacedCustomObject({ ...spokes, ...asTry, body }))
      : await update(each));
  answers.set(each, known);
  return known;
}

/** The rules of a schema at every level, each by what its message begins with. */
function beginnings(schema: Schema): string[] {
  const own = (schema["x-kubernetes-validations"] ?? []) as Readonly<Record<"message" | "messageExpression", string>>[];
  const inner = [schema.items, schema["additionalProperties"], ...Object.values(schema.properties ?? {})];
  return [
    ...own.map(({ message, messageExpression = "" }) => message ?? /^'([^']*)/.exec(messageExpression)?.[1] ?? ""),
    ...inner.filter(isSchema).flatMap(beginnings),
  ].map((text) => text.replaceAll(/\s+/g, " "));
}

const title = ({ name, before, refused }: RuleCase) =>
  `${refused === undefined ? "takes" : "refuses"} ${name}${before === undefined ? "" : ", of a Spoke that is there"}`;

describe("the API server", () => {
  test.each(exampleNames)("takes the example %s", async (name) => {
    const object = written(name);
    const body = { ...object, metadata: { ...(object["metadata"] as object), namespace } };
    expect(await said(api.createNamespacedCustomObject({ ...spokes, ...asTry, body }))).toBe("");
  });

  test.each(ruleCases.map((each) => [title(each), each] as const))("%s", async (_, each) => {
    const answer = await answerTo(each);
    if (each.refused === undefined) expect(answer).toBe("");
    else expect(answer).toContain(each.refused);
  });

  test("refuses something by each rule, with its message", async () => {
    const rules = beginnings(spokeSchema);
    expect(rules.length).toBeGreaterThan(50);
    expect(new Set(rules).size).toBe(rules.length);
    const refusals: string[] = [];
    for (const each of ruleCases.filter(({ refused }) => refused !== undefined)) refusals.push(await answerTo(each));
    expect(rules.filter((text) => text === "" || !refusals.some((refusal) => refusal.includes(text)))).toEqual([]);
  });

  test.each([
    ["that names a field that is not there", "self.computee == 'auto'", "undefined field 'computee'"],
    [
      "that costs too much",
      "self.teams.all(a, self.teams.all(b, a.members.all(x, b.members.all(y, a.namespaces.all(n, b.namespaces.all(m, x.role.contains(y.role) || n.contains(m)))))))",
      "cost",
    ],
  ])("refuses a definition with a rule %s", (_, rule, why) => {
    const wrong = structuredClone(customResourceDefinition());
    const { spec } = wrong.spec.versions[0].schema.openAPIV3Schema.properties;
    spec["x-kubernetes-validations"].push({ rule });
    const { ok, text } = client.run(["replace", "--dry-run=server", "--filename", "-"], wrong);
    expect(ok).toBe(false);
    expect(text).toContain(why);
  });
});
