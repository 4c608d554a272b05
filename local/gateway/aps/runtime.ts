/** What a workspace's server is to run with. */
export interface ServerSettings {
  readonly retentionDays: number;
  /** Rule files (YAML) by name. */
  readonly rules: Readonly<Record<string, string>>;
}

/** The server doesn't take a rule file; the message is its own. It keeps the rules that it had. */
export class RulesRefused extends Error {
  override readonly name = "RulesRefused";
}

/** The Prometheus server of one workspace (a process of the instance; a fake in unit tests). All of it is idempotent. */
export interface WorkspaceRuntime {
  /** URL of the server, whether it runs or not. */
  readonly address: string;
  /** Resolves when the server answers and runs with these settings. Rejects with RulesRefused where it doesn't take the rules. */
  ensure(settings: ServerSettings): Promise<void>;
  /** Removes the server and all that it stores. */
  remove(): Promise<void>;
}

export interface Workspaces {
  /** Why no workspace can run, with what to do about it; undefined when they can. */
  unavailable(): Promise<string | undefined>;
  /** The server of a workspace, whether it exists yet or not. */
  of(id: string, number: number): WorkspaceRuntime;
}
