// build.mjs PACKAGES FOLDER: builds FOLDER/src by the bundlers and compilers of PACKAGES, each into FOLDER/out/NAME/.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [packages, folder] = process.argv.slice(2);
const require = createRequire(path.join(packages, "x.js"));
const ts = require("typescript");
const main = path.join(folder, "src/main.ts");
const out = (name) => path.join(folder, "out", name);
const sources = ["main.ts", "busy.ts", "lib/util.ts", "lib/shapes.ts"];

function write(file, code, map) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, map ? `${code}\n//# sourceMappingURL=${path.basename(file)}.map\n` : code);
  if (map) fs.writeFileSync(`${file}.map`, typeof map === "string" ? map : JSON.stringify(map));
}

function transpile(file, module) {
  const text = fs.readFileSync(file, "utf8");
  const done = ts.transpileModule(text, { fileName: file, compilerOptions: { target: "es2022", module, sourceMap: true } });
  const map = { ...JSON.parse(done.sourceMapText), sources: [file], sourcesContent: [text] };
  return { code: done.outputText.replace(/\/\/# sourceMappingURL=.*/, ""), map };
}

const builds = {
  // The originals stay beside: their texts are not in the map.
  tsc() {
    for (const name of sources) {
      const { code, map } = transpile(path.join(folder, "src", name), "commonjs");
      const file = path.join(out("tsc"), name.replace(/ts$/, "js"));
      const relative = path.relative(path.dirname(file), map.sources[0]);
      write(file, code, { ...map, sources: [relative], sourcesContent: undefined });
    }
  },
  async esbuild() {
    const { build } = require("esbuild");
    const common = { bundle: true, platform: "node", absWorkingDir: folder, logLevel: "error" };
    for (const name of ["main", "busy"]) {
      const entryPoints = [`src/${name}.ts`];
      await build({ ...common, entryPoints, sourcemap: true, outfile: `out/esbuild/${name}.js` });
      await build({ ...common, entryPoints, sourcemap: true, minify: true, outfile: `out/esbuild_minified/${name}.js` });
      await build({ ...common, entryPoints, sourcemap: "inline", minify: true, target: "es2017", outfile: `out/esbuild_inline/${name}.js` });
    }
  },
  async terser() {
    const { minify } = require("terser");
    const code = fs.readFileSync(path.join(out("esbuild"), "main.js"), "utf8");
    const content = fs.readFileSync(path.join(out("esbuild"), "main.js.map"), "utf8");
    const done = await minify(code, { sourceMap: { content, url: "main.js.map", includeSources: true } });
    write(path.join(out("terser"), "main.js"), done.code);
    fs.writeFileSync(path.join(out("terser"), "main.js.map"), done.map);
  },
  async webpack() {
    const webpack = require("webpack");
    const loader = path.join(folder, "loader.cjs");
    fs.writeFileSync(loader, `const ts = require(${JSON.stringify(require.resolve("typescript"))});
const transpile = ${transpile.toString().replace('fs.readFileSync(file, "utf8")', "source").replace("(file, module)", "(file, module, source)")};
module.exports = function (source) {
  const { code, map } = transpile(this.resourcePath, "esnext", source);
  this.callback(null, code, map);
};`);
    for (const mode of ["development", "production"]) {
      const config = { mode, target: "node", devtool: "source-map", context: folder, entry: main, output: { path: out(`webpack_${mode}`), filename: "main.js", devtoolNamespace: "app" }, resolve: { extensions: [".ts", ".js"] }, module: { rules: [{ test: /\.ts$/, use: loader }] } };
      await new Promise((resolve, reject) => webpack(config, (error, stats) => (error || stats.hasErrors() ? reject(error ?? stats.toString()) : resolve())));
    }
  },
  async rollup() {
    const { rollup } = require("rollup");
    const { minify } = require("terser");
    const typescript = {
      name: "typescript",
      resolveId: (id, from) => (id.startsWith(".") ? path.resolve(path.dirname(from), `${id}.ts`) : null),
      transform: (_, id) => (id.endsWith(".ts") ? transpile(id, "esnext") : null),
      renderChunk: async (code) => {
        const done = await minify(code, { sourceMap: true });
        return { code: done.code, map: done.map };
      },
    };
    const bundle = await rollup({ input: main, external: ["dep"], plugins: [typescript], onwarn: () => {} });
    await bundle.write({ file: path.join(out("rollup"), "main.js"), format: "cjs", sourcemap: true });
  },
  swc() {
    const { transformSync } = require("@swc/core");
    for (const name of sources) {
      const file = path.join(folder, "src", name);
      const done = transformSync(fs.readFileSync(file, "utf8"), { filename: file, sourceMaps: true, module: { type: "commonjs" }, jsc: { target: "es2020", parser: { syntax: "typescript" }, minify: { compress: true, mangle: true } }, minify: true });
      write(path.join(out("swc"), name.replace(/ts$/, "js")), done.code, done.map);
    }
  },
  async ncc() {
    const ncc = require("@vercel/ncc");
    const plain = path.join(out("esbuild"), "main.js");
    for (const [name, register] of [["ncc", false], ["ncc_registered", "./sourcemap-register.js"]]) {
      const { code, map } = await ncc(plain, { minify: true, sourceMap: true, sourceMapRegister: Boolean(register), cache: false, quiet: true });
      write(path.join(out(name), "main.js"), code);
      fs.writeFileSync(path.join(out(name), "index.js.map"), map);
      if (register) fs.writeFileSync(path.join(out(name), "sourcemap-register.js"), "");
    }
  },
};

for (const build of Object.values(builds)) await build();
