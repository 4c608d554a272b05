import {
  DescribeInstanceAttributeCommand,
  DescribeInstanceTypesCommand,
  type EC2,
  type Instance,
} from "@aws-sdk/client-ec2";
import type { LaunchTemplateSpecification } from "@aws-sdk/client-eks";
import type { IAM } from "@aws-sdk/client-iam";
import { type QueryPlace, queryApi, queryText } from "./query-api.ts";

/** An instance of EC2 that somebody launched, and which may be a node. */
export interface LaunchedInstance {
  readonly id: string;
  /** Whether it runs; it shuts down otherwise. */
  readonly runs: boolean;
  readonly type: string;
  /** Whether it is a Spot Instance. */
  readonly spot: boolean;
  readonly zone: string;
  readonly subnet: string;
  /** Name of its instance profile; undefined without one. */
  readonly profile: string | undefined;
}

/** Instances in ministack, and what the gateway tells it of those that are nodes. */
export function launchedInstances(place: QueryPlace, ec2: EC2, iam: IAM) {
  const call = queryApi(place, "ec2", "2016-11-15");
  const ask = queryText(place, "ec2", "2016-11-15");
  return {
    /** Why Auto Scaling can't start instances of a launch template, by the keys of its volumes; undefined where it can. */
    volumeKeyProblem: async ({ id = "", name = "", version = "" }: LaunchTemplateSpecification) => {
      const named = id === "" ? { LaunchTemplateName: name } : { LaunchTemplateId: id };
      const parameters = Object.fromEntries(
        Object.entries({ ...named, Version: version }).map(([key, value]) => [`LaunchTemplate.${key}`, value]),
      );
      return /<problem>(.+)<\/problem>/.exec(await ask("JudgeVolumeKeys", parameters))?.[1];
    },
    /** Those that run or shut down. */
    launchedInstances: async (): Promise<LaunchedInstance[]> => {
      const Filters = [{ Name: "instance-state-name", Values: ["running", "shutting-down"] }];
      const { Reservations = [] } = await ec2.describeInstances({ Filters });
      return Reservations.flatMap(({ Instances = [] }) => Instances.map(launched));
    },
    /** The user data of an instance, decoded; empty where it has none. */
    userData: async (id: string): Promise<string> => {
      const asked = new DescribeInstanceAttributeCommand({ InstanceId: id, Attribute: "userData" });
      const { UserData } = await ec2.send(asked);
      return Buffer.from(UserData?.Value ?? "", "base64").toString("utf8");
    },
    /** ARN of the role in an instance profile; undefined where it has none. */
    roleOfProfile: async (name: string): Promise<string | undefined> => {
      const { InstanceProfile } = await iam.getInstanceProfile({ InstanceProfileName: name });
      return InstanceProfile?.Roles?.[0]?.Arn;
    },
    /** Processors and memory (MiB) of a type. */
    instanceSize: async (type: string): Promise<InstanceSize> => {
      const asked = new DescribeInstanceTypesCommand({ InstanceTypes: [type as never] });
      const found = (await ec2.send(asked)).InstanceTypes?.[0];
      return { cpus: found?.VCpuInfo?.DefaultVCpus ?? 0, memoryMib: found?.MemoryInfo?.SizeInMiB ?? 0 };
    },
    /** Says the address of an instance that is a node, and the block of its pods. */
    keepInstance: (id: string, address: string, pods: string) =>
      call("KeepInstance", { InstanceId: id, State: "running", PrivateIpAddress: address, Pods: pods }),
    /** Says that an instance which shut down has ended. */
    endInstance: (id: string) => call("KeepInstance", { InstanceId: id, State: "terminated" }),
  };
}

/** What a type of instances has. */
export interface InstanceSize {
  readonly cpus: number;
  readonly memoryMib: number;
}

const launched = (instance: Instance): LaunchedInstance => ({
  id: instance.InstanceId ?? "",
  runs: instance.State?.Name === "running",
  type: instance.InstanceType ?? "",
  spot: instance.InstanceLifecycle === "spot",
  zone: instance.Placement?.AvailabilityZone ?? "",
  subnet: instance.SubnetId ?? "",
  profile: instance.IamInstanceProfile?.Arn?.split("/").at(-1),
});
