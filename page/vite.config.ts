import { defineConfig } from "vitest/config";
import { writeLicences } from "./licences/plugin.ts";

// Names without hashes keep the differences between two builds small: the build lies in the repository.
export default defineConfig({
  plugins: [writeLicences()],
  build: {
    outDir: "../src/leocod/live/page",
    emptyOutDir: true,
    target: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: {
        entryFileNames: "assets/page.js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/page[extname]",
      },
    },
  },
  server: { proxy: { "/api": { target: "http://127.0.0.1:8765", ws: true } } },
  test: { include: ["tests/**/*.test.{ts,tsx}"] },
});
