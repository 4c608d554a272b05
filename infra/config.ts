import { compatibilityWarning, supportWarning } from "../components/versions.ts";
import { describeProblems, type Problem, shown } from "../lib/problems.ts";
import { type Key, setCommandOf } from "./forms.ts";
import { withOneRegistry } from "./one-registry.ts";
import { rules } from "./rules.ts";
import type { Readable } from "./settings.ts";
import { keys } from "./settings.ts";
import { logKeyRules, volumeKeyRules } from "./volume-keys.ts";

/** The configuration as Pulumi has it: full key to text, and which keys are encrypted. */
export interface RawConfig {
  readonly project: string;
  readonly values: Readonly<Record<string, string>>;
  readonly isSecret: (key: string) => boolean;
  /** `aws:region` or AWS_REGION. */
  readonly region: string | undefined;
}

/** Defaults of keys for secrets: there is nothing to encrypt. */
const nothing = ["", "{}"];

/** The value of one key, or why there is none. */
export function readKey<T>(raw: RawConfig, name: string, key: Key<T>): { value?: T; problem?: Problem } {
  const full = `${raw.project}:${name}`;
  const text = raw.values[full];
  const format = { key: name, allowed: key.allowed, remedy: setCommandOf(name, key) };
  if (text === undefined) return { problem: { ...format, what: "is missing", got: "(nothing)" } };
  if (key.secret && !nothing.includes(text) && !raw.isSecret(full)) {
    return {
      problem: {
        ...format,
        what: "is a secret and is in plain text",
        got: "(not shown)",
      },
    };
  }
  const value = key.parse(text);
  return value === undefined
    ? {
        problem: {
          ...format,
          what: "has a value that is not allowed",
          got: key.secret ? "(not shown)" : shown(text),
        },
      }
    : { value };
}

/** The remedy for a key that the project does not know. */
function unknownKeyRemedy(name: string): string {
  const meant = Object.keys(keys).find((known) => known.toLowerCase() === name.toLowerCase().replaceAll(/[-_]/g, ""));
  return meant ? `use ${meant}` : `pulumi config rm ${name}`;
}

function unknownKeys(raw: RawConfig): Problem[] {
  return Object.keys(raw.values)
    .filter((key) => key.startsWith(`${raw.project}:`) && !Object.hasOwn(keys, key.slice(raw.project.length + 1)))
    .map((key) => {
      const name = key.slice(raw.project.length + 1);
      return {
        key,
        what: "is not a key of this project",
        got: name,
        allowed: "the keys under `config` in Pulumi.yaml",
        remedy: unknownKeyRemedy(name),
      };
    });
}

function regionProblems({ region }: RawConfig): Problem[] {
  if (region) return [];
  return [
    {
      key: "aws:region",
      what: "is not set",
      got: "(nothing)",
      allowed: "an AWS region",
      remedy: "pulumi config set aws:region us-east-1",
    },
  ];
}

/** What keys have, each by itself: `values` lacks those that have a problem. */
export function readKeys<K extends Readonly<Record<string, Key<unknown>>>>(raw: RawConfig, those: K) {
  const read = Object.entries(those).map(([name, key]) => ({ name, ...readKey<unknown>(raw, name, key) }));
  return {
    values: Object.fromEntries(
      read.filter(({ value }) => value !== undefined).map(({ name, value }) => [name, value]),
    ) as { readonly [N in keyof K]?: K[N] extends Key<infer T> ? T : never },
    problems: read.flatMap(({ problem }) => problem ?? []),
  };
}

/** Reads and checks all keys; the settings are complete if there are no problems. */
export function readConfig(raw: RawConfig): { settings: Readable; problems: readonly Problem[] } {
  const read = readKeys(raw, keys);
  const settings = withOneRegistry(read.values);
  const problems = [
    ...unknownKeys(raw),
    ...regionProblems(raw),
    ...read.problems,
    ...rules.flatMap((rule) => rule(settings)),
    ...volumeKeyRules(settings, raw.region),
    ...logKeyRules(settings, raw.region),
  ];
  return { settings, problems };
}

/** All problems as one text for a person, each with its full config key. */
export function describeConfigProblems(project: string, stack: string, problems: readonly Problem[]): string {
  const named = problems.map((problem) => ({
    ...problem,
    key: problem.key.includes(":") ? problem.key : `${project}:${problem.key}`,
  }));
  return describeProblems(`the configuration of stack ${stack}`, named);
}

/** The warnings about the hub's Kubernetes version; undefined if its support doesn't end soon and all components support it. */
export function supportNotice(project: string, kubernetesVersion: string, today: Date): string | undefined {
  const end = supportWarning(kubernetesVersion, today);
  const compatibility = compatibilityWarning(kubernetesVersion);
  const warnings = [
    ...(end === undefined
      ? []
      : [
          `${end}. After that day EKS raises the control plane by itself, at a time of its choice: ` +
            "raise it by one minor before (pulumi config set kubernetesVersion), or set it to what EKS runs by then",
        ]),
    ...(compatibility === undefined
      ? []
      : [`${compatibility}. Keep a supported minor until a release has a newer component`]),
  ];
  return warnings.length === 0 ? undefined : `${project}:kubernetesVersion: ${warnings.join(". ")}`;
}
