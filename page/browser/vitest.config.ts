import { defineConfig } from "vitest/config";

// These tests need a Chromium and a built page: `npm run build && npm run test:browser`.
export default defineConfig({
  test: {
    include: ["browser/**/*.test.ts"],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
