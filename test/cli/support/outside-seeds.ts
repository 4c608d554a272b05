import { replaced, type Seed } from "./seeds.ts";

/** Ways in which a repository names what is not its own: each must be refused before kustomize sees it. */

/** The folder in which they are. */
export const namespaces = "gitops-system/platform/namespaces";
const folder = namespaces;
const file = `${folder}/kustomization.yaml`;
const neighbour = "../../../payment-app-manifests/base";

/** The kustomization of `folder` with more in it. */
const withText = (text: string) => replaced(file, /$/, text);
const plugin = (text: string) => ({ file: `${folder}/plugin.yaml`, to: text });
const seed = (fault: string, more: Partial<Seed> & Pick<Seed, "changes" | "on" | "problem">): Seed => ({
  fault,
  rule: "path",
  file,
  alone: true,
  clusters: [],
  ...more,
});
const outside = (target: string, what = "file") => `the ${what} ${target} is outside the repository`;

/** A member of a kustomization that names one file. */
const names = (member: string, text: string, target: string, more: Partial<Seed> = {}): Seed =>
  seed(`${member} with ${target}`, { changes: [withText(text)], on: target, problem: outside(target), ...more });

const absolute = "/etc/passwd";
const generators = ["configMapGenerator", "secretGenerator"].flatMap((generator) =>
  [absolute, `${neighbour}/queue.yaml`].flatMap((target) => [
    names(`${generator}.files`, `${generator}:\n  - name: x\n    files:\n      - ${target}\n`, target),
    names(`${generator}.files with a key`, `${generator}:\n  - name: x\n    files:\n      - key=${target}\n`, target),
    names(`${generator}.envs`, `${generator}:\n  - name: x\n    envs:\n      - ${target}\n`, target),
    names(`${generator}.env`, `${generator}:\n  - name: x\n    env: ${target}\n`, target),
  ]),
);

const lists = [
  ...["resources", "bases", "components", "crds", "configurations", "generators", "transformers", "validators"],
];
const named = lists.flatMap((member) =>
  [absolute, neighbour].map((target) => {
    const change =
      member === "resources" ? replaced(file, /$/, `  - ${target}\n`) : withText(`${member}:\n  - ${target}\n`);
    const problem = outside(target, member === "components" ? "component" : "file");
    return names(member, "", target, { changes: [change], problem });
  }),
);

const patch = { rule: "patch" } as const;
const patches = [
  names("patches.path", `patches:\n  - path: ${absolute}\n`, absolute, {
    ...patch,
    problem: outside(absolute, "patch"),
  }),
  names("patchesJson6902.path", `patchesJson6902:\n  - path: ${absolute}\n`, absolute, {
    ...patch,
    problem: outside(absolute, "patch"),
  }),
  names("patchesStrategicMerge", `patchesStrategicMerge:\n  - ${absolute}\n`, absolute, {
    ...patch,
    problem: outside(absolute, "patch"),
  }),
  names("replacements.path", `replacements:\n  - path: ${absolute}\n`, absolute, {
    ...patch,
    problem: outside(absolute, "patch"),
  }),
  names("openapi.path", `openapi:\n  path: ${absolute}\n`, absolute),
];

