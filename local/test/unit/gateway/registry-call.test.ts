import { describe, expect, test } from "vitest";
import { isRegistryCall } from "../../../gateway/aws/registry-call.ts";

const call = (host: string, url: string) => isRegistryCall({ headers: { host }, url });

describe("a call of the registry API", () => {
  test.each([
    ["000000000000.dkr.ecr.us-east-1.amazonaws.com", "/v2/"],
    ["000000000000.dkr.ecr.us-east-1.amazonaws.com:443", "/v2/a/manifests/1?x=y"],
    ["000000000000.dkr-ecr.us-east-1.on.aws", "/v2"],
  ])("is one at %s%s", (host, url) => {
    expect(call(host, url)).toBe(true);
  });

  // What ministack serves without a signature elsewhere stays behind the gateway.
  test.each([
    ["api.ecr.us-east-1.amazonaws.com", "/v2/"],
    ["100.67.255.1:4566", "/v2/a/manifests/1"],
    ["000000000000.dkr.ecr.us-east-1.amazonaws.com", "/_ministack/reset"],
    ["000000000000.dkr.ecr.us-east-1.amazonaws.com", "/v2x"],
    ["evil.example.000000000000.dkr.ecr.us-east-1.amazonaws.com", "/v2/"],
  ])("is none at %s%s", (host, url) => {
    expect(call(host, url)).toBe(false);
  });
});
