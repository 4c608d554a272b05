import { readdirSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import { accountContext } from "../../../../gateway/eks/account-context.ts";
import { eksApi } from "../../../../gateway/eks/router.ts";
import { openStore } from "../../../../gateway/eks/store.ts";
import { clusterIdOf, parseClusterId } from "../../../../instance/index.ts";
import { scratch } from "../../../support/scratch.ts";
import { ACCOUNT, CALLER, callsOf, place } from "../calls.ts";
import { type FakeClusters, fakeClusters } from "./fake-clusters.ts";
import { clusterBody, fakeAws } from "./fakes.ts";

const OTHER = "222222222222";
const ofAccount = (arn: string, account: string) => arn.replace(ACCOUNT, account);

let clusters: FakeClusters;
let woken: string[];
let folder: string;
let call: (account: string, method: string, path: string, body?: object) => Promise<{ status: number; body: unknown }>;

/** IAM of an account, with the same roles in each. */
function awsOf(account: string) {
  const aws = fakeAws();
  const role = async (name: string) => {
    const found = await aws.role(name);
    return found && { ...found, id: `${found.id}-${account}`, arn: ofAccount(found.arn, account) };
  };
  return { ...aws, role };
}

const inAllAccounts = async () => ({
  ...{ ...place, clusters, store: await openStore(folder), aws: awsOf(ACCOUNT), awsOf, now: () => 1 },
  wake: (id: string) => void woken.push(id),
});

beforeEach(async () => {
  clusters = fakeClusters();
  woken = [];
  folder = scratch("fleet-eks-");
  const whole = await inAllAccounts();
  call = (account, method, path, body) => {
    const context = accountContext(whole, account);
    return callsOf((request, by) => eksApi(request, context, by)).call(method, path, body, {
      caller: ofAccount(CALLER, account),
    });
  };
});

const create = (account: string, name: string) =>
  call(account, "POST", "/clusters", clusterBody(name, { roleArn: `arn:aws:iam::${account}:role/cluster` }));

test("accounts have clusters of the same name, see their own only, and give them addresses of their own", async () => {
  for (const account of [ACCOUNT, OTHER]) expect(await create(account, "same")).toMatchObject({ status: 200 });
  expect(await create(OTHER, "more")).toMatchObject({ status: 200 });
  expect((await call(ACCOUNT, "GET", "/clusters")).body).toEqual({ clusters: ["same"] });
  expect((await call(OTHER, "GET", "/clusters")).body).toEqual({ clusters: ["more", "same"] });
  expect(await call(OTHER, "GET", "/clusters/same")).toMatchObject({
    body: { cluster: { name: "same", arn: `arn:aws:eks:us-east-1:${OTHER}:cluster/same` } },
  });
  expect(await call(ACCOUNT, "GET", "/clusters/more")).toMatchObject({ status: 404 });
  const numbers = (await openStore(folder)).list().map(({ number }) => number);
  expect(new Set(numbers).size).toBe(3);
});

test("a cluster of another account has its account behind its name in the instance, and keeps it over a restart", async () => {
  await create(ACCOUNT, "same");
  await create(OTHER, "same");
  expect(woken).toEqual(["same", `same.${OTHER}`]);
  expect(readdirSync(folder).sort()).toEqual([`same.${OTHER}.json`, "same.json"]);
  const store = await openStore(folder);
  expect(
    store
      .list()
      .map(({ cluster }) => clusterIdOf(cluster))
      .sort(),
  ).toEqual(["same", `same.${OTHER}`]);
  await store.ofAccount(OTHER).remove("same");
  expect(readdirSync(folder)).toEqual(["same.json"]);
  expect(parseClusterId(`same.${OTHER}`)).toEqual({ name: "same", account: OTHER });
  expect(parseClusterId("same")).toEqual({ name: "same", account: ACCOUNT });
});

test("an access entry may be for a role of another account, but not one for nodes", async () => {
  await create(OTHER, "same");
  const entry = (principalArn: string, more = {}) =>
    call(OTHER, "POST", "/clusters/same/access-entries", { principalArn, ...more });
  const viewer = `arn:aws:iam::${ACCOUNT}:role/viewer`;
  expect(await entry(viewer)).toMatchObject({
    status: 200,
    body: {
      accessEntry: {
        accessEntryArn: expect.stringContaining(`:${OTHER}:access-entry/same/role/${ACCOUNT}/viewer/`),
        username: `arn:aws:sts::${ACCOUNT}:assumed-role/viewer/{{SessionName}}`,
      },
    },
  });
  const { accessEntries } = (await openStore(folder)).ofAccount(OTHER).get("same");
  expect(accessEntries[viewer]?.roleId).toBe(`AROA-viewer-${ACCOUNT}`);
  expect(await entry(`arn:aws:iam::${ACCOUNT}:role/none`)).toMatchObject({ error: "InvalidParameterException" });
  expect(await entry(`arn:aws:iam::${ACCOUNT}:role/node`, { type: "EC2_LINUX" })).toMatchObject({
    error: "InvalidParameterException",
    body: { message: expect.stringContaining("must be of the cluster's account") },
  });
});

test("whoever ministack says is of another account than the key in the request is refused", async () => {
  const context = accountContext(await inAllAccounts(), OTHER);
  const calls = callsOf((request, by) => eksApi(request, context, by));
  expect(await calls.call("GET", "/clusters")).toMatchObject({
    error: "InvalidRequestException",
    body: { message: expect.stringContaining(`is not of account ${OTHER}`) },
  });
});
