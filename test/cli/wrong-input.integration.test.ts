import { rejectsLines } from "./support/wrong-lines.ts";

// Only programs detect what is wrong in these lines: git, pulumi, kustomize.
rejectsLines("fleet init", {
  "--known-hosts {nowhere}": [
    "<folder>: is missing | (nothing) | fleet init <folder> | give <folder>. See fleet init --help",
    "--known-hosts: names a file that does not exist | {nowhere} | a file that you may read | correct the path",
    "--stack: is missing | (nothing) | up to 100 letters, digits, hyphens, underscores and dots | give --stack",
    "--fleet: is missing | (nothing) | the fleet's name, the prefix of its names in AWS | give --fleet",
    "--environment: is missing | (nothing) | dev, prod | give --environment",
    "--account: is missing | (nothing) | 12 digits | give --account",
    "--region: is missing | (nothing) | the name of an AWS region, such as eu-central-1 | give --region",
    "--public-access-cidr: names no address that may use the public endpoint | [] | the networks of people and pipelines that use the cluster, at most 16777216 public addresses together (a /8) | give the public address from which you and your pipelines connect, such as --public-access-cidr a.b.c.d/32 (curl https://checkip.amazonaws.com)",
    "--system-url: is not set | (empty) | ssh://user@host/path.git or https://host/path.git | give --system-url ssh://git@<host>/<organization>/gitops-system.git, or an https:// URL with --git-authentication token or github-app",
    "--workloads-url: is not set | (empty) | ssh://user@host/path.git or https://host/path.git | give --workloads-url ssh://git@<host>/<organization>/gitops-workloads.git, or an https:// URL with --git-authentication token or github-app",
  ],
  "{cwd}/inside --stack pilot --fleet Pilot --environment dve --account 12 --region Frankfurt --system-url git@host:a.git --workloads-url ssh://git@host/b.git --public-access-cidr 0.0.0.0/0":
    [
      "<folder>: is inside this project's checkout | {cwd}/inside | a folder beside it, because each repository in it is separate | choose another folder, such as ../fleet",
      "--fleet: can't be the name of a fleet | Pilot | lower-case letters, digits and hyphens, beginning with a letter, not hub: the name in the config of the hub's stack | correct the name",
      "--spoke-environment: has an unknown value | dve | dev, prod | did you mean dev? If not, choose one of those that gitops-system has; it is --environment when it is not given",
      "--account: has another form | 12 | 12 digits | give another --account",
      "--region: has another form | Frankfurt | the name of an AWS region, such as eu-central-1 | give another --region",
      "--system-url: has a value that is not allowed | git@host:a.git | ssh://user@host/path.git or https://host/path.git, without a password | give --system-url ssh://git@<host>/<organization>/gitops-system.git, or an https:// URL with --git-authentication token or github-app",
      '--public-access-cidr: opens the Kubernetes API to the whole Internet | ["0.0.0.0/0"] | the networks of people and pipelines that use the cluster, at most 16777216 public addresses together (a /8) | give the public address from which you and your pipelines connect, such as --public-access-cidr a.b.c.d/32 (curl https://checkip.amazonaws.com)',
      "--known-hosts: has no key of the Git host host, so Flux could not tell it from an impostor | (empty) | a known_hosts line for each host of an ssh:// URL | ssh-keyscan -t ed25519 <host> > known_hosts, compare it with the fingerprint that the host publishes, and give --known-hosts known_hosts",
    ],
});

rejectsLines("fleet diff", {
  "{repos}/a {repos}/b": "{repos}/a is neither a revision of {cwd} nor a folder; git fetch it, or name a folder",
  "nothing HEAD": "nothing is neither a revision of {cwd} nor a folder; git fetch it, or name a folder",
  "{folder} {folder}":
    "{folder} has neither repos/gitops-system, nor gitops-system, nor is it gitops-system itself (platform/api): name the folder with the checkouts of the other repositories by --repos",
  "{repos} {repos} --bridge {file}":
    "--bridge {file}: Unexpected token 'o', \"not what wa\"... is not valid JSON; it must be what pulumi stack output --json bridgeData writes",
  "{repos} {repos} --preview prod={file}":
    "--preview prod: Unexpected token 'o', \"not what wa\"... is not valid JSON; it must be what pulumi preview --json --stack prod writes (with --non-interactive)",
  "{repos} {repos} --fleet other":
    "--fleet must name one of the fleets of gitops-system: fleet; got other. Run the command once for each",
});

rejectsLines("fleet check", {
  "--repos {folder}":
    "fleet check could not run: {folder} has no folder gitops-system: --repos must name the folder in which the checkouts of gitops-system, gitops-workloads and of the applications lie side by side; got no folder",
});

rejectsLines("fleet node-releases", {
  "--stack nowhere":
    "the stack nowhere can't be read: stack nowhere has no file {cwd}/stacks/Pulumi.nowhere.yaml. fleet doctor --stack nowhere says more",
});

rejectsLines("fleet upgrade-platform", {
  "--repository {system} --from v0 --to v9": [
    "--repository: is not the top of a Git repository with a commit | {system} | a clone of gitops-system or gitops-workloads; default: the current folder | name the clone with --repository DIR",
    "--from: is no commit of the project's checkout | v0 | a tag, branch or commit, or what git describe says, in {cwd} | git -C {cwd} fetch --tags, in a shallow clone with --unshallow; or name another one",
    "--to: is no commit of the project's checkout | v9 | a tag, branch or commit, or what git describe says, in {cwd} | git -C {cwd} fetch --tags, in a shallow clone with --unshallow; or name another one",
  ],
});
