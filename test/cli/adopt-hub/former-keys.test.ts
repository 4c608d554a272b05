import { rootCertificates } from "node:tls";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { configLines, formerKeys } from "../../../cli/adopt-hub/former-keys.ts";
import type { Planned } from "../../../cli/adopt-hub/preview.ts";
import { formerSealingKeyList, sealingKeyList } from "../../../infra/sealing-keys.ts";
import { inAws } from "./support/hub.ts";

const [certificate = ""] = rootCertificates;
const secretName = (key: string) =>
  `shop/${key.startsWith("cluster-hub/") ? "hub-sealing-keys" : "sealing-keys"}/${key}`;
const arn = (key: string) => `arn:aws:secretsmanager:eu-central-1:111122223333:secret:${secretName(key)}-AbCdEf`;
const planned = (name: string): Planned => ({
  ...{ urn: name, type: "aws:secretsmanager/secret:Secret", inputs: { name }, from: {} },
  entry: { type: "", name },
});

/** What is found where AWS has some of the sealing keys that the stack would make. */
function found(there: readonly string[], ...others: readonly string[]) {
  const names = [...there, ...others].map(secretName);
  const named = new Map(there.map((name) => [secretName(name), { id: arn(name), certificate }]));
  return formerKeys([...names, "shop/git/gitops-system"].map(planned), { ...inAws, named }, "shop");
}
const sealing = (...args: Parameters<typeof found>) =>
  found(...args).sealing.map(({ scope, generation }) => `${scope}/${generation}`);

test("each scope gets a generation whose name was never used, or the one that a person has added", () => {
  expect(sealing(["dev/9", "dev/10", "prod/first"])).toEqual(["dev/11", "prod/first-2"]);
  expect(sealing(["dev/1"], "dev/after", "staging/1")).toEqual(["dev/after"]);
  expect(sealing([], "dev/1")).toEqual([]);
});

test("the lines for the stack's file are what the program reads, with each key and what opens what it sealed", () => {
  const config = parse(configLines("eks-gitops-fleet", found(["dev/1", "cluster-hub/2"])).join("\n"));
  const [own, former] = ["sealingKeys", "formerSealingKeys"].map((key) =>
    JSON.stringify(config[`eks-gitops-fleet:${key}`]),
  );
  expect(sealingKeyList.parse(own ?? "")).toEqual([
    { scope: "dev", generation: "2", active: true },
    { scope: "cluster-hub", generation: "3", active: true },
  ]);
  const read = formerSealingKeyList.parse(former ?? "") ?? [];
  expect(read.map(({ scope, generation, arn: its }) => [`${scope}/${generation}`, its])).toEqual([
    ["dev/1", arn("dev/1")],
    ["cluster-hub/2", arn("cluster-hub/2")],
  ]);
  expect(new Set(read.map(({ certificate: pem }) => pem.trim()))).toEqual(new Set([certificate.trim()]));
});
