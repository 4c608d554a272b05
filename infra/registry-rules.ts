import type { Mistake } from "../lib/mistakes.ts";
import { isEcr } from "../lib/registries.ts";
import { type Readable, setCommand } from "./settings.ts";

const charts = ["chartsUsername", "chartsPassword"] as const;

function credentialRule(settings: Readable): Mistake[] {
  const given = charts.filter((key) => settings[key]);
  if (given.length === 0 || settings.chartsRegistry === undefined) return [];
  const missing = charts.filter((key) => settings[key] === "");
  const incomplete = missing.map((key) => ({
    key,
    problem: `is required with ${given.join(" and ")}`,
    got: "(empty)",
    allowed: "a value",
    remedy: setCommand(key),
  }));
  if (settings.chartsRegistry !== "") return incomplete;
  return [
    ...incomplete,
    {
      key: "chartsRegistry",
      problem: "is empty, and the upstream repositories, which everybody may read, are given no credential",
      got: `(empty) with ${given.join(" and ")}`,
      allowed: "the mirror that the credential is for",
      remedy: `${setCommand("chartsRegistry")}, or pulumi config rm ${given.join(", pulumi config rm ")}`,
    },
  ];
}

/** Who fetches from a registry by itself, in a pod: the metadata service, where a node's role is, does not answer pods. */
const fetchedByPods = {
  chartsRegistry: "Flux",
  packagesRegistry: "Crossplane",
  functionPackage: "Crossplane",
} as const;

function ecrRule(settings: Readable): Mistake[] {
  return (Object.keys(fetchedByPods) as (keyof typeof fetchedByPods)[])
    .filter((key) => isEcr(settings[key] ?? ""))
    .map((key) => ({
      key,
      problem: `is in Amazon ECR, whose passwords live for twelve hours and for which ${fetchedByPods[key]} has no AWS identity`,
      got: settings[key] as string,
      allowed:
        "a registry with a lasting credential, or without any; imagesRegistry may be in ECR, which nodes log in to by their role",
      remedy: `use another registry for ${key} (docs/mirrors.md, "Amazon ECR")`,
    }));
}

/** Rules over the keys of mirrors and their credentials. */
export function registryRules(settings: Readable): readonly Mistake[] {
  return [...credentialRule(settings), ...ecrRule(settings)];
}
