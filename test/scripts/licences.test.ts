import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

interface Package {
  readonly license?: string;
  readonly dev?: boolean;
}

const lock = JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8")) as {
  readonly packages: Readonly<Record<string, Package>>;
};

it("uses packages under the AGPL in tests only", () => {
  const packages = Object.entries(lock.packages).filter(([, { license }]) => license?.startsWith("AGPL"));
  expect(packages.map(([path, { dev }]) => [path, dev])).toEqual(
    ["iam-policy", "iam-simulate", "iam-utils"].map((name) => [`node_modules/@cloud-copilot/${name}`, true]),
  );
});
