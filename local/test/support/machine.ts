import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** How a machine is: what a run changes on it is compared before and after. Keys are paths. */
export type MachineState = Readonly<Record<string, string | null>>;

const SETTINGS = ["fs/inotify", "kernel/keys", "vm", "net/ipv4/ip_forward", "net/ipv4/conf"];
const FOLDERS = ["/run/netns", "/run/containerd", "/var/lib/cni", "/var/lib/kubelet", "/var/log/containers"];
const CONTROLLERS = "/sys/fs/cgroup/cgroup.subtree_control";

/** The state of this machine now: settings of the kernel, folders in fixed places, controllers of the root cgroup. */
export function machineState(): MachineState {
  const kernel = readdirSync("/proc/sys/kernel").filter((name) => name.startsWith("panic"));
  const settings = [...SETTINGS, ...kernel.map((name) => `kernel/${name}`)].map((name) => join("/proc/sys", name));
  return Object.fromEntries([
    ...settings.flatMap(filesBelow).map((file) => [file, contentOf(file)]),
    ...FOLDERS.map((folder) => [folder, namesBelow(folder)]),
    [CONTROLLERS, contentOf(CONTROLLERS)],
  ]);
}

function filesBelow(path: string): string[] {
  try {
    return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return [path];
    throw error;
  }
}

/** null where nothing can be read: it is not there (cgroup v1), or the kernel only lets it be written. */
function contentOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    if (["ENOENT", "EACCES", "EPERM", "EIO"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

/** The names in a folder and below it; null where there is none. */
function namesBelow(folder: string): string | null {
  try {
    return readdirSync(folder, { recursive: true }).sort().join("\n");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
