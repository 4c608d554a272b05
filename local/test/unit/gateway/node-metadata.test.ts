import { afterAll, expect, test } from "vitest";
import type { SelfManagedNode } from "../../../gateway/eks/model.ts";
import { nodeMetadata } from "../../../gateway/node-metadata.ts";
import type { ServiceSession } from "../../../gateway/sts/service-session.ts";
import { fakeEks, roleArn, stopWorkers, withNodes } from "./eks/fakes.ts";

afterAll(stopWorkers);

test("a node gets credentials of its node group's role, as EC2 gives them, and nothing else is told", async () => {
  const eks = await fakeEks();
  await withNodes(eks);
  const sessions: ServiceSession[] = [];
  const answer = nodeMetadata(eks.store, async (session) => {
    sessions.push(session);
    const credentials = { accessKeyId: "ASIA", secretAccessKey: "s", sessionToken: "t", expiration: new Date(0) };
    return { ...credentials, role: { arn: "arn", id: "id" } };
  });
  const get = async (url: string) => {
    const { status, body } = await answer({ method: "GET", url, rawHeaders: [], headers: {}, body: Buffer.of() });
    return { status, body: JSON.parse(String(body)) };
  };
  expect(await get("/nodes/hub/0/credentials")).toEqual({
    status: 200,
    body: { accessKeyId: "ASIA", secretAccessKey: "s", sessionToken: "t", expiration: "1970-01-01T00:00:00.000Z" },
  });
  const instanceId = eks.store.get("hub").nodegroups["main"]?.nodes[0]?.instanceId;
  expect(sessions).toEqual([{ service: "ec2.amazonaws.com", roleArn: roleArn("node"), sessionName: instanceId }]);
  // In another account a cluster has its account behind its name.
  const node = eks.store.get("hub").nodegroups["main"];
  const elsewhere = nodeMetadata(
    { find: (id) => (id === "hub.222222222222" ? eks.store.get("hub") : undefined) },
    async () => Promise.reject(new Error(`asked for ${node?.nodegroup.nodeRole}`)),
  );
  const ofElsewhere = {
    method: "GET",
    url: "/nodes/hub.222222222222/0/credentials",
    rawHeaders: [],
    headers: {},
    body: Buffer.of(),
  };
  await expect(elsewhere(ofElsewhere)).rejects.toThrow(`asked for ${roleArn("node")}`);
  // One that joined by itself has the role of its instance profile.
  const own = { number: 3, instanceId: "i-3", role: roleArn("pod") };
  const joined = nodeMetadata(
    { find: () => ({ ...eks.store.get("hub"), selfManagedNodes: [own as SelfManagedNode] }) },
    async ({ roleArn: asked, sessionName }) => Promise.reject(new Error(`${sessionName} asked for ${asked}`)),
  );
  await expect(joined({ ...ofElsewhere, url: "/nodes/hub/3/credentials" })).rejects.toThrow(
    `i-3 asked for ${roleArn("pod")}`,
  );
  for (const path of ["/nodes/hub/1/credentials", "/nodes/other/0/credentials", "/nodes/hub/0", "/"])
    expect((await get(path)).status).toBe(404);
});
