import { afterAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { check } from "../../../cli/check/check.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { pgpKey, sshKey } from "../../support/signers.ts";
import { found, removeCopies, withChanges } from "../support/seeds.ts";

afterAll(removeCopies);

/** The rules that a Secret with these values breaks. */
const broken = (values: object) => {
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "signers" }, ...values };
  const change = { file: "gitops-workloads/notes/signers.yaml", to: stringify(secret) };
  return withChanges([change], (folder) =>
    found(check({ repos: folder, build: buildText }), folder).map(({ rule, file }) => `${rule} ${file}`),
  );
};
const refused = ["plain-secret gitops-workloads/notes/signers.yaml"];

describe("fleet check", () => {
  test("lets a Secret pass that has public keys of people who sign commits", () => {
    expect(broken({ stringData: { "alice.asc": pgpKey, "bob.sshpub": sshKey } })).toEqual([]);
  });

  test.each([
    ["a password beside them", { stringData: { "bob.sshpub": sshKey, password: "t0ps3cret" } }],
    ["a password under the name of one", { stringData: { "bob.sshpub": "t0ps3cret" } }],
    ["a value in base64 beside them", { stringData: { "bob.sshpub": sshKey }, data: { password: "dDBwczNjcmV0" } }],
  ])("does not let one pass with %s", (_, values) => expect(broken(values)).toEqual(refused));
});
