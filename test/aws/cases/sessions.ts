import { expect } from "vitest";
import { succeed } from "../../support/process.ts";

interface Information {
  readonly InstanceId: string;
  readonly PingStatus: string;
}

/** Session Manager can open a shell on each of these instances: their agents are connected. */
export async function expectSessions(region: string, instances: readonly string[]): Promise<void> {
  const said = await succeed("aws", [
    ...["ssm", "describe-instance-information", "--region", region, "--output", "json"],
    ...["--filters", `Key=InstanceIds,Values=${instances.join(",")}`],
  ]);
  const found: readonly Information[] = JSON.parse(said).InstanceInformationList;
  const online = found.filter(({ PingStatus }) => PingStatus === "Online").map(({ InstanceId }) => InstanceId);
  expect(online.toSorted()).toEqual(instances.toSorted());
}
