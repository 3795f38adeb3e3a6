/** The kinds of test files: in this order they are run, and by these a run reports its time. */
import * as path from "node:path"

const others = "postgres"

/** From the kind with the longest files to the one with the shortest; a file that no pattern names is one of `others`. */
const patterns: ReadonlyArray<readonly [kind: string, patterns: ReadonlyArray<string>]> = [
  ["process", [
    "test/{cli,readme}/**",
    "test/mcp/{clients,conformance,handover,stdio}.test.ts",
    "test/http/pages/{browser,archive/viewer,signin/passkeys,signin/providerBrowser,refresh}.test.ts",
    "{bench,experiments}/**"
  ]],
  ["property", ["test/properties/**"]],
  [others, []],
  ["spec", ["test/{spec,kernel,added,http,mcp,oauth}/**"]],
  ["unit", [
    "test/{archive,domain,transport,repository,viewer}/**",
    "test/layers/{archive,crypto,documents,identity}/**"
  ]]
]

export const kinds: ReadonlyArray<string> = patterns.map(([kind]) => kind)

/** The kind of a file, by its path in the repository. */
export const kindOf = (file: string): string =>
  patterns.find(([, globs]) => globs.some((glob) => path.matchesGlob(file, glob)))?.[0] ?? others
