import { type ASTNode, Environment, serialize } from "@marcbachmann/cel-js";

/** Mutants of a CEL expression: the counterparts of what StrykerJS does to TypeScript. */

const environment = new Environment({ enableOptionalTypes: true });

/** A node as far as the parser's `serialize` reads it. */
type Node = Pick<ASTNode, "op" | "args">;

/** The value of every one of these is true or false. */
const conditions: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">=", "in", "&&", "||", "!_"]);
const predicates: ReadonlySet<string> = new Set(["has", "isURL", "isCIDR", "matches", "contains", "containsCIDR"]);

const operators: Readonly<Record<string, readonly string[]>> = {
  "==": ["!="],
  "!=": ["=="],
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "&&": ["||"],
  "||": ["&&"],
};

const methods: Readonly<Record<string, string>> = {
  all: "exists",
  exists: "all",
  startsWith: "endsWith",
  endsWith: "startsWith",
};

/** Methods whose value is of the kind of what they are called on. */
const droppable: ReadonlySet<string> = new Set(["filter", "trim", "lowerAscii", "masked"]);

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "op" in value;

const textOf = (node: Node): string => serialize(node as ASTNode);

const literal = (args: unknown) => ({ op: "value", args }) as Node;

/** The name of the function or method that a node calls. */
const called = ({ op, args }: Node): string => (op === "call" || op === "rcall" ? String((args as unknown[])[0]) : "");

function isCondition(node: Node): boolean {
  const name = called(node);
  return conditions.has(node.op) || predicates.has(name) || name in methods;
}

function ofValue(value: unknown): Node[] {
  if (typeof value === "boolean") return [literal(!value)];
  if (typeof value === "bigint") return [literal(value + 1n), literal(value - 1n)];
  return typeof value === "string" && value !== "" ? [literal("")] : [];
}

/** What stands in the place of a node in its mutants. */
function alternatives(node: Node): Node[] {
  const args = node.args as unknown[];
  const withOperator = (op: string) => ({ op, args }) as Node;
  const withArguments = (changed: unknown) => ({ op: node.op, args: changed }) as Node;
  const found = isCondition(node) ? [literal(true), literal(false)] : [];
  if (node.op === "value") found.push(...ofValue(node.args));
  if (node.op === "list") found.push(...args.map((_, left) => withArguments(args.toSpliced(left, 1))));
  if (node.op === "!_") found.push(node.args as Node);
  if (node.op === "?:")
    found.push(withArguments(args.with(0, literal(true))), withArguments(args.with(0, literal(false))));
  found.push(...(operators[node.op] ?? []).map(withOperator));
  const method = methods[called(node)];
  if (method) found.push(withArguments(args.with(0, method)));
  if (droppable.has(called(node))) found.push(args[1] as Node);
  return found;
}

interface Changed<T> {
  readonly what: string;
  readonly value: T;
}

/** Operands with one of the nodes in them changed, for each and for each of its mutants. */
function within(operands: unknown): Changed<unknown>[] {
  if (isNode(operands)) return changes(operands);
  if (!Array.isArray(operands)) return [];
  return operands.flatMap((each, index) =>
    within(each).map(({ what, value }) => ({ what, value: operands.with(index, value) })),
  );
}

function changes(node: Node): Changed<Node>[] {
  const own = alternatives(node).map((value) => ({ what: `${textOf(node)} -> ${textOf(value)}`, value }));
  const inner = within(node.args).map(({ what, value }) => ({ what, value: { op: node.op, args: value } as Node }));
  return [...own, ...inner];
}

/** Every mutant of an expression, once. */
export function celMutants(expression: string): { readonly what: string; readonly text: string }[] {
  const { ast } = environment.parse(expression);
  const found = changes(ast).map(({ what, value }) => ({ what, text: textOf(value) }));
  const others = found.filter(({ text }) => text !== textOf(ast));
  return [...new Map(others.map((mutant) => [mutant.text, mutant])).values()];
}
