import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { AwsConfig } from "../../../../cli/doctor/aws.ts";

/** What AWS refuses a call with. */
export class Refusal {
  readonly code: string;
  readonly message: string;
  constructor(code: string, message = `${code} of the test`) {
    this.code = code;
    this.message = message;
  }
}

/** A request of any of AWS's protocols: its operation, and its parameters where they are JSON. */
export interface Asked {
  readonly operation: string;
  readonly input: Readonly<Record<string, string>>;
  readonly region: string;
}

/** The body that answers an operation: XML for EC2, IAM and STS, an object for the others. */
export type Answers = Readonly<Record<string, string | object | Refusal | ((asked: Asked) => object | Refusal)>>;

/** The operations behind paths of the REST APIs: EKS's, and those of workspaces for metrics and Grafana; the first that fits counts. */
const paths: readonly (readonly [path: RegExp, operation: string])[] = [
  [/^\/clusters\/[^/]+\/node-groups\/./, "DescribeNodegroup"],
  [/^\/clusters\/[^/]+\/node-groups/, "ListNodegroups"],
  [/^\/clusters\/[^/]+\/pod-identity-associations\/./, "DescribePodIdentityAssociation"],
  [/^\/clusters\/[^/]+\/pod-identity-associations/, "ListPodIdentityAssociations"],
  [/^\/clusters\/[^/]+\/access-entries/, "ListAccessEntries"],
  [/^\/clusters\/./, "DescribeCluster"],
  [/^\/clusters/, "ListClusters"],
  [/^\/workspaces\/[^/]+\/rulegroupsnamespaces/, "ListRuleGroupsNamespaces"],
  [/^\/workspaces\/[^/]+\/alertmanager\/definition/, "DescribeAlertManagerDefinition"],
  [/^\/workspaces/, "ListWorkspaces"],
];
const ofPath = (url = "") => paths.find(([path]) => path.test(url))?.[1] ?? "";

const isXml = (operation: string, body: string) => body.includes(`Action=${operation}`);

function refusal({ code, message }: Refusal, xml: boolean): { status: number; body: string } {
  if (!xml) return { status: 400, body: JSON.stringify({ __type: code, message, Message: message }) };
  const error = `<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return {
    status: 403,
    body: `<Response><Errors>${error}</Errors>${error}<RequestID>1</RequestID></Response>`,
  };
}

/** AWS's API on loopback. Operations without an answer are refused with the code NotExpected. */
export async function fakeAws(
  answers: Answers,
): Promise<{ config: AwsConfig; asked: Asked[]; close(): Promise<void> }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const target =
        String(request.headers["x-amz-target"] ?? "")
          .split(".")
          .at(-1) ?? "";
      const action = /(?:^|&)Action=(\w+)/.exec(body)?.[1];
      const operation = action ?? (target || ofPath(request.url));
      const region = /Credential=[^/]+\/\d+\/([^/]+)/.exec(request.headers.authorization ?? "")?.[1] ?? "";
      const call: Asked = { operation, input: target === "" ? {} : JSON.parse(body), region };
      asked.push(call);
      const given = answers[operation] ?? new Refusal("NotExpected");
      const answer = typeof given === "function" ? given(call) : given;
      const xml = isXml(operation, body);
      const { status, body: text } =
        answer instanceof Refusal
          ? refusal(answer, xml)
          : { status: 200, body: typeof answer === "string" ? answer : JSON.stringify(answer) };
      response.writeHead(status, { "content-type": xml ? "text/xml" : "application/x-amz-json-1.1" }).end(text);
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    config: {
      endpoint: `http://127.0.0.1:${port}`,
      region: "eu-central-1",
      credentials: { accessKeyId: "AKIATEST", secretAccessKey: "test" },
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

const items = (name: string, list: readonly string[]) =>
  `<${name}>${list.map((item) => `<item>${item}</item>`).join("")}</${name}>`;

/** An answer of EC2 with one set. */
export const ec2 = (operation: string, set: string, list: readonly string[]): string =>
  `<${operation}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">${items(set, list)}</${operation}Response>`;

export const tagSet = (tags: Readonly<Record<string, string>>): string =>
  items(
    "tagSet",
    Object.entries(tags).map(([key, value]) => `<key>${key}</key><value>${value}</value>`),
  );

/** An answer of IAM or STS. */
export const result = (operation: string, content: string): string =>
  `<${operation}Response><${operation}Result>${content}</${operation}Result></${operation}Response>`;

export const identity = (arn: string, account: string): string =>
  result("GetCallerIdentity", `<Arn>${arn}</Arn><UserId>X</UserId><Account>${account}</Account>`);
