import { spawn } from "node:child_process";
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ssh2, { type AuthContext, type Connection, type ServerChannel, type Session } from "ssh2";
import { type AccessList, type Grants, grantsOfKey, isService, refusal } from "./access.ts";

/** A new ED25519 key in OpenSSH's format. About one in 200 that ssh2 1.17.0 makes can't be read by ssh2 itself: those are dropped. */
export function newPrivateKey(comment: string): string {
  for (;;) {
    const { private: key } = ssh2.utils.generateKeyPairSync("ed25519", { comment });
    if (isReadable(key)) return key;
  }
}

const isReadable = (key: string) => !(ssh2.utils.parseKey(key) instanceof Error);

/** The private host key of an instance, made on first use and kept, so that known_hosts stays true over restarts. */
export function ensureHostKey(file: string): string {
  if (!existsSync(file) || !isReadable(readFileSync(file, "utf8"))) {
    const partial = `${file}.partial`;
    writeFileSync(partial, newPrivateKey("git.fleet.internal"), { mode: 0o600 });
    renameSync(partial, file);
  }
  chmodSync(file, 0o600);
  return readFileSync(file, "utf8");
}

/** The known_hosts line of a host key. */
export function knownHostsLine(host: string, privateKey: string): string {
  const key = ssh2.utils.parseKey(privateKey);
  if (key instanceof Error) throw new Error(`the Git server's host key cannot be read: ${key.message}`);
  return `${host} ${key.type} ${key.getPublicSSH().toString("base64")}`;
}

/** A command line as git sends it: `git-upload-pack '/name.git'`, with or without the slash. */
function parseCommand(command: string) {
  const [, service, repository] = /^([a-z-]+) '\/?([a-z0-9][a-z0-9-]*)\.git'$/.exec(command) ?? [];
  return service !== undefined && repository !== undefined && isService(service) ? { service, repository } : undefined;
}

function authenticate(context: AuthContext, list: AccessList): Grants | undefined {
  if (context.method !== "publickey" || context.username !== "git") return undefined;
  const granted = grantsOfKey(list, context.key.data);
  if (granted.size === 0) return undefined;
  // Without a signature the client only asks whether the key would do; with one it proves that it holds it.
  if (context.signature !== undefined) {
    const key = ssh2.utils.parseKey(`${context.key.algo} ${context.key.data.toString("base64")}`);
    if (key instanceof Error || context.blob === undefined) return undefined;
    if (key.verify(context.blob, context.signature, context.hashAlgo) !== true) return undefined;
  }
  return granted;
}

function refuse(channel: ServerChannel, message: string) {
  channel.stderr.write(`${message}\n`);
  channel.exit(128);
  channel.end();
}

function serve(channel: ServerChannel, argv: [string, string], gitProtocol: string | undefined) {
  const protocol = gitProtocol === undefined ? {} : { GIT_PROTOCOL: gitProtocol };
  const git = spawn(argv[0], [argv[1]], { env: { ...process.env, ...protocol } });
  channel.pipe(git.stdin);
  git.stdin.on("error", () => channel.unpipe(git.stdin)); // git ended before it read all
  git.stdout.pipe(channel, { end: false });
  git.stderr.pipe(channel.stderr, { end: false });
  channel.on("close", () => git.kill());
  git.on("error", (error) => refuse(channel, `${argv[0]} cannot be started: ${error.message}`));
  git.on("close", (code) => {
    channel.exit(code ?? 128);
    channel.end();
  });
}

function onSession(session: Session, granted: Grants, root: string, log: (line: string) => void) {
  let gitProtocol: string | undefined;
  session.on("env", (accept, reject, info) => {
    if (info.key !== "GIT_PROTOCOL") return reject?.();
    gitProtocol = info.val;
    accept?.();
  });
  session.on("exec", (accept, _reject, info) => {
    const channel = accept();
    const command = parseCommand(info.command);
    if (command === undefined)
      return refuse(channel, `only git fetch and git push of <repository>.git, got: ${info.command}`);
    const denied = refusal(granted, command.repository, command.service);
    log(`ssh ${command.service} ${command.repository}${denied === undefined ? "" : `: ${denied}`}`);
    if (denied !== undefined) return refuse(channel, denied);
    serve(channel, [command.service, join(root, `${command.repository}.git`)], gitProtocol);
  });
}

export interface SshServerOptions {
  /** Folder with the bare repositories `<name>.git`. */
  root: string;
  /** Private host key, PEM or OpenSSH. */
  hostKey: string;
  /** Read at every login, so that a changed list counts at once. */
  accessList: () => AccessList;
  log: (line: string) => void;
}

/** Git over SSH for the user `git`: deploy keys only; no shell, no forwarding, no other command. */
export function createSshServer({ root, hostKey, accessList, log }: SshServerOptions): ssh2.Server {
  return new ssh2.Server({ hostKeys: [hostKey] }, (client: Connection) => {
    let granted: Grants = new Map();
    client.on("authentication", (context) => {
      try {
        granted = authenticate(context, accessList()) ?? new Map();
      } catch (error) {
        granted = new Map();
        log(String(error));
      }
      if (granted.size > 0) return context.accept();
      if (context.method === "publickey") log(`ssh refused an unknown key for the user ${context.username}`);
      context.reject(["publickey"]);
    });
    client.on("ready", () => {
      client.on("session", (accept) => onSession(accept(), granted, root, log));
    });
    client.on("error", (error: Error) => log(`ssh connection: ${error.message}`));
  });
}
