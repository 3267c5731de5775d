// Build the extension of JupyterLab: types and JavaScript by tsc, the container that JupyterLab loads by Jupyter's own
// builder, and a digest of the sources, by which a test without Node sees whether it is up to date.
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { jupyterlab } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const modules = join(here, "node_modules");
const run = (script, ...given) => execFileSync(process.execPath, [join(modules, script), ...given], { cwd: here, stdio: "inherit" });

rmSync(join(here, "lib"), { recursive: true, force: true });
run("typescript/bin/tsc");
const core = join(modules, "@jupyterlab", "core-meta", "core.package.json");
run("@jupyter/builder/lib/build-labextension.js", "--core-package-file", core, here);

function files(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)]);
}
const digest = createHash("sha256");
const shared = ["protocol.ts", "place.ts"].map((name) => join(here, "..", "src", name));
const own = ["build.mjs", "package.json", "package-lock.json", "tsconfig.json", "webpack.config.js"].map((name) => join(here, name));
const sources = [...["src", "schema", "style"].flatMap((name) => files(join(here, name))), ...own, ...shared];
const frontend = join(here, "..");
for (const file of sources.map((one) => relative(frontend, one).split(sep).join("/")).sort()) {
  digest.update(`${file}\n`).update(readFileSync(join(frontend, file), "utf8").replaceAll("\r\n", "\n"));
}
writeFileSync(join(here, jupyterlab.outputDir, "sources.sha256"), `${digest.digest("hex")}\n`);
