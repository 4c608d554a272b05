import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { descriptions } from "../../cli/descriptions.ts";
import { version } from "../../cli/project.ts";
import { fleet } from "../../cli/run.ts";
import { transcriptsIn } from "./support/transcripts.ts";
import { rejecting, rejectingLines } from "./support/wrong-lines.ts";

// init calls git for the identity of the commits: wrong-input.integration.test.ts.
const commands = Object.entries(descriptions).filter(([name]) => name !== "init");
const optionsOf = (name: string) => Object.entries(descriptions[name]?.options ?? {});
const flagsOf = (name: string, type: string) =>
  optionsOf(name).flatMap(([option, of]) => (of.type === type && option !== "help" ? [`--${option}`] : []));
const takers = (...options: string[]) =>
  commands.map(([name]) => name).filter((name) => options.every((option) => descriptions[name]?.options[option]));

describe("each transcript is printed on standard error with exit code 2, and no file is written", () => {
  const rejected = rejecting();
  test.each(transcriptsIn(join(import.meta.dirname, "transcripts")))("$line", async ({ line, message }) => {
    expect(await rejected(line)).toBe(message);
  });
});

describe("every command rejects", () => {
  const problemsOf = rejectingLines();

  test.each(commands)("an unknown option: %s", async (name) => {
    const allowed = optionsOf(name).map(([option]) => `--${option}`);
    const problem = `--colour: is not an option of fleet ${name} | --colour | ${allowed.join(", ")} | leave it out.`;
    expect(await problemsOf(`fleet ${name} --colour`)).toContain(`${problem} See fleet ${name} --help`);
  });

  test.each(commands)("options without their values: %s", async (name) => {
    const flags = flagsOf(name, "string");
    const problems = flags.map((flag, index) => {
      const next = flags[index + 1];
      const written = next === undefined ? "" : `; a value that begins with a hyphen is written ${flag}=${next}`;
      const got = next === undefined ? "(nothing)" : `${flag} ${next}`;
      return `${flag}: has no value | ${got} | ${flag} VALUE | give its value${written}. See fleet ${name} --help`;
    });
    expect(await problemsOf(`fleet ${name} --colour ${flags.join(" ")}`)).toEqual(expect.arrayContaining(problems));
  });

  test.each(commands)("values of options that take none: %s", async (name) => {
    const flags = ["--help", ...flagsOf(name, "boolean")];
    const problems = flags.map((flag) => {
      const remedy = `write ${flag} alone, or leave it out. See fleet ${name} --help`;
      return `${flag}: takes no value | yes | ${flag} | ${remedy}`;
    });
    const line = `fleet ${name} ${flags.map((flag) => `${flag}=yes`).join(" ")}`;
    expect(await problemsOf(line)).toEqual(expect.arrayContaining(problems));
  });

  test.each(commands)("missing arguments, and one too many: %s", async (name, { help }) => {
    const [, ...names] = (/^Usage: fleet \S+((?: <\w+>)*)/.exec(help)?.[1] ?? "").split(" ");
    const missing = names.map(
      (each) =>
        `${each}: is missing | (nothing) | fleet ${name} ${names.join(" ")} | give ${each}. See fleet ${name} --help`,
    );
    expect(await problemsOf(`fleet ${name} --colour`)).toEqual(expect.arrayContaining(missing));
    const given = ["a", "b", "c", "d"].slice(0, names.length + 1).join(" ");
    const allowed = names.join(" ") || "no argument";
    const surplus = `${given.slice(-1)}: is one argument too many | ${given} | ${allowed} | leave it out.`;
    expect(await problemsOf(`fleet ${name} ${given}`)).toContain(`${surplus} See fleet ${name} --help`);
  });

  test.each(takers("dry-run", "commit", "push"))("a commit of a dry run: %s", async (name) => {
    for (const flags of ["--dry-run --commit", "--dry-run --push"])
      expect(await problemsOf(`fleet ${name} --colour ${flags}`)).toContain(
        `--dry-run: writes nothing, so there is nothing to commit | ${flags} | --dry-run, or --commit, or --push | leave one of them out`,
      );
  });

  const formats = commands.flatMap(([name, { choices = {} }]) =>
    ["output", "format"].flatMap((option) => (choices[option] ? [{ name, option, allowed: choices[option] }] : [])),
  );
  test.each(formats)("an unknown $option: $name", async ({ name, option, allowed }) => {
    expect(await problemsOf(`fleet ${name} --colour --${option} csv`)).toContain(
      `--${option}: has an unknown value | csv | ${allowed.join(", ")} | choose one`,
    );
  });
});

