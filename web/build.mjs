// SPDX-License-Identifier: Apache-2.0
// Makes popdistd/web/page from src: `npm run build`, or with a directory to write to. The same sources give the same
// bytes.
import { build } from "esbuild";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const into = path.resolve(process.argv[2] ?? path.join(here, "../popdistd/web/page"));

// The licences of what is bundled ask for their text in every copy.
async function notices() {
  const packages = ["preact", "@preact/signals", "@preact/signals-core", "uplot"];
  const texts = packages.map(async (name) => {
    const text = await readFile(path.join(here, "node_modules", name, "LICENSE"), "utf8");
    return `${name}\n${text.trim()}`;
  });
  return `/*! SPDX-License-Identifier: Apache-2.0\nMade by web/build.mjs; contains:\n\n${(await Promise.all(texts)).join("\n\n")}\n*/`;
}

await mkdir(into, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { page: "src/main.tsx" },
  outdir: into,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  banner: { js: await notices() },
  logLevel: "warning",
});
for (const file of ["index.html", "icon.svg"]) await copyFile(path.join(here, "src", file), path.join(into, file));
for (const file of ["page.js", "page.css"]) {
  const text = await readFile(path.join(into, file), "utf8");
  await writeFile(path.join(into, file), text.trimEnd() + "\n");
}
