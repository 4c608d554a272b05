import { existsSync } from "node:fs";
import { run } from "./run.ts";

/** What the node and the tests take from the distribution, which pins the versions. */
export const DEBIAN_PACKAGES = [
  "containerd",
  "containernetworking-plugins",
  "iproute2",
  // The bridge and portmap plugins call it for masquerading and host ports.
  "iptables",
  "nftables",
  "openssh-client",
  "runc",
] as const;

/** What must be there afterwards, whoever installed it: commands on PATH. */
export const SYSTEM_COMMANDS = [
  "containerd",
  "containerd-shim-runc-v2",
  "ctr",
  "ip",
  "iptables",
  "nft",
  "runc",
  "ssh",
] as const;

const CNI_FOLDERS = ["/usr/lib/cni", "/opt/cni/bin"];

/** The folder of the CNI plugins: Debian's place, else the one of upstream's archives. Undefined: none is installed. */
export const cniDir = (exists: (path: string) => boolean = existsSync): string | undefined =>
  CNI_FOLDERS.find((folder) => exists(`${folder}/bridge`));

/** Those of the packages whose status (`dpkg-query -W -f '${Package} ${db:Status-Status}\n'`) isn't "installed". */
export function missingPackages(status: string): string[] {
  const installed = new Set(
    status
      .split("\n")
      .filter((line) => line.endsWith(" installed"))
      .map((line) => line.split(" ")[0] ?? ""),
  );
  return DEBIAN_PACKAGES.filter((name) => !installed.has(name));
}

/** Installs the missing packages with apt. A machine without apt is preflight's business: it names the commands. */
export async function ensureDebianPackages(say: (detail: string) => void): Promise<void> {
  if (!existsSync("/usr/bin/apt-get")) return;
  const query = "dpkg-query -W -f '${Package} ${db:Status-Status}\\n' \"$@\" || true";
  const missing = missingPackages(await run(["sh", "-c", query, "dpkg-query", ...DEBIAN_PACKAGES]));
  if (missing.length === 0) return;
  say(`apt-get install ${missing.join(" ")}`);
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  await run(["apt-get", "-q", "update"], { env });
  await run(["apt-get", "-q", "install", "--yes", "--no-install-recommends", ...missing], { env });
  // The package starts a containerd for the whole machine; the nodes run their own.
  if (missing.includes("containerd") && existsSync("/run/systemd/system")) {
    await run(["systemctl", "disable", "--now", "containerd.service"]);
  }
}