const builtin = (kind: string, text: string) => `apiVersion: builtin\nkind: ${kind}\nmetadata: { name: x }\n${text}\n`;
/** Texts with apiVersion and kind that kustomize takes for a path, which it then shortens to /etc/passwd. */
const pathLikeObject = "apiVersion: v1\nkind: /../../../../../../../../../../etc/passwd";
const pathLikePatch = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${"/..".repeat(12)}/etc/passwd`;
const quoted = (text: string) => JSON.stringify(text);
/** In ASCII: other line breaks than "\n" end a quoted text too. */
const escaped = (text: string) =>
  quoted(text).replace(/[^ -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
const lineBreak = (text: string) => `the path ${quoted(text)} has a line break or a control character`;
const refused = { rule: "build", on: "apiVersion: v1" } as const;
const target = "target: { kind: Namespace }";
const disguisedPatches = [
  ...(
    [
      ["patches.path", `patches:\n  - path: ${quoted(pathLikeObject)}\n`],
      ["patches.path with a target", `patches:\n  - path: ${quoted(pathLikeObject)}\n    ${target}\n`],
      ["patchesJson6902.path", `patchesJson6902:\n  - path: ${quoted(pathLikeObject)}\n    ${target}\n`],
      ["patchesStrategicMerge", `patchesStrategicMerge:\n  - ${quoted(pathLikeObject)}\n`],
      ["replacements.path", `replacements:\n  - path: ${quoted(pathLikeObject)}\n`],
    ] as const
  ).map(([member, text]) =>
    seed(`${member} with what looks like an object`, {
      changes: [withText(text)],
      ...refused,
      problem: lineBreak(pathLikeObject),
    }),
  ),
  ...["\r", "\u0085", "\u2028"].map((end) => {
    const text = pathLikeObject.replace("\n", end);
    return seed(`patches.path with a line break of other letters, ${escaped(end)}`, {
      changes: [withText(`patches:\n  - path: ${escaped(text)}\n`)],
      ...refused,
      problem: lineBreak(text),
    });
  }),
  seed("patches.path with a whole object", {
    changes: [withText(`patches:\n  - path: ${quoted(pathLikePatch)}\n`)],
    ...refused,
    problem: lineBreak(pathLikePatch),
  }),
  seed("patchesStrategicMerge with a patch that is also a path", {
    changes: [withText(`patchesStrategicMerge:\n  - ${quoted(pathLikePatch)}\n`)],
    ...refused,
    problem: "the patch that stands here would be a path out of the repository",
  }),
  ...(
    [
      ["PatchTransformer", `path: ${quoted(pathLikeObject)}`],
      ["PatchJson6902Transformer", `path: ${quoted(pathLikeObject)}`],
      ["PatchStrategicMergeTransformer", `paths: [${quoted(pathLikeObject)}]`],
      ["ReplacementTransformer", `replacements: [{ path: ${quoted(pathLikeObject)} }]`],
    ] as const
  ).map(([kind, text]) =>
    seed(`a ${kind} with what looks like an object`, {
      changes: [withText("transformers:\n  - plugin.yaml\n"), plugin(builtin(kind, text))],
      ...refused,
      file: `${folder}/plugin.yaml`,
      problem: lineBreak(pathLikeObject),
    }),
  ),
  seed("a generator that stands inline with other line breaks", {
    changes: [withText(`generators:\n  - ${escaped('"apiVersion": builtin\u2028"kind": ConfigMapGenerator')}\n`)],
    rule: "build",
    on: "apiVersion",
    problem: "a generator or a transformer stands here inline, not in a file",
  }),
];

/** Plugins in a file of the repository, with the member that leads out. */
const plugins = (
  [
    ["generators", "ConfigMapGenerator", `files: [k=${absolute}]`, "file"],
    ["generators", "SecretGenerator", `env: ${absolute}`, "file"],
    ["transformers", "PatchTransformer", `path: ${absolute}`, "patch"],
    ["transformers", "PatchJson6902Transformer", `path: ${absolute}`, "patch"],
    ["transformers", "PatchStrategicMergeTransformer", `paths: [${absolute}]`, "patch"],
    ["transformers", "ReplacementTransformer", `replacements: [{ path: ${absolute} }]`, "patch"],
    ["validators", "ValueAddTransformer", `targetFilePath: ${absolute}`, "file"],
  ] as const
).map(([member, kind, text, what]) =>
  seed(`a ${kind} in a file`, {
    changes: [withText(`${member}:\n  - plugin.yaml\n`), plugin(builtin(kind, text))],
    rule: what === "patch" ? "patch" : "path",
    file: `${folder}/plugin.yaml`,
    on: absolute,
    problem: outside(absolute, what),
  }),
);

const inline = ["generators", "transformers", "validators"].map((member) =>
  seed(`${member} that stand inline`, {
    changes: [
      withText(
        `${member}:\n  - |\n    apiVersion: builtin\n    kind: ConfigMapGenerator\n    metadata: { name: x }\n    files: [${absolute}]\n`,
      ),
    ],
    rule: "build",
    on: "- |",
    problem: "a generator or a transformer stands here inline, not in a file",
  }),
);

const programs = (
  [
    [
      "a container",
      "example.com/v1",
      "Maker",
      "annotations: { config.kubernetes.io/function: 'container: { image: x }' }",
    ],
    ["a program", "example.com/v1", "Maker", "annotations: { config.kubernetes.io/function: 'exec: { path: ./x }' }"],
    ["Helm", "builtin", "HelmChartInflationGenerator", "annotations: {}"],
  ] as const
).map(([fault, apiVersion, kind, annotations]) =>
  seed(`a generator that runs ${fault}`, {
    changes: [
      withText("generators:\n  - plugin.yaml\n"),
      plugin(`apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: x\n  ${annotations}\n`),
    ],
    rule: "build",
    file: `${folder}/plugin.yaml`,
    on: `kind: ${kind}`,
    problem: `the plugin ${apiVersion} ${kind} is not run: it would be a program, a container or Helm`,
  }),
);

const charts = ["helmCharts", "helmGlobals", "helmChartInflationGenerator"].map((member) =>
  seed(member, {
    changes: [
      withText(
        `${member}: ${member === "helmGlobals" ? "{ chartHome: /etc }" : "[{ name: x, valuesFile: /etc/passwd }]"}\n`,
      ),
    ],
    rule: "build",
    on: member,
    problem: `${member} needs Helm, which Flux's kustomize does not run`,
  }),
);

