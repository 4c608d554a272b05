import { APP_PORT } from "../app/process.ts";
import { MINISTACK_PORT } from "../gateway/ministack.ts";
import { GIT_HTTPS_PORT, GIT_SSH_PORT } from "../git/index.ts";
import { compare } from "../product.ts";
import { REGISTRY_PORT } from "../registry/index.ts";
import { goNeeded } from "../toolchain/go-groups.ts";

/** The toolchain's cache, and where what it lacks comes from. */
export interface Cache {
  readonly path: string;
  /** Nothing of what takes Go is lacking. */
  readonly complete: boolean;
  /** The Go programs are there already; charts and images may be lacking. */
  readonly built: boolean;
  /** A release has what is lacking: nothing is compiled here. */
  readonly offered: boolean;
}

/** What it takes to fill the cache: Go or not, and bytes of disk. A release's archive always comes whole. */
export function toFill({ complete, built, offered }: Cache): { readonly go: boolean; readonly disk: number } {
  if (complete) return { go: false, disk: GIB };
  if (offered) return { go: false, disk: ARCHIVE_DISK };
  return { go: true, disk: built ? GIB : BUILD_DISK };
}

/** A program that builds the toolchain. */
export interface Tool {
  readonly name: string;
  /** Asks for its version; the first word is the command. */
  readonly argv: readonly [string, ...string[]];
  readonly least: string;
  /** What the command says of its version; undefined where there is none of that name. */
  readonly found: string | undefined;
}

/** What has to be on the machine before anything is built; Node is there, or this would not run. */
export const neededTools = (go: boolean): Omit<Tool, "found">[] => [
  // The first with `merge-tree --write-tree`, by which a person's commits and a new content of repos/ are merged.
  { name: "git", argv: ["git", "--version"], least: "2.38" },
  ...(go ? [{ name: "Go", argv: ["go", "env", "GOVERSION"] as const, least: goNeeded() }] : []),
  // What the pinned awscli and ministack ask for.
  { name: "Python", argv: ["python3", "--version"], least: "3.10" },
];

/** What the checks found about this machine. */
export interface Machine {
  readonly platform: string;
  readonly architecture: string;
  /** Effective user id. */
  readonly user: number;
  readonly tools: readonly Tool[];
  /** Whether python3 can make virtual environments, by itself or with the pip that apt serves. */
  readonly venv: boolean;
  /** What neither the machine nor its distribution's packages have; empty where there is apt. */
  readonly systemProblems: readonly string[];
  /** The directories whose paths programs read, and how to have another one. */
  readonly places: readonly { readonly path: string; readonly what: string; readonly otherwise: string }[];
  /** Why the folders of the instance and the cache can't be used: what else is in them. */
  readonly folderProblems: readonly string[];
  /** Id of the machine's own kubelet. */
  readonly kubelet: number | undefined;
  /** Why no network namespace can be made; undefined when one can. */
  readonly namespaceProblem: string | undefined;
  /** Why no overlay file system can be mounted on the instance's disk; undefined when one can. */
  readonly overlayProblem: string | undefined;
  /** Why there is no usable cgroup hierarchy; undefined when there is one. */
  readonly cgroupProblem: string | undefined;
  /** Bytes. */
  readonly memory: number;
  readonly disks: readonly {
    readonly path: string;
    readonly purpose: string;
    readonly free: number;
    readonly needed: number;
  }[];
  /** TCP ports in LISTEN state on every address (0.0.0.0 or ::). */
  readonly wildcardPorts: ReadonlySet<number>;
  /** The addresses of an instance are in the range 100.64.0.0/10; another user of it, such as a VPN. */
  readonly foreignRoutes: readonly string[];
}

export const GIB = 1024 ** 3;
/** What a build from nothing takes: the Go build cache at its peak, modules, programs and images. */
const BUILD_DISK = 16 * GIB;
/** What a release's archive takes, and what comes out of it. */
const ARCHIVE_DISK = 6 * GIB;

/** Ports that an instance serves on addresses of its own. */
const PORTS: Readonly<Record<number, string>> = {
  443: "AWS endpoints, API servers and charts over TLS",
  [GIT_SSH_PORT]: "Git over SSH",
  [MINISTACK_PORT]: "the AWS API for tools on this machine",
  [REGISTRY_PORT]: "the container registry",
  [GIT_HTTPS_PORT]: "Git over HTTPS",
  [APP_PORT]: "the demo's application",
};

