import { globSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { markdownTable } from "../../lib/markdown.ts";
import { type Comment, commentOf, importsOf, type Member, membersOf, outputsOf, parsed, shown } from "./typescript.ts";

/** The pages of docs/reference/components, made of the components' own comments. */

/** A type that an argument names, as its members or as it is written. */
interface NamedType {
  readonly name: string;
  readonly comment: Comment;
  readonly members: readonly Member[];
  readonly text: string;
}

/** A component resource. */
export interface Component {
  readonly name: string;
  /** Path of its module in the repository. */
  readonly file: string;
  readonly comment: Comment;
  readonly args: readonly Member[];
  readonly outputs: readonly Member[];
  readonly types: readonly NamedType[];
}

type Declaration = ts.InterfaceDeclaration | ts.TypeAliasDeclaration;

const isDeclaration = (node: ts.Node): node is Declaration =>
  ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);

/** The type of a name that a module declares or takes from another one of the repository; undefined for any other. */
function declared(source: ts.SourceFile, name: string): Declaration | undefined {
  const here = source.statements.filter(isDeclaration).find((node) => node.name.text === name);
  const from = importsOf(source).get(name);
  return here ?? (from === undefined ? undefined : declared(parsed(join(dirname(source.fileName), from)), name));
}

/** What short names stand for, such as a choice of words: read in place of the name. */
function inPlace(source: ts.SourceFile, members: readonly Member[]): Member[] {
  const full = (name: string) => {
    const found = declared(source, name);
    const type = found !== undefined && ts.isTypeAliasDeclaration(found) ? shown(found.type) : "";
    return /^(("[\w-]+"( \| )?)+|Record<\w+, \w+>)$/.test(type) ? type : name;
  };
  return members.map((member) => ({ ...member, type: member.type.replaceAll(/\b[A-Z]\w+/g, full) }));
}

/** The types with members, or of several forms, that members name, in the order in which they do. */
function namedTypes(source: ts.SourceFile, members: readonly Member[]): NamedType[] {
  const names = new Set(members.flatMap(({ type }) => type.match(/\b[A-Z]\w+/g) ?? []));
  return [...names].flatMap((name) => {
    const found = declared(source, name);
    if (found === undefined || !found.getText().includes("\n")) return [];
    const own = ts.isInterfaceDeclaration(found) ? inPlace(found.getSourceFile(), membersOf(found)) : [];
    const text = found.getText().replaceAll(/\b(readonly|export) /g, "");
    return [{ name, comment: commentOf(found), members: own, text }];
  });
}