/** Go takes members in any case: what is not looked at must not be read. */
const disguised = [
  seed("a generator in other letters", {
    changes: [withText(`ConfigMapGenerator:\n  - name: x\n    files: [${absolute}]\n`)],
    rule: "build",
    on: "ConfigMapGenerator",
    problem: "a kustomization has no field ConfigMapGenerator",
  }),
  seed("files in other letters", {
    changes: [withText(`configMapGenerator:\n  - name: x\n    Files: [${absolute}]\n`)],
    rule: "build",
    on: "Files",
    problem: "a kustomization has no field configMapGenerator.0.Files",
  }),
  seed("files of a plugin in letters that only look alike", {
    changes: [
      withText("generators:\n  - plugin.yaml\n"),
      plugin(builtin("ConfigMapGenerator", `file\u017F: [${absolute}]`)),
    ],
    rule: "build",
    file: `${folder}/plugin.yaml`,
    on: "file\u017F",
    problem: "a plugin has no field file\u017F",
  }),
];

const remote = [
  ["resources", "resources:\n", "git::https://git.example.com/org/repo"],
  ["components", "components:\n", "git@git.example.com:org/repo"],
  ["bases", "bases:\n", "GitHub.com/org/repo"],
  ["crds", "crds:\n", "http://169.254.169.254/latest"],
  ["configMapGenerator", "configMapGenerator:\n  - name: x\n    files:\n    ", "http://169.254.169.254/latest"],
  ["generators", "generators:\n", "https://example.com/plugin.yaml"],
].map(([member, text, target]) => {
  const line = `  - ${target}\n`;
  const change = member === "resources" ? replaced(file, /$/, line) : withText(`${text}${line}`);
  return seed(`${member} of another host`, {
    changes: [change],
    rule: "source" as const,
    on: target as string,
    problem: `${target} is a remote base`,
  });
});

const policies = "gitops-system/platform/hub/policies.yaml";
/** Flux's own Kustomizations. */
export const fluxSeeds: readonly Seed[] = [
  ...["../payment-app-manifests/base", "../../../../../../etc", "/../../etc"].map((path) =>
    seed(`a spec.path ${path}`, {
      changes: [replaced(policies, "./platform/policies", path)],
      file: policies,
      on: path,
      clusters: ["hub"],
      problem: `Kustomization platform-policies applies ${path}, which is outside gitops-system`,
    }),
  ),
  ...["../../../payment-app-manifests/base", "/etc"].map((path) =>
    seed(`spec.components with ${path}`, {
      changes: [replaced(policies, /components: .*/, `components: ["${path}"]`)],
      file: policies,
      on: path,
      clusters: ["hub"],
      problem: `Kustomization platform-policies takes the components ${path}, which are outside gitops-system`,
    }),
  ),
];

/** What stands in a kustomization. */
export const outsideSeeds: readonly Seed[] = [
  ...[
    ...generators,
    ...named,
    ...patches,
    ...disguisedPatches,
    ...plugins,
    ...inline,
    ...programs,
    ...charts,
    ...disguised,
    ...remote,
  ],
];
