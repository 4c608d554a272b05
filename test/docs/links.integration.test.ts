import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { anchors, links, pages, root, text } from "./support/pages.ts";

/** What is wrong with a link, if anything is: pages are read at GitHub and in a checkout, so targets are files. */
function broken(page: string, target: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [path = "", heading] = target.split("#");
  const file = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(root, file))) return `${target}: ${file} does not exist`;
  if (heading === undefined) return undefined;
  if (!statSync(join(root, file)).isFile()) return `${target}: ${file} is a folder and has no headings`;
  return anchors(text(file)).includes(heading) ? undefined : `${target}: ${file} has no such heading`;
}

describe("the documentation", () => {
  test.each(pages)("%s links to files and headings that exist", (page) => {
    const wrong = links(text(page)).flatMap((target) => broken(page, target) ?? []);
    expect(wrong).toEqual([]);
  });

  // A page that no other page leads to is one that nobody finds.
  test("has no page under docs/ that nothing links to", () => {
    const linked = new Set(
      pages.flatMap((page) => links(text(page)).map((target) => join(dirname(page), target.split("#")[0] ?? ""))),
    );
    expect(pages.filter((page) => /(^|\/)docs\//.test(page) && !linked.has(page))).toEqual([]);
  });

  test("is where code, manifests, workflows and messages say it is", () => {
    // Folders of ours; a comment may name the documentation of somebody else's repository.
    const folders = "tutorials|guides|reference|concepts|decisions|runbooks|deployer-policy";
    const place = `docs/((${folders})/[a-zA-Z0-9./-]*[a-zA-Z0-9]|[a-z-]+[.](md|json))`;
    const grep = ["grep", "-ohE", `(^|[^a-zA-Z./-])${place}`, "--", ":!*.md"];
    const mentions = execFileSync("git", grep, { cwd: root, encoding: "utf8" });
    const paths = [...mentions.matchAll(/docs\/.*/g)].map(([path]) => path);
    expect(paths.length).toBeGreaterThan(0);
    expect([...new Set(paths.filter((path) => !existsSync(join(root, path))))]).toEqual([]);
  });

  test("is where the page on security says that a test is", () => {
    const named = [...text("docs/concepts/security.md").matchAll(/`([\w./-]+\.test\.ts)`/g)].map(
      ([, file = ""]) => file,
    );
    expect(named.length).toBeGreaterThan(20);
    const pathOf = (file: string) => join(root, file.startsWith("local/") ? "" : "test", file);
    expect(named.filter((file) => !existsSync(pathOf(file)))).toEqual([]);
  });
});
