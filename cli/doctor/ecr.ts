import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Readable } from "../../infra/settings.ts";
import { ecrPlace, hostOf } from "../../lib/registries.ts";
import { type Finding, note, ok, unchecked, wrong } from "./finding.ts";
import { complaint, type Ended, type Run } from "./process.ts";
import type { Stack } from "./stack.ts";

type Env = Readonly<NodeJS.ProcessEnv>;

/** The command with which pulumi's machine logs in. */
const loginCommand = (host: string, region: string): string =>
  `aws ecr get-login-password --region ${region} | docker login --username AWS --password-stdin ${host}`;

const asHost = (registry: string): string => hostOf(registry.replace(/^[a-z]+:\/\//, ""));

/** The registries of a stack that are in Amazon ECR, by their keys. */
const inEcr = (settings: Readable) =>
  (["chartsRegistry", "imagesRegistry", "packagesRegistry", "functionPackage"] as const).flatMap((key) => {
    const place = ecrPlace(settings[key] ?? "");
    return place === undefined ? [] : [{ key, host: asHost(settings[key] as string), region: place.region }];
  });

export interface EcrLogins {
  /** The header with which a registry in Amazon ECR lets the caller in; undefined for another one, or if AWS gave no password. */
  readonly login: (host: string) => Promise<string | undefined>;
  /** What AWS said where it gave none. */
  readonly findings: () => Promise<readonly Finding[]>;
}

/** Logins to Amazon ECR with the caller's own credentials, by the AWS CLI: one for each registry. */
export function ecrLogins(run: Run): EcrLogins {
  const known = new Map<string, Promise<Ended | undefined>>();
  const passwordOf = (host: string): Promise<Ended | undefined> => {
    const region = ecrPlace(host)?.region ?? "";
    const before = known.get(host) ?? run("aws", ["ecr", "get-login-password", "--region", region]);
    known.set(host, before);
    return before;
  };
  return {
    login: async (host) => {
      if (ecrPlace(host) === undefined) return undefined;
      const ended = await passwordOf(host);
      if (ended?.code !== 0) return undefined;
      return `Basic ${Buffer.from(`AWS:${ended.stdout.trim()}`).toString("base64")}`;
    },
    findings: async () => {
      const all = await Promise.all([...known].map(async ([host, ended]) => [host, await ended] as const));
      return all.flatMap(([host, ended]) =>
        ended?.code === 0
          ? []
          : [
              unchecked(
                host,
                `AWS gives no password: ${ended === undefined ? "there is no aws on PATH" : complaint(ended)}`,
                "allow ecr:GetAuthorizationToken, for example by the policy AmazonEC2ContainerRegistryPullOnly",
              ),
            ],
      );
    },
  };
}

/** The files in which the Kubernetes provider of Pulumi finds logins (docs/decisions/0009-mirrors-registries-and-pull-secrets.md). */
export function loginFiles(env: Env, home = homedir()): readonly string[] {
  const configHome = env["HELM_CONFIG_HOME"] || join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "helm");
  return [
    env["PULUMI_K8S_HELM_REGISTRY_CONFIG_PATH"] || join(configHome, "registry.json"),
    join(env["DOCKER_CONFIG"] || join(home, ".docker"), "config.json"),
  ];
}

interface DockerConfig {
  readonly auths?: Readonly<Record<string, unknown>>;
  readonly credHelpers?: Readonly<Record<string, string>>;
}

/** Whether a file has a login, or the name of a program that has one. */
function hasLogin(file: string, host: string): boolean {
  if (!existsSync(file)) return false;
  try {
    const { auths = {}, credHelpers = {} } = JSON.parse(readFileSync(file, "utf8")) as DockerConfig;
    return Object.keys({ ...auths, ...credHelpers }).some((name) => asHost(name) === host);
  } catch {
    return false; // pulumi can't read it either
  }
}

/** Whether pulumi can log in where the stack's charts are. */
function pulumiLogin({ chartsRegistry = "" }: Readable, env: Env, home?: string): Finding[] {
  const place = ecrPlace(chartsRegistry);
  if (place === undefined) return [];
  const host = asHost(chartsRegistry);
  const files = loginFiles(env, home);
  return files.some((file) => hasLogin(file, host))
    ? [ok("login of pulumi", `to ${host} exists; a password of Amazon ECR is valid for twelve hours`)]
    : [
        wrong(
          "login of pulumi",
          `to ${host} is missing in ${files.join(" and ")}: pulumi can't pull the charts`,
          `${loginCommand(host, place.region)}, before each run (docs/guides/mirrors.md)`,
        ),
      ];
}

/** Registries in other regions than the stack names: the boundary of spokes' roles ends there. */
function otherRegions({ settings, region }: Pick<Stack, "region" | "settings">): Finding[] {
  const reached = [region, ...(settings.spokeRegions ?? [])];
  return inEcr(settings)
    .filter((each) => region !== undefined && !reached.includes(each.region))
    .map((each) =>
      wrong(
        each.key,
        `is in Amazon ECR in ${each.region}, where spokes may not pull`,
        `use a registry in ${region}; Amazon ECR can replicate this one`,
      ),
    );
}

/** What a stack whose registry is Amazon ECR needs besides what is in it. */
export function checkEcr(stack: Pick<Stack, "region" | "settings">, env: Env, home?: string): Finding[] {
  const elsewhere = otherRegions(stack);
  const images = inEcr(stack.settings).length > 0 && !stack.settings.imagesRegistry;
  return [
    ...elsewhere,
    ...pulumiLogin(stack.settings, env, home),
    ...(images
      ? [
          note(
            "imagesRegistry",
            "is empty: images come from upstream",
            "set registry or imagesRegistry if clusters may pull from Amazon ECR only",
          ),
        ]
      : []),
  ];
}
