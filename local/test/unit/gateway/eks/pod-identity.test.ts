import { describe, expect, test } from "vitest";
import { refusal } from "../calls.ts";
import { eks, fakeEks, roleArn, useEks, withNodes } from "./fakes.ts";

useEks(withNodes);

const PATH = "/clusters/hub/pod-identity-associations";
const body = { namespace: "apps", serviceAccount: "app", roleArn: roleArn("pod") };
const create = (over: object = {}) => eks.call("POST", PATH, { ...body, ...over });

describe("pod identity associations", () => {
  test("are one per service account of a namespace, and say which role its pods get", async () => {
    const { association } = (await create({ tags: { team: "a" } })).body;
    expect(association).toMatchObject({ ...body, clusterName: "hub", disableSessionTags: false, tags: { team: "a" } });
    expect(association.associationId).toMatch(/^a-[0-9a-z]{17}$/);
    expect(association.associationArn).toBe(
      `arn:aws:eks:us-east-1:000000000000:podidentityassociation/hub/${association.associationId}`,
    );
    expect((await create()).error).toBe("ResourceInUseException");
    expect((await create({ serviceAccount: "other" })).status).toBe(200);
    expect((await create({ namespace: "other" })).status).toBe(200);
  });

  test("are listed, all or those of a namespace or service account, without their roles", async () => {
    const { association } = (await create()).body;
    await create({ namespace: "other" });
    const listed = async (query = "") => (await eks.get(`${PATH}${query}`)).associations;
    expect(await listed()).toHaveLength(2);
    const { associationArn, associationId } = association;
    const { roleArn: _, ...of } = body;
    expect(await listed("?namespace=apps")).toEqual([{ clusterName: "hub", ...of, associationArn, associationId }]);
    expect(await listed("?namespace=apps&serviceAccount=none")).toEqual([]);
  });

  test("change their role and session tags, and go", async () => {
    const { associationId } = (await create()).body.association;
    const one = `${PATH}/${associationId}`;
    eks.clock += 5;
    const changed = (await eks.call("POST", one, { disableSessionTags: true })).body.association;
    expect(changed).toMatchObject({ roleArn: body.roleArn, disableSessionTags: true, modifiedAt: eks.clock });
    expect((await eks.call("POST", one, { roleArn: roleArn("viewer") })).error).toBe("InvalidParameterException");
    expect((await eks.call("POST", one, {})).error).toBe("InvalidRequestException");
    expect((await eks.call("DELETE", one)).body.association).toEqual(changed);
    expect((await eks.call("GET", one)).error).toBe("ResourceNotFoundException");
  });

  test("are made once by a request that is repeated with its token, as SDKs do when the answer was lost", async () => {
    const first = (await create({ clientRequestToken: "one" })).body;
    expect((await create({ clientRequestToken: "one" })).body).toEqual(first);
    expect((await create({ clientRequestToken: "two" })).error).toBe("ResourceInUseException");
  });

  test.each([
    ["that IAM doesn't have", "none", "Role provided in the request does not exist"],
    ["that does not trust EKS Pod Identity", "node", "Trust policy of the role provided is invalid"],
  ])("refuse a role %s", async (_what, name, message) => {
    expect(await create({ roleArn: roleArn(name) })).toMatchObject(refusal("InvalidParameterException", message));
  });

  test.each(["targetRoleArn", "policy"])("refuse %s by name: nothing here would honour it", async (member) => {
    const { error, body: said } = await create({ [member]: "x" });
    expect([error, said.message]).toEqual(["InvalidParameterException", expect.stringContaining(member)]);
  });

  test("need iam:PassRole for the role, and are authorized by their own ARN and tags", async () => {
    const { associationId, associationArn } = (await create({ tags: { team: "a" } })).body.association;
    const passRoles = [{ arn: roleArn("pod"), service: "pods.eks.amazonaws.com" }];
    expect(eks.asked.at(-1)).toMatchObject({ resource: expect.stringContaining(":cluster/hub"), passRoles });
    await eks.call("POST", `${PATH}/${associationId}`, { roleArn: roleArn("pod") });
    expect(eks.asked.at(-1)).toMatchObject({
      action: "UpdatePodIdentityAssociation",
      resource: associationArn,
      passRoles,
      context: { "aws:ResourceTag/team": "a" },
    });
    await eks.call("POST", `/tags/${encodeURIComponent(associationArn)}`, { tags: { team: "b" } });
    const { association } = await eks.get(`${PATH}/${associationId}`);
    expect(association.tags).toEqual({ team: "b" });
  });
});

describe("the nodes of a cluster run the EKS Pod Identity Agent", () => {
  const ADDON = "/clusters/hub/addons/eks-pod-identity-agent";
  const install = () => eks.call("POST", "/clusters/hub/addons", { addonName: "eks-pod-identity-agent" });
  const running = async () => {
    await eks.settle();
    return [...eks.clusters.agents];
  };

  test("while its add-on is there, from before it is ACTIVE", async () => {
    expect(await running()).toEqual([]);
    const release = eks.clusters.hold();
    await install();
    await new Promise((done) => setTimeout(done, 20));
    const status = async () => (await eks.get(ADDON)).addon.status;
    expect([await status(), ...eks.clusters.agents]).toEqual(["CREATING"]);
    release();
    expect([...(await running()), await status()]).toEqual(["hub/0", "ACTIVE"]);
    await eks.call("DELETE", ADDON);
    expect(await running()).toEqual([]);
  });

  test("also those that join later, and when the gateway was away meanwhile", async () => {
    await install();
    await eks.call("POST", "/clusters/hub/node-groups/main/update-config", { scalingConfig: { desiredSize: 2 } });
    expect(await running()).toEqual(["hub/0", "hub/1"]);
    eks.clusters.agents.clear();
    const again = await fakeEks({ clusters: eks.clusters, folder: eks.folder });
    again.worker.add("hub");
    await again.settle();
    expect([...eks.clusters.agents]).toEqual(["hub/0", "hub/1"]);
  });

  test("for good when the add-on is deleted with its software preserved", async () => {
    await install();
    await running();
    await eks.call("DELETE", `${ADDON}?preserve=true`);
    expect(await running()).toEqual(["hub/0"]);
  });
});
