import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { foreignRoutes, overlayProblem, ownKubelet, placesOf, routesIn, wildcardPorts } from "../../../cli/machine.ts";
import { type Machine, missing, neededTools, toFill } from "../../../cli/preflight.ts";
import { statOf } from "../../../instance/processes.ts";
import { compare } from "../../../product.ts";
import { CHECKOUT } from "../../../product-paths.ts";
import { goNeeded } from "../../../toolchain/go-groups.ts";
import { scratch } from "../../support/scratch.ts";

const GIB = 1024 ** 3;
/** The tools that are needed, as new as they have to be, but for what is said of some here. */
function toolsWith(found: Readonly<Record<string, string | undefined>>): Machine["tools"] {
  const all: Record<string, string | undefined> = {
    git: "git version 2.39.5",
    Go: "go1.26.8",
    Python: "Python 3.11.2",
  };
  return neededTools(true).map((tool) => ({ ...tool, found: { ...all, ...found }[tool.name] }));
}

const fit: Machine = {
  platform: "linux",
  architecture: "x64",
  user: 0,
  tools: toolsWith({}),
  venv: true,
  overlayProblem: undefined,
  systemProblems: [],
  places: [{ path: "/home/it's é 数/(a) #1 & %41 ~{b}/eks-gitops-fleet", what: "this clone", otherwise: "Move it" }],
  folderProblems: [],
  kubelet: undefined,
  namespaceProblem: undefined,
  cgroupProblem: undefined,
  memory: 16 * GIB,
  disks: [{ path: "/cache", purpose: "the toolchain", free: 30 * GIB, needed: 25 * GIB }],
  wildcardPorts: new Set([22]),
  foreignRoutes: [],
};

test("a Linux machine with root, Go, Python, git, memory and disk is fit", () => {
  expect(missing(fit)).toEqual([]);
});

