/** A Git host as known_hosts writes it, with the port in brackets when it is not 22, and how to ask for its key. */
export function gitHost({ hostname, port }: URL): { name: string; scan: string } {
  if (port === "" || port === "22") return { name: hostname, scan: `ssh-keyscan ${hostname}` };
  return { name: `[${hostname}]:${port}`, scan: `ssh-keyscan -p ${port} ${hostname}` };
}

/** Whether `knownHosts` has a key for `host`. Hashed host names can't be read, so one of them counts as a match. */
export function knows(knownHosts: string, host: string): boolean {
  const names = knownHosts
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields.length >= 3 && !fields[0]?.startsWith("#"))
    .flatMap(([hosts = ""]) => hosts.split(","));
  return names.some((name) => name === host || name.startsWith("|1|"));
}
