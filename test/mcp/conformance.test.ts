import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { createAcme, createKey } from "../support/cli/inProcess.ts"
import { fillDirectory } from "../support/postgres/database.ts"
import { scratch } from "../support/run/scratch.ts"
import * as Processes from "./processes.ts"

const suite = path.join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/conformance")

const nothing = "it asks for tools of its own fixture, which the specification does not know"
const resources = "the service has tools and prompts alone: no resources"
const prompts = "it asks for prompts of its own fixture, which the specification does not know"
const asks = "the service asks its clients nothing: no elicitation, sampling or roots"

/** The scenarios that apply, by revision, each with the checks that do not and why. */
const applicable: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
  "2025-11-25": { "server-initialize": {}, ping: {}, "tools-list": {}, "dns-rebinding-protection": {} },
  "2026-07-28": {
    "server-stateless": {
      "sep-2575-server-rejects-undeclared-capability": asks,
      "sep-2575-missing-capability-http-400": asks,
      "sep-2575-http-server-no-independent-requests-on-stream": asks,
      "sep-2575-server-no-log-without-loglevel": "the service sends no log messages"
    },
    "tools-list": {},
    "dns-rebinding-protection": {},
    "http-header-validation": {},
    caching: {
      "sep-2549-resources-list-caching-hints": resources,
      "sep-2549-resources-templates-list-caching-hints": resources
    }
  }
}

/** The scenarios that a revision asks of servers and that do not apply, by the beginning of their names. */
const inapplicable: Readonly<Record<string, string>> = {
  "tools-call-": nothing,
  "server-sse-": nothing,
  "input-required-": asks,
  "elicitation-": asks,
  "resources-": resources,
  "sep-2164-resource-": resources,
  "prompts-": prompts,
  "completion-":
    "the service completes nothing: it has no resource templates, and its prompts take their arguments as they are",
  "logging-": "the service sends no log messages"
}

/** The scenarios that a revision asks of servers. */
const required = (revision: string): ReadonlyArray<string> => {
  const text = fs.readFileSync(path.join(suite, "requirements", `${revision}.yaml`), "utf8")
  const section = /^server:\n((?: {2}- .+\n)+)/m.exec(text)?.[1] ?? ""
  return section.split("\n").filter((line) => line !== "").map((line) => line.replace("  - ", ""))
}

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

/** Runs a scenario against the address; its checks. */
const run = (url: string, revision: string, scenario: string) =>
  Effect.acquireUseRelease(
    Effect.sync(() => fs.mkdtempSync(path.join(scratch, "conformance-"))),
    (folder) =>
      Effect.promise(() =>
        new Promise<ReadonlyArray<Check>>((resolve) => {
          const child = childProcess.spawn(process.execPath, [
            path.join(suite, "dist/index.js"),
            "server",
            "--url",
            `${url}/mcp`,
            "--scenario",
            scenario,
            "--spec-version",
            revision,
            "--output-dir",
            folder
          ], { stdio: "ignore" })
          child.once("close", () => {
            const [file] = fs.globSync(path.join(folder, "**/checks.json"))
            resolve(file === undefined ? [] : JSON.parse(fs.readFileSync(file, "utf8")))
          })
        })
      ),
    (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
  )

describe("the official conformance suite", () => {
  it("has no scenario for servers that is neither run nor known not to apply", () => {
    for (const [revision, scenarios] of Object.entries(applicable)) {
      const unknown = required(revision).filter((name) =>
        !(name in scenarios) && !Object.keys(inapplicable).some((prefix) => name.startsWith(prefix))
      )
      expect([revision, required(revision).length > 20, unknown]).toEqual([revision, true, []])
    }
  })

  it.live("passes against the running service, but for the checks that do not apply", () =>
    Effect.gen(function*() {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const folder = fs.mkdtempSync(path.join(scratch, "conformance-data-"))
          fillDirectory(folder)
          return folder
        }),
        (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
      )
      const targets: Array<string> = []
      const keys: Array<string> = []
      const url = yield* Processes.front(targets, () => keys[0])
      const service = yield* Processes.serve(["--data", folder, "--allowed-origins", url])
      targets.push(service.url)
      yield* Effect.promise(async () => {
        await createAcme(folder)
        for (let count = 0; count < 3; count++) keys.push(await createKey(folder))
      })
      const runs = Object.entries(applicable).flatMap(([revision, scenarios]) =>
        Object.entries(scenarios).map(([scenario, excused]) => ({ revision, scenario, excused }))
      )
      for (const { excused, revision, scenario } of runs) {
        keys.push(keys.shift()!)
        const checks = yield* run(url, revision, scenario)
        const failed = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING")
        expect([revision, scenario, [...new Set(failed.map(({ id }) => id))].sort()])
          .toEqual([revision, scenario, Object.keys(excused).sort()])
        expect([revision, scenario, checks.some(({ status }) => status === "SUCCESS")])
          .toEqual([revision, scenario, true])
      }
    }), 300_000)
})
