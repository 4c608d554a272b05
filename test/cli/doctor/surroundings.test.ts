import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureAuthority } from "@eks-gitops-fleet/local/clusters";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { readStack } from "../../../cli/doctor/stack.ts";
import { connectIn, readSurroundings, type Surroundings } from "../../../cli/doctor/surroundings.ts";
import { root } from "../support/fleet.ts";
import { devFile, noPrograms } from "./support/programs.ts";

const base = mkdtempSync(join(tmpdir(), "fleet-doctor-surroundings-"));
const stacks = join(base, "stacks");
const closing: (() => void)[] = [];
afterAll(() => {
  for (const close of closing) close();
  rmSync(base, { recursive: true });
});

const plain = async () => new Response("from anywhere");

describe("fleet doctor on an embedded cloud", () => {
  let authorities = "";
  let url = "";
  beforeAll(async () => {
    const authority = await ensureAuthority(join(base, "ca"), "ca", "test");
    const files = await authority.issue("git", { commonName: "git", addresses: ["git.fleet.internal"] });
    authorities = authority.certificate;
    const [cert, key] = [readFileSync(files.certificate), readFileSync(files.key)];
    const server = createServer({ cert, key }, (request, response) => response.end(`at ${request.headers.host}`));
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    closing.push(() => server.close());
    url = `https://git.fleet.internal:${(server.address() as AddressInfo).port}/`;
  });
  const surroundings = (change: Partial<Surroundings> = {}): Surroundings => ({
    stacks,
    authorities,
    hosts: { "git.fleet.internal": "127.0.0.1" },
    ...change,
  });

  test("reaches hosts by the addresses, and trusts the authorities, that its surroundings name", async () => {
    const answer = await connectIn(surroundings(), plain)("")(url, {});
    expect(await answer.text()).toBe(`at ${new URL(url).host}`);
  });

  test("trusts an authority of a credential beside them, and no other", async () => {
    const other = (await ensureAuthority(join(base, "other"), "ca", "other")).certificate;
    const distrustful = connectIn(surroundings({ authorities: other }), plain);
    await expect(distrustful("")(url, {})).rejects.toThrow();
    expect((await distrustful(authorities)(url, {})).status).toBe(200);
  });

  test("asks as everybody does where there is nothing to add", async () => {
    expect(await (await connectIn(undefined, plain)("")(url, {})).text()).toBe("from anywhere");
  });

  test("reads the file with which Pulumi runs the stack there, unless another is named", async () => {
    mkdirSync(stacks, { recursive: true });
    const dev = devFile();
    writeFileSync(join(stacks, "Pulumi.dev.yaml"), stringify({ ...dev, encryptionsalt: "v1:salt" }));
    const read = (configFile?: string, stack = "dev") =>
      readStack({ root, stack, configFile, surroundings: surroundings() }, noPrograms);
    expect((await read()).stack).toMatchObject({
      embedded: true,
      hasPassphrase: true,
      file: join(stacks, "Pulumi.dev.yaml"),
    });
    const named = join(root, "stacks", "Pulumi.dev.yaml");
    expect((await read(named)).stack?.file).toBe(named);
    expect((await read(undefined, "prod")).stack).toMatchObject({
      embedded: false,
      file: join(root, "stacks", "Pulumi.prod.yaml"),
    });
  });

  test("reads what FLEET_SURROUNDINGS names, and says what to do when that is gone", () => {
    const file = join(base, "surroundings.json");
    writeFileSync(file, JSON.stringify(surroundings()));
    expect(readSurroundings({ FLEET_SURROUNDINGS: file })).toEqual(surroundings());
    expect(readSurroundings({})).toBeUndefined();
    expect(() => readSurroundings({ FLEET_SURROUNDINGS: join(base, "none.json") })).toThrow("Run npm start again");
  });
});
