import { readFileSync } from "node:fs";
import ts from "typescript";

/** What a declaration's comment says: its text, and the texts of its tags by name. */
export interface Comment {
  readonly text: string;
  readonly tags: Readonly<Record<string, readonly string[]>>;
}

/** A property, parameter or method, as a reader of the documentation needs it. */
export interface Member {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
  readonly comment: Comment;
}

/** A parsed module. Types are taken as they are written: nothing is resolved, so it takes milliseconds. */
export function parsed(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ES2023, true);
}

const textOf = (comment: string | ts.NodeArray<ts.JSDocComment> | undefined): string =>
  (ts.getTextOfJSDocComment(comment) ?? "").replaceAll(/\{@link (\w+)\}/g, "`$1`").trim();

/** The comment of a declaration, the last one before it. */
export function commentOf(node: ts.Node): Comment {
  const last = ts.getJSDocCommentsAndTags(node).findLast(ts.isJSDoc);
  const tags: Record<string, string[]> = {};
  for (const tag of last?.tags ?? []) {
    const name = tag.tagName.text;
    // TypeScript takes the first word behind @throws for a type.
    const type =
      ts.isJSDocThrowsTag(tag) && tag.typeExpression ? tag.typeExpression.getText().replaceAll(/[{}]/g, "") : "";
    tags[name] = [...(tags[name] ?? []), `${type} ${textOf(tag.comment)}`.trim()];
  }
  return { text: textOf(last?.comment), tags };
}

/** A type as documentation shows it: on one line, without what only the compiler wants. */
export const shown = (type: ts.TypeNode | undefined): string =>
  (type?.getText() ?? "")
    .replaceAll(/\/\*\*.*?\*\/|\/\/.*$/gms, "")
    .replaceAll(/\breadonly |\bpulumi\./g, "")
    .replaceAll(/\s+/g, " ")
    .replace(/ \| undefined$/, "")
    .replace(/^Readonly<(.*)>$/, "$1");

/** The members of an interface, in the order of the source. */
export const membersOf = (declaration: ts.InterfaceDeclaration): Member[] =>
  declaration.members.filter(ts.isPropertySignature).map((member) => ({
    name: member.name.getText(),
    type: shown(member.type),
    optional: member.questionToken !== undefined,
    comment: commentOf(member),
  }));

const isHidden = (member: ts.ClassElement): boolean =>
  ts.canHaveModifiers(member) &&
  (ts.getModifiers(member) ?? []).some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);

/** The public properties and methods of a class. */
export const outputsOf = (declaration: ts.ClassDeclaration): Member[] =>
  declaration.members.flatMap((member) => {
    if (isHidden(member)) return [];
    const comment = commentOf(member);
    if (ts.isPropertyDeclaration(member))
      return [{ name: member.name.getText(), type: shown(member.type), optional: false, comment }];
    if (!ts.isMethodDeclaration(member)) return [];
    const parameters = member.parameters.map(({ name }) => name.getText()).join(", ");
    return [{ name: `${member.name.getText()}(${parameters})`, type: shown(member.type), optional: false, comment }];
  });

/** Relative modules from which a module takes names, by name. */
export const importsOf = (source: ts.SourceFile): Map<string, string> =>
  new Map(
    source.statements.filter(ts.isImportDeclaration).flatMap(({ importClause, moduleSpecifier }) => {
      const from = ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : "";
      const named = importClause?.namedBindings;
      if (!from.startsWith(".") || !named || !ts.isNamedImports(named)) return [];
      return named.elements.map(({ name }) => [name.text, from] as const);
    }),
  );