/** Every component of a folder: a class whose arguments are the interface of its name with `Args` at the end. */
export function componentsOf(root: string): Component[] {
  return globSync("components/*.ts", { cwd: root })
    .flatMap((file) => {
      const source = parsed(join(root, file));
      return source.statements.filter(ts.isClassDeclaration).map((declaration): Component => {
        const name = declaration.name?.text ?? "";
        const own = declared(source, `${name}Args`);
        if (own === undefined || !ts.isInterfaceDeclaration(own))
          throw new RangeError(`${file}: the class ${name} needs an interface ${name}Args for its arguments`);
        const args = inPlace(source, membersOf(own));
        const rest = { outputs: outputsOf(declaration), types: namedTypes(source, args) };
        return { name, file, comment: commentOf(declaration), args, ...rest };
      });
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const code = (text: string) => (text === "" ? "" : `\`${text}\``);
/** Text for a page: what would be taken for HTML is not, outside of code. */
const prose = (text: string) => text.replaceAll(/`[^`]*`|</g, (found) => (found === "<" ? "\\<" : found));
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  markdownTable(
    head,
    rows.map((row) => row.map(prose)),
  );

/** A default in words stays as it is; a literal or a constant of the code is set as code. */
const byDefault = (text: string) => (/^(["[\d]|true$|false$|\w+\.\w+$)/.test(text) ? code(text) : text);
const meaning = ({ comment: { text, tags } }: Member) =>
  [text, ...(tags["example"] ?? []).map((example) => `Example: ${code(example)}`)].join(" ");

const argumentRow = (member: Member) => [
  code(member.name),
  code(member.type),
  member.optional ? byDefault(member.comment.tags["default"]?.[0] ?? "none") : "**required**",
  meaning(member),
];

const anchor = ({ name }: NamedType) => name.toLowerCase();

/** A short declaration without comments on one line, any other one as it is written. */
function inOneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length <= 130 && !text.includes("/*") ? line : text;
}

function typeSections({ name, comment, members, text }: NamedType): string[][] {
  const documented = members.some((member) => member.comment.text !== "");
  const body = documented
    ? table(["Member", "Type", "Default", "Meaning"], members.map(argumentRow))
    : ["```ts", inOneLine(text), "```"];
  return [[`## ${name}`], comment.text === "" ? [] : [comment.text], body];
}

/** The types that several components name, once each. */
function sharedTypes(components: readonly Component[]): NamedType[] {
  const all = components.flatMap(({ types }) => types);
  const names = all.map(({ name }) => name);
  return all.filter(({ name }, index) => names.indexOf(name) === index && names.lastIndexOf(name) > index);
}

/** The sections of a page, each a list of lines, with a blank line between them. Empty sections are left out. */
const sections = (parts: readonly (readonly string[])[]): string =>
  `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;

function page({ name, file, comment, args, outputs, types }: Component, shared: ReadonlySet<string>): string {
  const examples = (comment.tags["example"] ?? []).map((example) => ["```ts", example, "```"]);
  const errors = comment.tags["throws"] ?? [];
  const links = types
    .filter((type) => shared.has(type.name))
    .map((type) => `[${type.name}](README.md#${anchor(type)})`);
  return sections([
    [`# ${name}`],
    [`${prose(comment.text)} Source: [${file}](../../../${file}). <!-- Generated: npm run generate. -->`],
    ...examples,
    table(["Argument", "Type", "Default", "Meaning"], args.map(argumentRow)),
    outputs.length === 0
      ? []
      : table(
          ["Output", "Type", "Meaning"],
          outputs.map((output) => [code(output.name), code(output.type), meaning(output)]),
        ),
    [
      ...(errors.length === 0 ? [] : [`Errors: ${errors.map(prose).join("; ")}.`]),
      ...(links.length === 0 ? [] : [`Types: ${links.join(", ")}.`]),
    ],
    ...types.filter((type) => !shared.has(type.name)).flatMap(typeSections),
  ]);
}

/** File name of a component's page: HelmAddon, helm-addon.md. */
const pageName = (name: string) => `${name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase()}.md`;

const firstSentence = (text: string) => /^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text;

function index(components: readonly Component[], shared: readonly NamedType[]): string {
  const rows = components.map(({ name, comment }) => [`[${name}](${pageName(name)})`, firstSentence(comment.text)]);
  const intro = `# Components

Pulumi component resources. The hub's program, [infra/index.ts](../../../infra/index.ts), consists of them.
Your own program can use each one without the fleet: [examples/](../../../examples/README.md) has three such programs and describes how to
install the library (\`import { HubCluster, Network } from "eks-gitops-fleet/components"\`). <!-- Generated: npm run generate. -->

- An argument has the name of its key in [Pulumi.yaml](../../../Pulumi.yaml), without a prefix that repeats the component's name: \`diskSize\`
  of HubNodes is \`nodeDiskSize\` there. Required arguments have no sensible default.
- Without \`tags\`, resources have the default tags of the AWS provider (\`pulumi config set --path aws:defaultTags.tags.team shop\`).
- Components on a cluster take its provider as an option: \`{ provider: cluster.provider }\`.
- The argument \`protect\` covers what can't be created again (keys, credentials, the cluster). Pulumi's option \`protect\` covers everything in
  a component, so an upgrade that deletes or replaces a part of it fails.`;
  return sections([[intro], table(["Component", "Description"], rows), ...shared.flatMap(typeSections)]);
}

/** The pages by their path in the repository. */
export function componentPages(root: string): Record<string, () => string> {
  const folder = "docs/reference/components";
  const components = componentsOf(root);
  const shared = sharedTypes(components);
  const names = new Set(shared.map(({ name }) => name));
  const pages = components.map(
    (component) => [`${folder}/${pageName(component.name)}`, () => page(component, names)] as const,
  );
  return { [`${folder}/README.md`]: () => index(components, shared), ...Object.fromEntries(pages) };
}
