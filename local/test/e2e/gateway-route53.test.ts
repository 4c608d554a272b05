import { describe, expect, test } from "vitest";
import { allow, type Clients, cloud, useGatewayCloud } from "../support/gateway.ts";
import { signedCalls } from "../support/signed-call.ts";

// Route 53 is global: one name without a region, signed for us-east-1 (AWS General Reference, "Amazon Route 53 endpoints and quotas").
const HOST = "route53.amazonaws.com";

let calls: ReturnType<typeof signedCalls>;

useGatewayCloud(async () => {
  calls = signedCalls(cloud, HOST, { service: "route53", region: "us-east-1" });
});

async function call(by: Clients, method: string, path: string, body = ""): Promise<{ status: number; xml: string }> {
  const headers = { "content-type": "text/xml" };
  const { status, text } = await calls(by, { method, path: `/2013-04-01/${path}`, headers, body });
  return { status, xml: text };
}

/** `allowed`, or the code of the error that the call ended with. */
const outcome = async (...[by, method, path, body]: Parameters<typeof call>): Promise<string> => {
  const { status, xml } = await call(by, method, path, body);
  return status < 300 ? "allowed" : (/<Code>(\w+)<\/Code>/.exec(xml)?.[1] ?? `${status} ${xml}`);
};

const idIn = (xml: string, kind: "hostedzone" | "change"): string =>
  new RegExp(`<Id>/${kind}/(\\w+)</Id>`).exec(xml)?.[1] ?? `no ${kind} in ${xml}`;

const xmlOf = (root: string, content: string) =>
  `<${root} xmlns="https://${HOST}/doc/2013-04-01/">${content}</${root}>`;

async function zone(name: string): Promise<string> {
  const wanted = `<Name>${name}</Name><CallerReference>${name}</CallerReference>`;
  const { xml } = await call(cloud.deployer, "POST", "hostedzone", xmlOf("CreateHostedZoneRequest", wanted));
  return idIn(xml, "hostedzone");
}

const upsert = (name: string, type: string, value: string): string =>
  xmlOf(
    "ChangeResourceRecordSetsRequest",
    `<ChangeBatch><Changes><Change><Action>UPSERT</Action><ResourceRecordSet><Name>${name}</Name><Type>${type}</Type><TTL>60</TTL>` +
      `<ResourceRecords><ResourceRecord><Value>${value}</Value></ResourceRecord></ResourceRecords></ResourceRecordSet></Change></Changes></ChangeBatch>`,
  );

const zoneArn = (id: string) => `arn:aws:route53:::hostedzone/${id}`;

describe("Route 53 under its own name", () => {
  test("lets a role change records of the hosted zone that its policy names, and of no other", async () => {
    const [own, other] = [await zone("own.example"), await zone("other.example")];
    const writer = await cloud.roleWith(
      "one-zone",
      allow({ Action: "route53:ChangeResourceRecordSets", Resource: zoneArn(own) }),
    );
    const record = upsert("app.own.example", "A", "192.0.2.1");
    expect(await outcome(writer, "POST", `hostedzone/${own}/rrset/`, record)).toBe("allowed");
    expect(await outcome(writer, "POST", `hostedzone/${other}/rrset/`, record)).toBe("AccessDenied");
    expect(await outcome(writer, "GET", `hostedzone/${own}/rrset`)).toBe("AccessDenied");
    const { xml } = await call(cloud.deployer, "GET", `hostedzone/${own}/rrset`);
    expect(xml).toContain("<Name>app.own.example.</Name><Type>A</Type>");
  });

  test("judges a change of records by their names, types and actions too", async () => {
    const id = await zone("conditions.example");
    const solver = await cloud.roleWith(
      "challenges",
      allow({
        Action: "route53:ChangeResourceRecordSets",
        Resource: zoneArn(id),
        Condition: {
          "ForAllValues:StringEquals": { "route53:ChangeResourceRecordSetsRecordTypes": ["TXT"] },
          "ForAllValues:StringLike": {
            "route53:ChangeResourceRecordSetsNormalizedRecordNames": ["_acme-challenge.*", "\\052.conditions.example"],
          },
        },
      }),
    );
    const change = (...of: Parameters<typeof upsert>) =>
      outcome(solver, "POST", `hostedzone/${id}/rrset/`, upsert(...of));
    expect(await change("_Acme-Challenge.app.conditions.example.", "TXT", '"token"')).toBe("allowed");
    expect(await change("*.conditions.example", "TXT", '"token"')).toBe("allowed");
    expect(await change("app.conditions.example", "TXT", '"token"')).toBe("AccessDenied");
    expect(await change("_acme-challenge.app.conditions.example", "A", "192.0.2.1")).toBe("AccessDenied");
  });

  test("tells of a change whom its policy names changes to, as cert-manager's does", async () => {
    const id = await zone("changes.example");
    const record = upsert("app.changes.example", "A", "192.0.2.1");
    const change = idIn((await call(cloud.deployer, "POST", `hostedzone/${id}/rrset/`, record)).xml, "change");
    const right = { Action: "route53:GetChange" };
    const reader = await cloud.roleWith("changes", allow({ ...right, Resource: "arn:aws:route53:::change/*" }));
    const zones = await cloud.roleWith("no-changes", allow({ ...right, Resource: zoneArn("*") }));
    expect(await outcome(reader, "GET", `change/${change}`)).toBe("allowed");
    expect(await outcome(zones, "GET", `change/${change}`)).toBe("AccessDenied");
  });

  test("tells the tags of several zones, each of which the policy must name", async () => {
    const [tagged, plain] = [await zone("tagged.example"), await zone("plain.example")];
    const tags = "<AddTags><Tag><Key>fleet</Key><Value>yes</Value></Tag></AddTags>";
    const add = xmlOf("ChangeTagsForResourceRequest", tags);
    expect(await outcome(cloud.deployer, "POST", `tags/hostedzone/${tagged}`, add)).toBe("allowed");
    const list = (by: Clients, ...ids: string[]) => {
      const wanted = ids.map((id) => `<ResourceId>${id}</ResourceId>`).join("");
      const body = xmlOf("ListTagsForResourcesRequest", `<ResourceIds>${wanted}</ResourceIds>`);
      return call(by, "POST", "tags/hostedzone", body);
    };
    const both = await list(cloud.deployer, tagged, plain);
    expect(both.xml).toContain(`<ResourceId>${tagged}</ResourceId><Tags><Tag><Key>fleet</Key><Value>yes</Value></Tag>`);
    expect(both.xml).toMatch(new RegExp(`<ResourceId>${plain}</ResourceId><Tags ?/>`));
    const one = await cloud.roleWith(
      "one-zones-tags",
      allow({ Action: "route53:ListTagsForResources", Resource: zoneArn(tagged) }),
    );
    expect((await list(one, tagged)).status).toBe(200);
    expect((await list(one, tagged, plain)).status).toBe(403);
    expect((await list(cloud.deployer, "ZNONE")).status).toBe(404);
  });

  test("is called in us-east-1, whatever the region of the fleet", async () => {
    const in_ = (region: string) =>
      allow({ Action: "route53:ListHostedZones", Condition: { StringEquals: { "aws:RequestedRegion": region } } });
    const [global, regional] = [
      await cloud.roleWith("global", in_("us-east-1")),
      await cloud.roleWith("regional", in_("eu-central-1")),
    ];
    expect(await outcome(global, "GET", "hostedzone")).toBe("allowed");
    expect(await outcome(regional, "GET", "hostedzone")).toBe("AccessDenied");
  });
});
