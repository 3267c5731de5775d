// Bundle the front end into explorer/app/static: a script for each host, one style sheet for all, the licences of what they
// contain; into website/dropped the page that reads what a person drops; and a digest of the sources, by which a test without Node sees whether the bundle is up to date.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync, mkdirSync, existsSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "explorer", "app", "static");
mkdirSync(out, { recursive: true });

const options = {
  absWorkingDir: here,
  outdir: out,
  bundle: true,
  format: "esm",
  splitting: true,
  chunkNames: "[name]",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  metafile: true,
  logLevel: "warning",
};
const { metafile } = await build({ ...options, entryPoints: { app: "src/main.tsx" } });
// A notebook, Panel and a file take the style sheet of the page, and one script each, which loads no other.
const others = { loader: "src/loader.ts", notebook: "src/notebook.tsx", file: "src/file.tsx" };
const alone = { splitting: false, define: { HAS_CODE_EDITOR: "false" } };
await build({ ...options, ...alone, entryPoints: others, loader: { ".css": "empty" } });

// The site has a page of its own, which reads what a person drops.
const site = join(here, "..", "website", "dropped");
const dropped = await build({ ...options, splitting: false, outdir: site, entryPoints: { dropped: "src/dropped/page.tsx" } });

function writeLicences(folder, { inputs }) {
  const names = new Set(Object.keys(inputs).flatMap((input) => input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []));
  const licences = [...names].sort().map((name) => {
    const source = join(here, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
    const file = readdirSync(source).find((one) => /^licen[cs]e/i.test(one));
    const text = file && existsSync(join(source, file)) ? readFileSync(join(source, file), "utf8").trim() : "";
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  writeFileSync(join(folder, "licenses.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));
}
writeLicences(out, metafile);
writeLicences(site, dropped.metafile);

function files(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)]);
}
const digest = createHash("sha256");
const sources = [...files(join(here, "src")), ...["build.mjs", "package.json", "package-lock.json"].map((name) => join(here, name))];
for (const file of sources.map((one) => relative(here, one).split(sep).join("/")).sort()) {
  digest.update(`${file}\n`).update(readFileSync(join(here, file), "utf8").replaceAll("\r\n", "\n"));
}
writeFileSync(join(out, "sources.sha256"), `${digest.digest("hex")}\n`);
