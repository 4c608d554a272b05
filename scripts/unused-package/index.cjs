/** Can be loaded; throws once something reads an export. */
module.exports = new Proxy(
  {},
  {
    get: (_, name) => {
      // TypeScript's helpers ask for it when they load a module.
      if (name === "__esModule") return true;
      if (typeof name === "symbol") return undefined;
      throw new Error(
        `${name} is an export of a package that package.json replaces by scripts/unused-package: remove its name from overrides and devDependencies, and run npm install`,
      );
    },
  },
);
