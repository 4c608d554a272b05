import { describe, expect, test } from "vitest";
import { credentialReader, fromOutputs, sealingKeyFor } from "../../../cli/fleet/facts.ts";
import { checkCertificate } from "../../../cli/sealing/seal.ts";
import { certificate, fleetWith } from "../support/fleet.ts";

const outputs = {
  bridgeData: {
    fleet: "fleet",
    aws_region: "us-east-1",
    aws_vpc_cidr: "10.0.0.0/16",
    gitops_system_repo_url: "ssh://git@git.example/system.git",
    gitops_workloads_repo_url: "ssh://git@git.example/workloads.git",
  },
  sealingCertificates: { dev: { 1: "old", 2: "new" }, prod: { 1: "prod" } },
  activeSealingKeys: { dev: "2", prod: "1" },
};

describe("the outputs of the hub's stack", () => {
  test("tell the fleet, its region, network and repositories, the generations of each key and the active one's certificate", () => {
    expect(fromOutputs(outputs)).toEqual({
      name: "fleet",
      region: "us-east-1",
      vpcCidr: "10.0.0.0/16",
      certificates: { dev: "new", prod: "prod" },
      generations: { dev: ["1", "2"], prod: ["1"] },
      repositoryUrls: {
        "gitops-system": "ssh://git@git.example/system.git",
        "gitops-workloads": "ssh://git@git.example/workloads.git",
      },
    });
  });

  test("of another stack are refused, with what is missing", () => {
    expect(() => fromOutputs({ bridgeData: outputs.bridgeData })).toThrow(/sealingCertificates[\s\S]*--stack/);
  });
});

describe("a sealing certificate", () => {
  const of = (pem: string) => () => checkCertificate(pem, "the file x");

  test("is taken when it is a valid RSA certificate", async () => {
    const pem = await certificate();
    expect(of(pem)).not.toThrow();
    expect(sealingKeyFor(fleetWith(pem, "kubeseal"), "any")).toEqual({ scope: "any", certificate: pem });
  });

  test("is refused when it is not a certificate, has no RSA key, or has ended", async () => {
    expect(of("nothing")).toThrow("the file x is not a certificate in PEM");
    expect(of(await certificate({ curve: true }))).toThrow(
      "has a key of type ec; Sealed Secrets seals with RSA keys only",
    );
    expect(of(await certificate({ notAfter: new Date("2021-01-01") }))).toThrow(/the file x ended on .*2021/);
  });
});

describe("a repository's credential", () => {
  const client = (answer: () => Promise<unknown>) =>
    ({ config: { region: async () => "us-east-1" }, send: answer }) as unknown as Parameters<
      typeof credentialReader
    >[1];

  test("is read from the secret that the hub's stack made", async () => {
    let asked = "";
    const secrets = {
      config: { region: async () => "us-east-1" },
      send: async ({ input }: { input: { SecretId: string } }) => {
        asked = input.SecretId;
        return { SecretString: '{"identity":"key"}' };
      },
    } as unknown as Parameters<typeof credentialReader>[1];
    expect(await credentialReader("fleet", secrets)("gitops-system")).toEqual({ identity: "key" });
    expect(asked).toBe("fleet/git/gitops-system");
  });

  test("that can't be read says which secret, where, and what is needed", async () => {
    const denied = client(() => Promise.reject(Object.assign(new Error("no"), { name: "AccessDeniedException" })));
    await expect(credentialReader("fleet", denied)("gitops-system")).rejects.toThrow(
      /secret fleet\/git\/gitops-system in us-east-1: AccessDeniedException: no\. It needs AWS credentials/,
    );
  });

  test("that is not as expected is shown to nobody", async () => {
    const broken = client(async () => ({ SecretString: "s3cret" }));
    const error = await credentialReader("fleet", broken)("gitops-system").catch((reason: unknown) => reason);
    expect(String(error)).toContain("is not a JSON object of strings");
    expect(String(error)).not.toContain("s3cret");
  });
});
