import { spawnSync } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import {
  commandPath,
  fits,
  lackingPackages,
  lackingWithoutApt,
  SYSTEM_COMMANDS,
  SYSTEM_SETS,
  useSystem,
} from "../../../toolchain/system.ts";
import { wrapper } from "../../../toolchain/unpacked.ts";
import { scratch } from "../../support/scratch.ts";

let dir: string;
beforeEach(async () => {
  dir = scratch("system-");
});

const setOf = (name: string) => {
  const set = SYSTEM_SETS.find((candidate) => candidate.package === name);
  if (!set) throw new Error(`no set ${name}`);
  return set;
};

describe("the machine's own command is used in a version that was tried, as its distributions tell it", () => {
  test.each<[string, boolean, string]>([
    ["containerd", true, "containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3"],
    ["containerd", true, "containerd containerd.io 1.7.27 05044ec0a9a75232cad458027ca83437aae3f4da"],
    ["containerd", false, "containerd github.com/containerd/containerd/v2 v2.1.4 75cb2b71"],
    ["containerd", false, "containerd containerd.io v2.2.0 1c4457e0"],
    ["containerd", false, "containerd github.com/containerd/containerd 1.4.13~ds1"],
    ["runc", true, "runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1+deb12u1\nspec: 1.0.2-dev"],
    ["runc", true, "runc version 1.3.0\ncommit: v1.3.0-0-g4ca628d1"],
    ["runc", false, "runc version 1.0.0~rc93+ds1"],
    ["nftables", true, "nftables v1.0.6 (Lester Gooch #5)"],
    ["nftables", false, "nftables v0.9.8 (E.D.S.)"],
    ["iptables", true, "iptables v1.8.9 (nf_tables)"],
    ["iptables", false, "iptables v1.6.1"],
    ["iproute2", true, "ip utility, iproute2-6.1.0, libbpf 1.1.2"],
    ["iproute2", false, "ip utility, iproute2-ss200127"],
    ["iproute2", false, "BusyBox v1.35.0 multi-call binary."],
    ["ipset", true, "ipset v7.17, protocol version: 7"],
    ["ipset", false, "ipset v6.34, protocol version: 6"],
    ["openssh-client", true, "OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19 27 Jan 2026"],
    ["openssh-client", false, "OpenSSH_8.1p1, OpenSSL 1.0.2k-fips"],
    ["docker-registry", true, "/usr/bin/docker-registry github.com/docker/distribution 2.8.2+ds1"],
    ["docker-registry", false, "registry github.com/distribution/distribution/v3 v3.0.0"],
  ])("%s: %s for %s", (name, expected, told) => expect(fits(setOf(name), told)).toBe(expected));
});

describe("what the machine lacks", () => {
  const commands = Object.fromEntries(SYSTEM_COMMANDS.map((name) => [name, `/usr/bin/${name}`]));
  const whole = { commands, cni: "/usr/lib/cni", pip: true };

  test("is nothing where all is there", () => expect(lackingPackages(whole)).toEqual([]));

  test("is a package as soon as one of its commands isn't there", () => {
    const { ctr: _, ...others } = commands;
    expect(lackingPackages({ ...whole, commands: others })).toEqual(["containerd"]);
  });

  test("is told with versions where there is no apt", () => {
    const lines = lackingWithoutApt({ commands: {}, cni: undefined, pip: false });
    expect(lines).toHaveLength(SYSTEM_SETS.length + 2);
    expect(lines[0]).toMatch(/^containerd, ctr, .* \(version 1\.6 or newer, below 2\): .* no apt-get .*: install it$/);
    expect(lines).toContainEqual(expect.stringMatching(/^nft \(version 1\.0\.1 or newer\): not on this machine/));
  });
});

describe("a command that needs its package's libraries", () => {
  const program = 'printf "%s\\n" "$LD_LIBRARY_PATH" "$(ls "$XTABLES_LIBDIR")" "$@"';
  const start = async (extensions: string | undefined, env: Record<string, string>) => {
    await writeFile(join(dir, "it's `a`"), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
    const command = join(dir, "command");
    await writeFile(command, wrapper(join(dir, "it's `a`"), ["/own/`a`", "/own/b"], extensions));
    await chmod(command, 0o755);
    return spawnSync(command, ["one word", "$two"], { encoding: "utf8", env }).stdout.trimEnd().split("\n");
  };

  test("finds them before the machine's, and gets its arguments as they are", async () => {
    const extensions = join(dir, "e".repeat(200), "x".repeat(200), "`x`tables");
    await mkdir(extensions, { recursive: true });
    await writeFile(join(extensions, "libxt_comment.so"), "");
    expect(await start(extensions, {})).toEqual(["/own/`a`:/own/b", "libxt_comment.so", "one word", "$two"]);
  });

  test("keeps what the caller searches", async () => {
    const [libraries] = await start(undefined, { LD_LIBRARY_PATH: "/theirs" });
    expect(libraries).toBe("/own/`a`:/own/b:/theirs");
  });
});

test("the toolchain's own folder on PATH is not taken for the machine's", async () => {
  const ours = join(dir, "fleet-system-commands");
  const theirs = join(dir, "bin");
  for (const folder of [ours, theirs]) {
    await mkdir(folder);
    await writeFile(join(folder, "nft"), "");
  }
  expect(commandPath("nft", `${ours}:${theirs}`)).toBe(join(theirs, "nft"));
});

test("the toolchain's commands are first on PATH, once, and take the place of an older toolchain's", () => {
  const path = process.env["PATH"];
  try {
    process.env["PATH"] = "/usr/bin:/old/fleet-system-commands:/bin";
    const system = { bin: "/new/fleet-system-commands", cni: "", pip: undefined };
    useSystem(system);
    useSystem(system);
    expect(process.env["PATH"]).toBe("/new/fleet-system-commands:/usr/bin:/bin");
  } finally {
    process.env["PATH"] = path;
  }
});
