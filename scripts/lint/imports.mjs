/** The linter's rule that holds the table of modules. */
import { dirname, relative, resolve, sep } from "node:path"
import { modules, storage } from "./modules.mjs"

const within = (file, path) => path === "" || file === path || file.startsWith(`${path}/`)

/** The module of a file below `src`: the one with the longest path that contains it. */
const moduleOf = (file) =>
  modules
    .flatMap((module) => module.paths.filter((path) => within(file, path)).map((path) => ({ module, path })))
    .toSorted((a, b) => b.path.length - a.path.length)[0]?.module

const isOperation = (file) => /^operations\/\w+\/[a-z]\w*\.ts$/.test(file)

/** Why a file may not import what a specifier names, or undefined. */
const refusal = (source, from, specifier, isType) => {
  const module = moduleOf(from)
  if (module === undefined) return `\`src/${from}\` is in no module of scripts/lint/modules.mjs.`
  const allowed = module.imports.map((path) => `\`${path}\``).join(", ") || "no other module"
  if (!specifier.startsWith(".")) {
    const packages = isType ? [...module.packages, ...(module.types ?? [])] : module.packages
    return packages.some((pattern) => pattern.test(specifier))
      ? undefined
      : `\`${module.paths[0]}\` may not import the package \`${specifier}\`.`
  }
  const to = relative(source, resolve(dirname(`${source}/${from}`), specifier)).split(sep).join("/")
  // The types that the entries of the package hand on.
  if (isType && to === "Types.ts") return undefined
  if (!isType && within(from, storage.path) && storage.makers.includes(to)) {
    return `\`${storage.path}\` stores rows: journal and mail from the module that decides.`
  }
  const target = moduleOf(to)
  if (target === module) {
    return isOperation(from) && isOperation(to)
      ? "One operation never imports another: what several share is a file named as a concept."
      : undefined
  }
  const wire = "layers/messenger/wire"
  if (within(to, wire) && module.paths[0] !== "cli" && !within(from, wire)) {
    return "The messenger's protocol is an optional entry: only the command line imports it."
  }
  return target !== undefined && module.imports.some((path) => within(to, path) || within(target.paths[0], path))
    ? undefined
    : `\`${module.paths[0]}\` may import ${allowed}.`
}

const create = (context) => {
  const file = context.filename.split(sep).join("/")
  const at = file.lastIndexOf("/src/")
  const source = file.slice(0, at + 4)
  const check = (node) => {
    if (typeof node.source?.value !== "string") return
    const isType = node.importKind === "type" || node.exportKind === "type"
    const message = refusal(source, file.slice(at + 5), node.source.value, isType)
    if (message !== undefined) context.report({ message, node })
  }
  return {
    ExportAllDeclaration: check,
    ExportNamedDeclaration: check,
    ImportDeclaration: check,
    ImportExpression: check
  }
}

export default { meta: { name: "modules" }, rules: { imports: { create } } }
