/** Writes the licences of all bundled libraries beside the build. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const HERE = dirname(fileURLToPath(import.meta.url));

/** Svelte is compiled into Annotorious and has no modules of its own in the build. */
const COMPILED_IN = [{ name: "svelte", version: "4", licence: "MIT", file: join(HERE, "svelte.txt") }];

export function writeLicences(): Plugin {
  return {
    name: "write-licences",
    apply: "build",
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((one) => (one.type === "chunk" ? Object.keys(one.modules) : []));
      const packages = withDependencies(modules.flatMap((id) => packageOf(id) ?? [])).sort();
      const texts = [...packages.map(describePackage), ...COMPILED_IN.map(describeCompiled)];
      const head = "Libraries that are bundled into this page, and their licences.\n";
      this.emitFile({ type: "asset", fileName: "THIRD-PARTY.txt", source: `${head}\n${texts.join("\n")}` });
    },
  };
}

/** The folder of the package that a module belongs to. */
function packageOf(id: string): string | null {
  const match = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.replace(/^\0/, ""));
  return match?.[1] ?? null;
}

/** A package may have its own dependencies compiled in: their licences count, too. */
function withDependencies(folders: string[]): string[] {
  const found = new Set<string>();
  const visit = (folder: string) => {
    if (found.has(folder)) return;
    found.add(folder);
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    for (const name of Object.keys(dependencies)) visit(findPackage(folder, name));
  };
  for (const folder of folders) visit(folder);
  return [...found];
}

/** Where Node would find the package: in the nearest `node_modules` upwards. */
function findPackage(from: string, name: string): string {
  const nested = join(from, "node_modules", name);
  if (existsSync(nested)) return nested;
  if (dirname(from) === from) throw new Error(`${name} is not installed. Run npm ci.`);
  return findPackage(dirname(from), name);
}

function describePackage(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const inside = readdirSync(folder).find((file) => /^licen[cs]e(\.\w+)?$/i.test(file));
  const beside = join(HERE, `${name.split("/")[0].replace("@", "")}.txt`);
  const file = inside ? join(folder, inside) : beside;
  if (!existsSync(file)) throw new Error(`${name} has no licence file. Put its licence into ${beside}.`);
  return describe(`${name} ${version}`, license, file);
}

function describeCompiled({ name, version, licence, file }: (typeof COMPILED_IN)[number]): string {
  return describe(`${name} ${version}`, licence, file);
}

function describe(title: string, licence: string, file: string): string {
  const text = readFileSync(file, "utf8").replace(/\r\n/g, "\n").trim();
  return `${"=".repeat(80)}\n${title} (${licence})\n${"=".repeat(80)}\n\n${text}\n`;
}