describe("what a machine lacks is said at once, all of it", () => {
  test.each<[string, Partial<Machine>, RegExp]>([
    ["another system", { platform: "darwin" }, /this machine is darwin: use a Linux machine/],
    ["another architecture", { architecture: "s390x" }, /got s390x/],
    ["no root", { user: 1000 }, /root is needed .* got user id 1000: run it with sudo/],
    ["no Go", { tools: toolsWith({ Go: undefined }) }, /the command go is not on PATH/],
    [
      "an old Go",
      { tools: toolsWith({ Go: "go1.26.7\n" }) },
      /^Go 1\.26\.8 or newer is needed, found "go1\.26\.7": install a newer one/,
    ],
    [
      "an old Python",
      { tools: toolsWith({ Python: "Python 3.9.2" }) },
      /^Python 3\.10 or newer is needed, found "Python 3\.9\.2"/,
    ],
    ["an old git", { tools: toolsWith({ git: "git version 2.11.0" }) }, /^git 2\.38 or newer is needed/],
    ["a git that says no version", { tools: toolsWith({ git: "" }) }, /^git 2\.38 or newer is needed, found ""/],
    ["no virtual environments", { venv: false }, /ensurepip.*python3-venv/],
    ["no overlay mounts", { overlayProblem: "mount: wrong fs type" }, /mount: wrong fs type.*FLEET_LOCAL_DIR/],
    ["no apt and no nft", { systemProblems: ["nft version 1.0.1 or newer: install it"] }, /^nft version 1\.0\.1/],
    [
      "a path with characters that programs misread",
      { places: [{ path: "/a:b/$c\n*", what: "this clone", otherwise: "Move it" }] },
      /^this clone: unsupported characters in "\/a:b\/\$c\\n\*": ":" separates .*; "\$" begins .*; "\*" has .*; "\\n" is .*\. Move it$/,
    ],
    ["a home for an instance", { folderProblems: ["FLEET_LOCAL_DIR: /root holds /root"] }, /^FLEET_LOCAL_DIR: \/root/],
    ["a kubelet of its own", { kubelet: 77 }, /^a kubelet runs on this machine \(process 77\).*another machine/],
    [
      "no network namespaces",
      { namespaceProblem: "unshare failed: Operation not permitted" },
      /unshare failed: Operation not permitted/,
    ],
    ["no cgroups", { cgroupProblem: "no cgroup hierarchy" }, /no cgroup hierarchy/],
    ["little memory", { memory: 2 * GIB }, /4\.0 GiB of memory are needed for a hub, the machine has 2\.0 GiB/],
    [
      "a full disk",
      { disks: [{ path: "/cache", purpose: "the toolchain", free: GIB, needed: 25 * GIB }] },
      /25\.0 GiB of disk are needed under \/cache for the toolchain, 1\.0 GiB are free/,
    ],
    [
      "a taken port",
      { wildcardPorts: new Set([443]) },
      /port 443 is taken on all addresses, it is needed for AWS endpoints/,
    ],
    ["the port of the demo's application", { wildcardPorts: new Set([9898]) }, /port 9898 .* the demo's application/],
    ["the registry's port", { wildcardPorts: new Set([5000]) }, /port 5000 .* the container registry/],
    ["a VPN in our range", { foreignRoutes: ["100.64.0.0/10 on tailscale0"] }, /100\.64\.0\.0\/10 on tailscale0/],
  ])("%s", (_, change, message) => {
    expect(missing({ ...fit, ...change })).toEqual([expect.stringMatching(message)]);
  });

  test("several lacks are all named", () => {
    expect(missing({ ...fit, user: 1000, memory: 0 })).toHaveLength(2);
    expect(missing({ ...fit, tools: toolsWith({ Go: "go1.20", Python: "Python 3.8.0" }) })).toHaveLength(2);
  });
});

test.each([":", ";", "$", '"', "*", "?", "[", "\\", "\n", "\t", "\u007f"])("a path with %j is refused", (character) => {
  const places = [{ path: `/home/a${character}b`, what: "FLEET_LOCAL_DIR", otherwise: "Name another" }];
  expect(missing({ ...fit, places })).toEqual([expect.stringContaining(`${JSON.stringify(character)} `)]);
});

test("an instance in the checkout has no path of its own to be refused", () => {
  const paths = (dir: string) => placesOf(dir, "/cache").map(({ path }) => path);
  expect(paths(join(CHECKOUT, ".local"))).toEqual([CHECKOUT, "/cache"]);
  expect(paths("/srv/fleet")).toEqual([CHECKOUT, "/srv/fleet", "/cache"]);
});

test.skipIf(process.getuid?.() !== 0)(
  "overlay mounts are tried in any directory, and leave nothing in it",
  async () => {
    const folder = scratch("it's ä, b-");
    expect(await overlayProblem(folder)).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  },
);

test("a Python that isn't there is not asked for virtual environments, too", () =>
  expect(missing({ ...fit, tools: toolsWith({ Python: undefined }), venv: false })).toEqual([
    "the command python3 is not on PATH: install it",
  ]));

test("versions compare by number, not by text", () => {
  expect(compare("go1.9", "1.26")).toBeLessThan(0);
  expect(compare("go1.26.10", "go1.26.9")).toBeGreaterThan(0);
  expect(compare("2.39", "git version 2.39.0")).toBe(0);
});

test("the Go that is needed is the newest that a module asks for", () => {
  expect(goNeeded()).toBe("1.26.8");
  expect(neededTools(false).map(({ name }) => name)).toEqual(["git", "Python"]);
});

describe("Go and the disk of a build are asked for", () => {
  const empty = { path: "/cache", complete: false, built: false, offered: false };

  test("where the toolchain has to be compiled", () => expect(toFill(empty)).toEqual({ go: true, disk: 16 * GIB }));

  test("no longer on a later start, with a release or without", () => {
    const filled = { ...empty, complete: true, built: true };
    expect(toFill(filled)).toEqual({ go: false, disk: GIB });
    expect(toFill({ ...filled, offered: true })).toEqual({ go: false, disk: GIB });
  });

  test("not where a release has what is lacking", () => {
    expect(toFill({ ...empty, offered: true })).toEqual({ go: false, disk: 6 * GIB });
    expect(toFill({ ...empty, built: true, offered: true })).toEqual({ go: false, disk: 6 * GIB });
  });

  test("in part where only charts are lacking: their sources are Go modules", () =>
    expect(toFill({ ...empty, built: true })).toEqual({ go: true, disk: GIB }));
});

test("only ports that listen on every address count as taken", () => {
  const table = [
    "  sl  local_address rem_address   st",
    "   0: 00000000:01BB 00000000:0000 0A 00000000",
    "   1: 0100007F:1F90 00000000:0000 0A 00000000",
    "   2: 00000000:0016 00000000:0000 01 00000000",
    "   3: 00000000000000000000000000000000:11D6 00000000000000000000000000000000:0000 0A 00000000",
  ].join("\n");
  expect([...wildcardPorts(table)]).toEqual([443, 4566]);
});

test("routes of other instances and of tests do not count as foreign use of the address range", () => {
  expect(
    foreignRoutes([
      { dst: "default", dev: "eth0" },
      { dst: "100.64.0.0/30", dev: "fl0c0n0" },
      { dst: "100.127.0.0/30", dev: "flp1234" },
      { dst: "100.100.100.100", dev: "tailscale0" },
      { dst: "100.128.0.0/16", dev: "eth1" },
    ]),
  ).toEqual(["100.100.100.100 on tailscale0"]);
});

test("routes are read from the kernel's table, which any machine has", () => {
  const table = [
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask",
    "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000",
    "tailscale0\t00004064\t00000000\t0001\t0\t0\t0\t0000C0FF",
    "",
  ].join("\n");
  expect(routesIn(table)).toEqual([
    { dst: "0.0.0.0", dev: "eth0" },
    { dst: "100.64.0.0", dev: "tailscale0" },
  ]);
  expect(foreignRoutes(routesIn(table))).toEqual(["100.64.0.0 on tailscale0"]);
});

describe.skipIf(process.getuid?.() !== 0)("a kubelet", () => {
  /** Starts a process that is called kubelet, and ends it after `use`. */
  async function withKubelet(before: readonly string[], use: (pid: number) => void): Promise<void> {
    const program = join(scratch("fleet-kubelet-"), "kubelet");
    copyFileSync("/bin/sleep", program);
    const [command = program, ...args] = [...before, program, "1000"];
    const started = spawn(command, args);
    try {
      await expect.poll(() => statOf(started.pid as number)?.command).toBe("kubelet");
      use(started.pid as number);
    } finally {
      started.kill("SIGKILL");
      await once(started, "exit");
    }
  }

  test("of this machine is found, one in a container is not", async () => {
    const others = ownKubelet();
    await withKubelet(["unshare", "--mount"], (pid) => expect([ownKubelet(), pid]).toEqual([others, pid]));
    await withKubelet([], (pid) => expect(ownKubelet()).toBe(others ?? pid));
  });
});
