import { duplicates, type Problem } from "../lib/problems.ts";
import { hostOf, isEcr, isEcrLogin, registriesOf, serves, upstreamHosts } from "../lib/registries.ts";
import { type Readable, setCommand } from "./settings.ts";

const charts = ["chartsUsername", "chartsPassword"] as const;

function credentialRule(settings: Readable): Problem[] {
  const given = charts.filter((key) => settings[key]);
  if (given.length === 0 || settings.chartsRegistry === undefined) return [];
  const missing = charts.filter((key) => settings[key] === "");
  const incomplete = missing.map((key) => ({
    key,
    what: `is required with ${given.join(" and ")}`,
    got: "(empty)",
    allowed: "a value",
    remedy: setCommand(key),
  }));
  if (settings.chartsRegistry !== "") return incomplete;
  return [
    ...incomplete,
    {
      key: "chartsRegistry",
      what: "is empty, and the upstream repositories, which everybody may read, get no credential",
      got: `(empty) with ${given.join(" and ")}`,
      allowed: "the mirror that the credential is for",
      remedy: `${setCommand("chartsRegistry")}, or pulumi config rm ${given.join(", pulumi config rm ")}`,
    },
  ];
}

/** Amazon ECR serves charts as OCI artifacts, and takes no password for longer than twelve hours. */
function ecrRule({ chartsRegistry = "", chartsUsername = "" }: Readable): Problem[] {
  if (!isEcr(chartsRegistry)) return [];
  const overHttps = chartsRegistry.startsWith("https://")
    ? [
        {
          key: "chartsRegistry",
          what: "is in Amazon ECR, which serves charts at oci:// only",
          got: chartsRegistry,
          allowed: "oci://<account>.dkr.ecr.<region>.amazonaws.com/<path>",
          remedy: `pulumi config set chartsRegistry ${chartsRegistry.replace(/^https/, "oci")}`,
        },
      ]
    : [];
  if (chartsUsername === "") return overHttps;
  return [
    ...overHttps,
    {
      key: "chartsUsername",
      what: "is set for Amazon ECR, whose passwords expire after twelve hours",
      got: chartsUsername,
      allowed: "no user name: Flux logs in with its role, and pulumi with the login of its machine",
      remedy:
        'pulumi config rm chartsUsername, pulumi config rm chartsPassword, and log in as in docs/guides/mirrors.md, "Amazon ECR as the only registry"',
    },
  ];
}

/** The registries from which kubelet and Crossplane fetch; undefined while a key can't be read. */
function pulledFrom({ imagesRegistry, packagesRegistry, functionPackage }: Readable): string[] | undefined {
  if (imagesRegistry === undefined || packagesRegistry === undefined || functionPackage === undefined) return undefined;
  const images = imagesRegistry === "" ? upstreamHosts.images : [imagesRegistry];
  const packages = packagesRegistry === "" ? upstreamHosts.packages : [packagesRegistry];
  return [...new Set([...images, ...packages, functionPackage])];
}

/** With `registry` packages are pulled under other names than upstream's, and a prefix that matches none of them would verify nothing. */
function unverified({ registry, packagesRegistry, functionPackage, packageVerification = [] }: Readable): Problem[] {
  if (!registry) return [];
  const hosts = new Set([registry, packagesRegistry || registry, functionPackage ?? registry].map(hostOf));
  return packageVerification
    .filter(({ prefix }) => !hosts.has(hostOf(prefix)))
    .map(({ prefix }) => ({
      key: "packageVerification",
      what: "has a prefix that no package of the stack has, so it would verify none",
      got: prefix,
      allowed: `a prefix at ${[...hosts].join(" or ")}, from which Crossplane pulls`,
      remedy: `change it to ${registry}/${prefix}, and copy the signatures there with cosign copy`,
    }));
}

/** Crossplane takes any one of ImageConfigs with the same prefix, and objects have one name each. */
function verificationRule({ packageVerification = [] }: Readable): Problem[] {
  return (["name", "prefix"] as const).flatMap((part) =>
    duplicates(packageVerification.map((each) => each[part])).map((twice) => ({
      key: "packageVerification",
      what: `uses a ${part} twice`,
      got: twice,
      allowed: `each ${part} once`,
      remedy: "change one of the two, or make them one",
    })),
  );
}

function pullSecretRule(settings: Readable): Problem[] {
  if (!settings.pullSecret) return [];
  const registries = registriesOf(settings.pullSecret);
  const got = `auths for ${registries.map((registry) => registry.replace(/^.*@/, "")).join(", ")}`;
  const expiring = registries.filter(isEcrLogin);
  if (expiring.length > 0)
    return [
      {
        key: "pullSecret",
        what: "has a login to Amazon ECR, whose passwords live for twelve hours: pulls fail after that",
        got,
        allowed:
          "registries with a lasting credential; nodes log in to private registries of ECR by their role, and public.ecr.aws needs no login",
        remedy: `remove ${expiring.join(", ")} from auths and ${setCommand("pullSecret")}, or pulumi config rm pullSecret if nothing is left`,
      },
    ];
  const targets = pulledFrom(settings);
  if (targets === undefined || registries.some((registry) => targets.some((target) => serves(registry, target))))
    return [];
  return [
    {
      key: "pullSecret",
      what: "names no registry that images or packages come from",
      got,
      allowed: `a key in auths for one of ${targets.join(", ")}, or for a path below it`,
      remedy: `name the registry in auths as in imagesRegistry, packagesRegistry or functionPackage, and ${setCommand("pullSecret")}`,
    },
  ];
}

/** Rules over the keys of mirrors and their credentials. */
export function registryRules(settings: Readable): readonly Problem[] {
  return [
    ...credentialRule(settings),
    ...ecrRule(settings),
    ...verificationRule(settings),
    ...unverified(settings),
    ...pullSecretRule(settings),
  ];
}