const MEMORY_NEEDED = 4 * GIB;

const gib = (bytes: number) => `${(bytes / GIB).toFixed(1)} GiB`;

/** All that keeps the embedded cloud from running here; empty when nothing does. */
export function missing(machine: Machine): string[] {
  const lacks: (string | false)[] = [
    machine.platform !== "linux" &&
      `the nodes are Linux network namespaces and cgroups, this machine is ${machine.platform}: use a Linux machine or VM`,
    machine.architecture !== "x64" &&
      machine.architecture !== "arm64" &&
      `the architecture must be x64 or arm64, got ${machine.architecture}`,
    machine.user !== 0 &&
      `root is needed (namespaces, mounts, addresses), got user id ${machine.user}: run it with sudo, or in a VM or CI runner`,
    ...machine.tools.map(toolProblem),
    machine.tools.some(({ name, found }) => name === "Python" && found !== undefined) &&
      !machine.venv &&
      "python3 can't make virtual environments (no module venv, or no ensurepip and no apt-get to take pip from): install its venv package, such as python3-venv",
    ...machine.systemProblems,
    ...machine.places.map(placeProblem),
    ...machine.folderProblems,
    machine.kubelet !== undefined &&
      `a kubelet runs on this machine (process ${machine.kubelet}): ours would remove its device plugins' sockets in /var/lib/kubelet and change its settings; use another machine or a VM`,
    machine.namespaceProblem !== undefined &&
      `no network namespace can be made (CAP_SYS_ADMIN is needed): ${machine.namespaceProblem}`,
    machine.cgroupProblem !== undefined && machine.cgroupProblem,
    machine.overlayProblem !== undefined &&
      `containers need overlay mounts, and one on the instance's disk failed: ${machine.overlayProblem}. Put FLEET_LOCAL_DIR on a disk with ext4 or xfs, or load the kernel module overlay`,
    machine.memory < MEMORY_NEEDED &&
      `${gib(MEMORY_NEEDED)} of memory are needed for a hub, the machine has ${gib(machine.memory)}`,
    ...machine.disks.map(
      ({ path, purpose, free, needed }) =>
        free < needed &&
        `${gib(needed)} of disk are needed under ${path} for ${purpose}, ${gib(free)} are free: make room, or choose another folder`,
    ),
    ...Object.entries(PORTS).map(
      ([port, purpose]) =>
        machine.wildcardPorts.has(Number(port)) &&
        `port ${port} is taken on all addresses, it is needed for ${purpose}: end the program that listens there (ss -ltnp 'sport = :${port}'), or bind it to one address`,
    ),
    machine.foreignRoutes.length > 0 &&
      `the range 100.64.0.0/10 is used by something else here (a VPN?): ${machine.foreignRoutes.join(", ")}; switch that off`,
  ];
  return lacks.filter((lack) => lack !== false);
}

/** Characters that a path can't contain. Spaces, other punctuation, letters of any language and paths of 3,000 characters work: all were tried. */
const UNUSABLE: readonly [characters: RegExp, why: string][] = [
  [/[:;]/, "separates the entries of PATH, KUBECONFIG and LD_LIBRARY_PATH"],
  [/\$/, "begins a variable where the AWS CLI reads a path"],
  [/"/, "ends a value in the configuration of apt"],
  [/[*?[\\]/, "has a meaning in the patterns of Node.js, helm and Prometheus"],
  [/\p{Cc}/u, "is a control character, which YAML excludes"],
];

/** Names every character that can't be in a path, and why. */
function placeProblem({ path, what, otherwise }: Machine["places"][number]): string | false {
  const found = UNUSABLE.flatMap(([characters, why]) => {
    const [character] = characters.exec(path) ?? [];
    return character === undefined ? [] : [`${JSON.stringify(character)} ${why}`];
  });
  return (
    found.length > 0 && `${what}: unsupported characters in ${JSON.stringify(path)}: ${found.join("; ")}. ${otherwise}`
  );
}

function toolProblem({ name, argv: [command], least, found }: Tool): string | false {
  if (found === undefined) return `the command ${command} is not on PATH: install it`;
  return (
    compare(found, least) < 0 &&
    `${name} ${least} or newer is needed, found "${found.trim()}": install a newer one and put it first on PATH`
  );
}
