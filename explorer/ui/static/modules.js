// Panel asks `importShim` for its modules. es-module-shims, which it brings, reads each module, writes it anew and
// loads that from memory, on every page. A browser's own import() takes it from its cache. Panel's import maps name
// places on the internet for what its bundles hold already.
window.importShim = Object.assign((url) => import(new URL(url, document.baseURI).href), { addImportMap() {} });
