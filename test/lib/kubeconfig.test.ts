import { expect, it } from "vitest";
import { parse } from "yaml";
import { kubeconfig } from "../../lib/kubeconfig.ts";

it("a kubeconfig has one context, named like the cluster, and asks the AWS CLI for each token", () => {
  const config = parse(
    kubeconfig({ name: "fleet-hub", region: "us-east-1", endpoint: "https://hub", certificateAuthority: "Q0E=" }),
  );
  expect(config["current-context"]).toBe("fleet-hub");
  expect(config.contexts).toEqual([{ name: "fleet-hub", context: { cluster: "fleet-hub", user: "fleet-hub" } }]);
  expect(config.clusters).toEqual([
    { name: "fleet-hub", cluster: { server: "https://hub", "certificate-authority-data": "Q0E=" } },
  ]);
  expect(Object.keys(config.users[0].user)).toEqual(["exec"]);
  expect(config.users[0].user.exec).toMatchObject({
    command: "aws",
    args: ["--region", "us-east-1", "eks", "get-token", "--cluster-name", "fleet-hub", "--output", "json"],
  });
});
