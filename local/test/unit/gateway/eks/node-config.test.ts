import { describe, expect, test } from "vitest";
import { nodeConfigOf } from "../../../../gateway/eks/node-config.ts";

const cluster = {
  name: "spoke",
  apiServerEndpoint: "https://100.64.254.2",
  certificateAuthority: "UEVN",
  cidr: "100.64.9.0/24",
};
const config = (kubelet: object = {}, over: object = {}) =>
  JSON.stringify({
    apiVersion: "node.eks.aws/v1alpha1",
    kind: "NodeConfig",
    spec: { cluster: { ...cluster, ...over }, kubelet },
  });
const part = (content: string, type = "application/node.eks.aws") => `Content-Type: ${type}\r\n\r\n${content}\r\n`;
/** As Karpenter writes it. */
const archive = (...parts: string[]) =>
  `MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="//"\r\n\r\n--//\r\n${parts.join("--//\r\n")}--//--\r\n`;

describe("the user data of a node", () => {
  test("names its cluster, its labels and its taints", () =>
    expect(
      nodeConfigOf(
        archive(
          part(
            config({
              config: {
                maxPods: 29,
                clusterDNS: ["100.64.9.10"],
                registerWithTaints: [
                  { key: "dedicated", value: "batch", effect: "NoSchedule" },
                  { key: "karpenter.sh/unregistered", effect: "NoExecute" },
                ],
              },
              flags: ['--node-labels="karpenter.sh/nodepool=default,example.com/empty="'],
            }),
          ),
        ),
      ),
    ).toEqual({
      cluster: { name: "spoke", endpoint: "https://100.64.254.2", certificateAuthority: "UEVN" },
      labels: { "karpenter.sh/nodepool": "default", "example.com/empty": "" },
      taints: [
        { key: "dedicated", value: "batch", effect: "NoSchedule" },
        { key: "karpenter.sh/unregistered", effect: "NoExecute" },
      ],
      kubelet: { maxPods: 29, clusterDNS: ["100.64.9.10"] },
    }));

  test("may have several parts: later ones override earlier ones, and other kinds of parts count for nothing", () => {
    const script = part("#!/bin/sh\necho --node-labels=a=b", "text/x-shellscript");
    const first = part(config({ config: { maxPods: 8, podsPerCore: 4 }, flags: ["--node-labels=a=1"] }));
    const flags = ["--register-with-taints=own=yes:NoExecute,bare:NoSchedule"];
    expect(nodeConfigOf(archive(script, first, part(config({ config: { maxPods: 29 }, flags }))))).toMatchObject({
      labels: { a: "1" },
      taints: [
        { key: "own", value: "yes", effect: "NoExecute" },
        { key: "bare", value: "", effect: "NoSchedule" },
      ],
      kubelet: { maxPods: 29, podsPerCore: 4 },
    });
  });

  test("may be one NodeConfig without MIME", () =>
    expect(nodeConfigOf(config())).toMatchObject({ cluster: { name: "spoke" }, labels: {}, taints: [], kubelet: {} }));

  test.each(["", "#!/bin/sh\nyum update", archive(part("#!/bin/sh", "text/x-shellscript"))])(
    "of another instance is none: %j",
    (text) => expect(nodeConfigOf(text)).toBeUndefined(),
  );

  test("leaves to this machine what is the machine's: thresholds of eviction and images", () =>
    expect(
      nodeConfigOf(config({ config: { evictionHard: { "memory.available": "5%" }, imageGCHighThresholdPercent: 80 } }))
        ?.kubelet,
    ).toEqual({}));

  test.each([
    ["a cluster without its API server", config({}, { apiServerEndpoint: undefined }), "apiServerEndpoint is missing"],
    ["a flag that no node here has", config({ flags: ["--v=4"] }), "got the flag --v=4"],
    ["a field that no node here has", config({ config: { cpuManagerPolicy: "static" } }), "cpuManagerPolicy"],
    ["an effect that Kubernetes does not have", config({ flags: ["--register-with-taints=a=b:Never"] }), "NoSchedule"],
    ["another kind", config().replace('"NodeConfig"', '"Other"'), "NodeConfig"],
  ])("is refused with %s", (_, text, message) => expect(() => nodeConfigOf(text)).toThrow(message));
});
