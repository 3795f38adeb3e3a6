/** The command that exports archived messages into files. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as Settings from "../../settings/Settings.ts"
import { flag, orNull, passwordInput } from "../OperatorCommand.ts"
import * as Output from "../Output.ts"

const list = (text: string): ReadonlyArray<string> => text.split(",").map((each) => each.trim()).filter(Boolean)

const flags = {
  url: flag("url", "Address of the service, such as https://security.example.com"),
  accounts: flag("account", "Ids of the accounts, with commas between them").pipe(
    Flag.map(list),
    Flag.withDefault<ReadonlyArray<string>>([])
  ),
  chats: flag("chat", "Ids of chats of the one account, with commas between them; all by default").pipe(
    Flag.map(list),
    orNull
  ),
  since: flag("since", "The first day in UTC, such as 2026-01-01").pipe(orNull),
  until: flag("until", "The last day in UTC").pipe(orNull),
  format: Flag.Literals("format", ["json", "html", "rsmf", "eml"]).pipe(
    Flag.withDefault("html"),
    Flag.withDescription(
      "json as the messenger exports, html pages to read, rsmf for review platforms, eml for mail archives"
    )
  ),
  noMedia: Flag.Boolean("no-media").pipe(Flag.withDefault(false), Flag.withDescription("Leave the files out")),
  made: flag("export", "Id of an export that was made before, whose missing parts are downloaded").pipe(Flag.optional),
  to: flag("to", "Directory of the files").pipe(Flag.withDefault(".")),
  json: Output.json
}

/** The flags of an export. */
export type ExportFlags = Omit<Command.Command.Config.Infer<typeof flags>, "json">

export const exportArchive = Command.make("export", flags, ({ json, ...asked }) =>
  Effect.gen(function*() {
    // The client of the API is loaded by this command alone.
    const { exportInto, http } = yield* Effect.promise(() => import("./ExportDownload.ts"))
    const given = yield* Settings.archivePassword
    const secrets = {
      key: yield* Settings.apiKey,
      password: Option.isSome(given) ? Effect.succeed(given.value) : passwordInput("Archive password"),
      say: (line: string) => Output.remark(json, line)
    }
    const done = yield* Effect.provide(exportInto(asked, secrets), http)
    yield* Output.print(json, done, () => [
      `Export ${done.export}: ${done.messages} messages and ${done.files} files in ${
        done.parts.length === 1 ? "1 part" : `${done.parts.length} parts`
      }, as the service has sent them.`,
      ...Output.columns(done.parts.map(({ bytes, file, sha256 }) => [file, `${bytes} bytes`, sha256]))
    ])
  })).pipe(
    Command.withDescription(
      "Export archived messages over the API, with the key in CONSOLE_API_KEY and the archive password by prompt, standard input or CONSOLE_ARCHIVE_PASSWORD"
    ),
    Output.examples(
      [
        "archive export --url https://security.example.com --account 019bc0e2-1280-7092-b899-5ab87f4740e9",
        "Pages to read"
      ],
      [
        "archive export --url https://security.example.com --export 019bc0e9-9dc0-7e58-b7a4-0c9d3f61a285",
        "Go on with it"
      ]
    )
  )
