import { describe, expect, test } from "vitest";
import { imageArchitecture, layerEntries } from "../../../../functions/spoke/package/layer.ts";

const spec = {
  reference: "example.org/app:v1",
  files: { "/usr/local/bin/app": { source: "/nowhere" }, "/crds/a.yaml": { content: "a: 1\n" } },
};

describe("an image's layer", () => {
  const entries = layerEntries(spec);
  const find = (name: string) => entries.find(({ header }) => header.name === name)?.header;

  test("has every folder before what is in it", () => {
    const names = entries.map(({ header }) => header.name);
    for (const folder of names.filter((name) => name.endsWith("/"))) {
      expect(names.slice(0, names.indexOf(folder)).filter((name) => name.startsWith(folder))).toEqual([]);
    }
    expect(names).toContain("usr/local/bin/");
  });

  test("has a /tmp that everybody may write to", () => expect(find("tmp/")).toMatchObject({ mode: 0o1777 }));

  test("has an empty regular file where the CA is mounted", () => {
    const entry = entries.find(({ header }) => header.name === "etc/ssl/certs/ca-certificates.crt");
    expect(entry).toMatchObject({ header: { type: "file" }, file: { content: "" } });
  });

  test("makes programs executable and other files not", () => {
    expect(find("usr/local/bin/app")).toMatchObject({ mode: 0o755, uid: 0, gid: 0 });
    expect(find("crds/a.yaml")).toMatchObject({ mode: 0o644 });
  });

  test.each(["relative", "/a/../b", "/a//b"])("refuses the path %s", (path) =>
    expect(() => layerEntries({ ...spec, files: { [path]: { content: "" } } })).toThrow(path),
  );
});

test.each([
  ["x64", "amd64"],
  ["arm64", "arm64"],
])("the processor %s is called %s in images", (node, name) => expect(imageArchitecture(node)).toBe(name));

test("a processor without images is refused", () => expect(() => imageArchitecture("s390x")).toThrow("s390x"));
