/** The reports of errors: one line for people, one object for programs, and an exit code. */
import { Cause, Config, Console, Effect, Exit, Option, Predicate } from "effect"
import { CliError, CliOutput } from "effect/cli"
import { HttpServerError } from "effect/http"
import { SqlError } from "effect/sql"

/** Stopping a service on request is success; a command line that cannot be read is 2, anything else that fails is 1. */
export const exitCode = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return 0
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  return CliError.isCliError(error) ? 2 : 1
}

/** A refusal, for people in its message and for programs in its code. */
interface Report {
  readonly code: string
  readonly message: string
}

/** The root cause, without its stack trace. */
const origin = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? origin(error.cause) : error

const originMessage = (error: unknown): string => {
  const bottom = origin(error)
  return bottom instanceof Error ? bottom.message : String(bottom)
}

/** The reason that the service cannot listen, with the setting that helps. */
const cannotListen = (error: HttpServerError.ServeError): string => {
  const bottom: unknown = origin(error)
  const port = Predicate.hasProperty(bottom, "port") ? `Port ${String(bottom.port)}` : "The port"
  switch (Predicate.hasProperty(bottom, "code") ? bottom.code : undefined) {
    case "EADDRINUSE":
      return `${port} is in use by another program: stop it, or choose another port with --port (0 takes a free one).`
    case "EACCES":
      return `${port} may not be used by this user: choose one above 1023 with --port.`
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return "The address of --host is not one of this machine."
    default:
      return `The service cannot listen: ${originMessage(error)}.`
  }
}

/** `RolesMissing` as `roles_missing`. */
const snakeCase = (name: string): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase()

const reportOf = (error: Error): Report =>
  SqlError.isSqlError(error)
    ? { code: "database_failed", message: `The database did not do it: ${originMessage(error.reason)}.` }
    : error instanceof HttpServerError.ServeError
    ? { code: "cannot_listen", message: cannotListen(error) }
    : {
      code: Predicate.hasProperty(error, "_tag") ? snakeCase(String(error._tag)) : "system_error",
      message: error.message
    }

/** The one line of an error after which a command continues. */
export const messageOf = (error: Error): string => reportOf(error).message.replace(/\.$/, "")

/** The operating system's error for a file or a socket. */
const isSystemError = (error: unknown): error is Error =>
  error instanceof Error && Predicate.hasProperty(error, "syscall")

/** A program that asks for answers as JSON gets its errors as JSON, too, and on standard error. */
const write = (error: Report) =>
  Console.error(process.argv.includes("--json") ? JSON.stringify({ error }) : error.message)

/** A refusal's own message, usually one line; the full cause of an unexpected failure. */
export const report = (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause)) ?? cause.reasons.filter(Cause.isDieReason)
    .map(({ defect }) => defect).find(isSystemError)
  return Cause.hasInterruptsOnly(cause) || CliError.isCliError(error)
    ? Effect.void
    : write(
      error instanceof Config.ConfigError
        ? { code: "setting_invalid", message: `${error.cause.message}.` }
        : error instanceof Error
        ? reportOf(error)
        : { code: "unexpected", message: Cause.pretty(cause) }
    )
}

/** The message in one line; what a variable holds in place of a flag is shown without the flag's own words. */
const inOneLine = (message: string): string =>
  message.replaceAll(/\s+/g, " ")
    .replace(/^Invalid value for flag --[\w-]+: "config"\. Expected: SourceError: /, "")
    .replace(/ Did you mean this\? (.*)$/, ": did you mean $1?")

/** A command line that cannot be read gets one line, not the whole help. */
export const presenter = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? write({
        code: "usage_invalid",
        message: `${event.errors.map(({ message }) => inOneLine(message)).join("; ")}; see ${
          event.commandPath.join(" ")
        } --help`
      })
      : CliOutput.defaultPresenter.present(event)
})
