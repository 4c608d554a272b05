import { kubernetesVersions } from "../../components/versions.ts";
import { compare } from "../../lib/version.ts";
import packageJson from "../../package.json" with { type: "json" };
import { type Finding, note, ok, wrong } from "./finding.ts";
import { complaint, type Run } from "./process.ts";

interface Tool {
  readonly name: string;
  /** Arguments that make it print its version. */
  readonly version: readonly string[];
  /** The minimum version, given the one found. */
  readonly least: (found: string) => string;
  /** Whether everything needs it, or only a part. */
  readonly needed: boolean;
  /** What it is for, and why the minimum version. */
  readonly why: string;
  readonly install: string;
}

const exactly = (version: string) => () => version;
const firstVersion = (text: string): string | undefined => /\d+\.\d+(\.\d+)*/.exec(text)?.[0];

/** One minor below: kubectl works with an API server one minor older or newer (Kubernetes, "Version Skew Policy"). */
function below(minor: string): string {
  const [major = "1", number = "0"] = minor.split(".");
  return `${major}.${Number(number) - 1}`;
}

/** The programs that are used, for a hub of a Kubernetes minor. */
export const tools = (kubernetesVersion: string): readonly Tool[] => [
  {
    name: "node",
    version: ["--version"],
    least: exactly(firstVersion(packageJson.engines.node) ?? ""),
    needed: true,
    why: "runs the program, which it reads as TypeScript without a compiler",
    install: "https://nodejs.org",
  },
  {
    name: "pulumi",
    version: ["version"],
    least: exactly(packageJson.dependencies["@pulumi/pulumi"]),
    needed: true,
    why: "creates the hub; the minimum is the version of the SDK with which the program is tested",
    install: "https://www.pulumi.com/docs/install/",
  },
  {
    name: "kubectl",
    version: ["version", "--client"],
    least: exactly(below(kubernetesVersion)),
    needed: true,
    why: `shows Spokes and Flux objects; the hub runs ${kubernetesVersion}, and kubectl may be at most one minor older`,
    install: "https://kubernetes.io/docs/tasks/tools/",
  },
  {
    name: "aws",
    version: ["--version"],
    // aws/aws-cli#6940, aws/containers-roadmap#1736
    least: (found) => (compare(found, "2") < 0 ? "1.24.0" : "2.7.0"),
    needed: true,
    why: "gives kubectl and Pulumi their tokens (aws eks get-token); older ones answer in a form that kubectl does not accept",
    install: "https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html",
  },
  {
    name: "git",
    version: ["--version"],
    // Git 2.30 release notes: "git rev-parse" takes --end-of-options.
    least: exactly("2.30"),
    needed: true,
    why: "brings changes to the fleet; fleet diff needs rev-parse --end-of-options",
    install: "https://git-scm.com/downloads",
  },
  {
    name: "kubeseal",
    version: ["--version"],
    // Its release notes: since 0.7.0 each value is encrypted by itself, as present controllers expect.
    least: exactly("0.7.0"),
    needed: true,
    why: "seals Secrets for fleet new-cluster, onboard and reseal",
    install: "https://github.com/bitnami/sealed-secrets/releases",
  },
  {
    name: "ssh",
    version: ["-V"],
    // OpenSSH 7.4: the oldest that a supported distribution has.
    least: exactly("7.4"),
    needed: false,
    why: "reaches Git hosts by ssh://, and tries the deploy keys here",
    install: "your system's package openssh-client",
  },
  {
    name: "gh",
    version: ["--version"],
    // cli/cli#4302
    least: exactly("2.5.0"),
    needed: false,
    why: "registers deploy keys at GitHub (gh repo deploy-key); the web page of the repository does it too",
    install: "https://cli.github.com",
  },
  {
    name: "jq",
    version: ["--version"],
    least: exactly("1.5"),
    needed: false,
    why: "extracts a deploy key from the stack's outputs",
    install: "https://jqlang.org/download/",
  },
];

async function look(tool: Tool, run: Run): Promise<Finding> {
  const { name, needed, why, install } = tool;
  const lacking = needed ? wrong : note;
  const ended = await run(name, tool.version);
  if (ended === undefined) return lacking(name, `is not on PATH. It ${why}`, `install it: ${install}`);
  // ssh -V writes to standard error.
  const found = ended.code === 0 ? firstVersion(`${ended.stdout}\n${ended.stderr}`) : undefined;
  if (found === undefined) {
    const command = `${name} ${tool.version.join(" ")}`;
    return lacking(name, `does not print its version: ${complaint(ended)}`, `check what ${command} prints; ${install}`);
  }
  const least = tool.least(found);
  if (compare(found, least) < 0)
    return lacking(name, `is ${found}, the minimum is ${least}. It ${why}`, `install ${least} or newer: ${install}`);
  return ok(name, `${found} (${least} or newer)`);
}

/** The programs on PATH and their versions. @param embedded the program runs with the project's own Node.js, not with the one on PATH */
export async function checkTools(
  kubernetesVersion: string | undefined,
  run: Run,
  embedded = false,
): Promise<Finding[]> {
  const newest = kubernetesVersions.at(-1) ?? "";
  const needed = tools(kubernetesVersion ?? newest).filter(({ name }) => !(embedded && name === "node"));
  return Promise.all(needed.map((tool) => look(tool, run)));
}
