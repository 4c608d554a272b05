import tseslint from "typescript-eslint";

// Only the typed rules that neither tsc nor biome has: an Output in a template string, a forgotten promise.
export default tseslint.config(
  { ignores: ["**/node_modules/**", ".local/**", "**/*.mjs"] },
  {
    files: ["**/*.ts"],
    languageOptions: { parser: tseslint.parser, parserOptions: { projectService: true } },
    plugins: { "@typescript-eslint": tseslint.plugin },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/no-base-to-string": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
    },
  },
);
