import * as pulumi from "@pulumi/pulumi";
import { userError } from "../components/user-error.ts";
import { supportWarning } from "../components/versions.ts";
import { describeMistakes, type Mistake, shown } from "../lib/mistakes.ts";
import { rules } from "./rules.ts";
import type { Readable } from "./settings.ts";
import { type KeyName, keys, type Settings, setCommand } from "./settings.ts";

/** The configuration as Pulumi has it: full key to text, and which keys are encrypted. */
export interface RawConfig {
  readonly project: string;
  readonly values: Readonly<Record<string, string>>;
  readonly isSecret: (key: string) => boolean;
  /** `aws:region` or AWS_REGION. */
  readonly region: string | undefined;
}

function readKey(raw: RawConfig, name: KeyName): { value?: Settings[KeyName]; mistake?: Mistake } {
  const key = keys[name];
  const full = `${raw.project}:${name}`;
  const text = raw.values[full];
  const format = { key: name, allowed: key.allowed, remedy: setCommand(name) };
  if (text === undefined) return { mistake: { ...format, problem: "is missing", got: "(nothing)" } };
  if (key.secret && text !== "" && !raw.isSecret(full)) {
    return {
      mistake: {
        ...format,
        problem: "is a secret and stands in plain text",
        got: "(not shown)",
      },
    };
  }
  const value = key.parse(text);
  return value === undefined
    ? {
        mistake: {
          ...format,
          problem: "has a value that is not allowed",
          got: key.secret ? "(not shown)" : shown(text),
        },
      }
    : { value };
}

/** Keys of earlier releases that have another name now. */
const renamed: ReadonlyMap<string, KeyName> = new Map([["packagePullSecret", "pullSecret"]]);

/** What to do about a key that the project does not know: nothing that loses a value that is still needed. */
function unknownKeyRemedy(name: string): string {
  const now = renamed.get(name);
  if (now !== undefined) {
    const set = ["pulumi config set", ...(keys[now].secret ? ["--secret"] : []), now].join(" ");
    return `pulumi config get ${name} | ${set}, then pulumi config rm ${name}`;
  }
  const meant = Object.keys(keys).find((known) => known.toLowerCase() === name.toLowerCase().replaceAll(/[-_]/g, ""));
  return meant ? `use ${meant}` : `pulumi config rm ${name}`;
}

function unknownKeys(raw: RawConfig): Mistake[] {
  return Object.keys(raw.values)
    .filter((key) => key.startsWith(`${raw.project}:`) && !Object.hasOwn(keys, key.slice(raw.project.length + 1)))
    .map((key) => {
      const name = key.slice(raw.project.length + 1);
      return {
        key,
        problem: renamed.has(name) ? `is called ${renamed.get(name)} now` : "is not a key of this project",
        got: name,
        allowed: "the keys under `config` in Pulumi.yaml",
        remedy: unknownKeyRemedy(name),
      };
    });
}

function regionMistakes({ region }: RawConfig): Mistake[] {
  if (region) return [];
  return [
    {
      key: "aws:region",
      problem: "is not set",
      got: "(nothing)",
      allowed: "an AWS region",
      remedy: "pulumi config set aws:region us-east-1",
    },
  ];
}

/** Reads and checks everything; the settings are complete when there is no mistake. */
export function readConfig(raw: RawConfig): { settings: Readable; mistakes: readonly Mistake[] } {
  const read = (Object.keys(keys) as KeyName[]).map((name) => ({ name, ...readKey(raw, name) }));
  const settings = Object.fromEntries(
    read.filter(({ value }) => value !== undefined).map(({ name, value }) => [name, value]),
  ) as Readable;
  const mistakes = [
    ...unknownKeys(raw),
    ...regionMistakes(raw),
    ...read.flatMap(({ mistake }) => mistake ?? []),
    ...rules.flatMap((rule) => rule(settings)),
  ];
  return { settings, mistakes };
}

/** All mistakes as one text for a person, each with its full config key. */
export function describeConfigMistakes(project: string, stack: string, mistakes: readonly Mistake[]): string {
  const named = mistakes.map((mistake) => ({
    ...mistake,
    key: mistake.key.includes(":") ? mistake.key : `${project}:${mistake.key}`,
  }));
  return describeMistakes(`the configuration of stack ${stack}`, named);
}

/** What to tell whoever runs the program about the hub's Kubernetes version; undefined while its support ends far in the future. */
export function supportNotice(project: string, kubernetesVersion: string, today: Date): string | undefined {
  const warning = supportWarning(kubernetesVersion, today);
  if (warning === undefined) return undefined;
  return (
    `${project}:kubernetesVersion: ${warning}. After that day EKS raises the control plane by itself, at a time of its choice: ` +
    "raise it by one minor before (pulumi config set kubernetesVersion), or set it to what EKS runs by then"
  );
}

/** Not in Pulumi's type declarations: whether a config key is encrypted. */
const { isConfigSecret } = pulumi.runtime as unknown as { isConfigSecret: (key: string) => boolean };

/**
 * The stack's settings.
 * @throws a user error that lists every mistake, before any resource is registered: the program ends with exit code 1.
 */
export function loadSettings(): Settings {
  const project = pulumi.getProject();
  const { settings, mistakes } = readConfig({
    project,
    values: pulumi.runtime.allConfig(),
    isSecret: isConfigSecret,
    region: new pulumi.Config("aws").get("region") ?? process.env["AWS_REGION"],
  });
  if (mistakes.length > 0) throw userError(describeConfigMistakes(project, pulumi.getStack(), mistakes));
  const read = settings as Settings;
  const notice = supportNotice(project, read.kubernetesVersion, new Date());
  if (notice !== undefined) void pulumi.log.warn(notice);
  return read;
}
