// Only the five rules that need types; everything else is Biome's.
import tseslint from "typescript-eslint";

export default tseslint.config({
  files: ["packages/*/{src,test}/**/*.{ts,tsx}", "tests/**/*.ts", "bench/**/*.ts", "scripts/**/*.ts"],
  // The neighbours have an install of their own: without it their types are not there.
  ignores: ["**/dist/**", "bench/neighbours/**"],
  languageOptions: {
    parser: tseslint.parser,
    parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
  },
  plugins: { "@typescript-eslint": tseslint.plugin },
  linterOptions: { reportUnusedDisableDirectives: "error" },
  rules: {
    "@typescript-eslint/no-floating-promises": "error",
    "@typescript-eslint/no-misused-promises": "error",
    "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    "@typescript-eslint/await-thenable": "error",
    "@typescript-eslint/return-await": ["error", "in-try-catch"],
  },
});