describe("rejects a line without a required option:", () => {
  const problemsOf = rejectingLines();
  test.each([
    ["add-environment", "--like", "an environment that is there, such as dev"],
    ["deployer-policy", "--fleet", "lower-case letters, digits and hyphens, beginning with a letter"],
    ["deployer-policy", "--account", "12 digits"],
    ["deployer-policy", "--region", "the name of an AWS region, such as eu-central-1"],
    ["mirror", "--registry", "<host>/<path>"],
    ["new-cluster", "--environment", "an environment, such as dev"],
    ["new-cluster", "--tenant", "the team that owns the cluster"],
    ["new-team", "--cluster", "a spoke"],
    ["new-team", "--namespace", "a namespace of the team's"],
    ["new-team", "--role", "ARN=view, ARN=edit or ARN=admin"],
    ["offboard", "--cluster", "a spoke on which the application is"],
    ["onboard", "--cluster", "the name of a spoke"],
    ["onboard", "--tenant", "the team that owns the application"],
    ["onboard", "--repository-url", "ssh://… or https://…"],
    ["promote", "--from", "an environment, such as dev"],
    ["promote", "--to", "another environment, such as prod"],
    ["reseal", "--deploy-keys", "fleet, keep"],
    ["rotate-key", "--repository", "folders of checkouts, gitops-system among them"],
    ["rotate-key", "--stack", "the Pulumi stack of the hub"],
    ["seal", "--cluster", "the name of a spoke, or hub"],
    ["seal", "--name", "the name of the Secret"],
    ["seal", "--namespace", "the namespace of an application"],
  ])("%s %s", async (name, option, allowed) => {
    expect(await problemsOf(`fleet ${name}`)).toContain(
      `${option}: is missing | (nothing) | ${allowed} | give ${option}. See fleet ${name} --help`,
    );
  });
});

describe("rejects a folder that isn't the checkout, also as the default:", () => {
  const problemsOf = rejectingLines();
  const ofSpokes = ["adopt", "protect", "release", "remove", "renew-access", "reseal", "rotate-deploy-key", "scale"];
  test.each([
    ...["add-environment", "new-cluster", "new-team", "promote"].map((name) => [name, "system", "templates/spoke"]),
    ...["costs", "facts", "new-fleet"].map((name) => [name, "system", "templates/fleet"]),
    ["new-ring", "system", "templates/ring"],
    ...[...ofSpokes, "sealing-keys", "upgrade"].map((name) => [name, "system", "spokes"]),
    ...["offboard", "onboard"].map((name) => [name, "workloads", "templates/app"]),
  ])("%s: gitops-%s with %s", async (name, repository, folder) => {
    const rest = `a clone of gitops-${repository}; default: the current folder | run this in a clone of gitops-${repository}, or name one with --repository DIR`;
    const wrong = `--repository: is not a checkout of gitops-${repository}: it has no folder ${folder}`;
    const line = `fleet ${name}${name === "facts" ? " --bridge {file}" : ""}`;
    expect(await problemsOf(`${line} --colour`)).toContain(`${wrong} | {cwd} | ${rest}`);
    expect(await problemsOf(`${line} --repository {folder}`)).toContain(`${wrong} | {folder} | ${rest}`);
    const missing = `--repository: names a folder that does not exist | {nowhere} | ${rest}`;
    expect(await problemsOf(`${line} --repository {nowhere}`)).toContain(missing);
  });

  const anyCheckout = "the folder of a checkout | correct the path";
  test.each([
    ["report", anyCheckout],
    ["rotate-key", anyCheckout],
    ["rollouts --promote", "a clone of gitops-system with its whole history | correct the path"],
  ])("%s", async (name, rest) => {
    expect(await problemsOf(`fleet ${name} --repository {nowhere}`)).toContain(
      `--repository: names a folder that does not exist | {nowhere} | ${rest}`,
    );
  });
});

describe("rejects the name of a spoke that it can't change:", () => {
  const problemsOf = rejectingLines();
  const readers = ["adopt", "protect", "release", "remove", "scale", "upgrade"];
  const form =
    "at most 40 lower-case letters, digits and hyphens, beginning with a letter, not hub and not beginning with cluster-";
  test.each([...readers, "reseal", "rotate-deploy-key", "sealing-keys"])("%s", async (name) => {
    const of = (spoke: string) => problemsOf(`fleet ${name} ${spoke} --repository {system}`);
    const unknown = "<spoke>: is not the name of a spoke in this checkout";
    const rest = "or pull the checkout; fleet new-cluster makes a new spoke";
    const allowed = "a folder in spokes/<fleet> with the spoke.yaml of a Spoke";
    expect(await of("takn")).toContain(
      `${unknown} | takn | ${allowed} | did you mean taken? If not, correct the fleet, ${rest}`,
    );
    expect(await of("blue")).toContain(`${unknown} | blue | ${allowed} | correct the name or the fleet, ${rest}`);
    expect(await of("Blue")).toContain(
      `<spoke>: can't be the name of a spoke: it is part of names in AWS and in Kubernetes | Blue | ${form} | choose another name`,
    );
    if (readers.includes(name))
      expect(await of("taken")).toContain(
        "<spoke>: has no Spoke in its file | spokes/fleet/taken/spoke.yaml | a manifest of the kind Spoke | correct the file first",
      );
  });
});

describe("fleet without a command, or asked for help", () => {
  const printed = async (...argv: string[]) => {
    const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const code = await fleet(argv);
    const text = write.mock.calls.map(([part]) => String(part)).join("");
    write.mockRestore();
    return { code, text };
  };

  test.each([[[]], [["--help"]], [["-h"]], [["help"]]])("lists the commands and succeeds: %j", async (argv) => {
    const { code, text } = await printed(...argv);
    expect(code).toBe(0);
    for (const [name, { summary }] of Object.entries(descriptions))
      expect(text).toContain(`  ${name.padEnd(17)} ${summary}\n`);
  });

  test("says its version", async () => {
    expect(await printed("--version")).toEqual({ code: 0, text: `fleet ${version}\n` });
  });

  test("says more about a command in both ways, whatever else is on the line", async () => {
    for (const argv of [
      ["help", "check"],
      ["check", "--help"],
      ["check", "--colour", "-h"],
    ])
      expect(await printed(...argv)).toEqual({ code: 0, text: descriptions["check"]?.help });
  });
});
