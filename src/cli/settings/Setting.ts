/** The kinds of settings: each is a flag with its variable, its default and a sentence, read and checked alike. */
import { Config, ConfigProvider, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import * as fs from "node:fs"

/** One setting as a reader needs to know it. */
interface SettingDescription {
  readonly flag: string | null
  readonly variable: string | null
  readonly fallback: string
  readonly description: string
  /** A file may hold it, which the variable with `_FILE` at its end names. */
  readonly secret: boolean
}

/** Every setting, in the order in which they are declared. */
export const described: Array<SettingDescription> = []

/** Adds a setting to the table. */
export const describe = (
  flag: string | null,
  variable: string | null,
  fallback: string,
  description: string,
  secret = false
): void => {
  described.push({ flag, variable, fallback, description, secret })
}

const fail = (message: string) => Config.fail(new ConfigProvider.SourceError({ message }))

/**
 * What a variable holds, read by `parse`; what it cannot read is refused with the variable, its value and the choice.
 */
const fromVariable = <A>(variable: string, allowed: string, parse: (text: string) => A | undefined) =>
  Config.flatMap(Config.String(variable), (text) => {
    const value = parse(text.trim())
    return value === undefined ? fail(`${variable} is ${allowed}, not ${JSON.stringify(text)}`) : Config.succeed(value)
  })

const within = (text: string, [minimum, maximum]: readonly [number, number]): number | undefined => {
  const value = text === "" ? Number.NaN : Number(text)
  return value >= minimum && value <= maximum ? value : undefined
}

const wholeWithin = (text: string, range: readonly [number, number]): number | undefined => {
  const value = within(text, range)
  return Number.isSafeInteger(value) ? value : undefined
}

const switches: ReadonlyMap<string, boolean> = new Map([
  ...["true", "yes", "on", "1", "y"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0", "n"].map((word) => [word, false] as const)
])

/** A secret from its variable, or from the file that another one names: what systemd and containers hand over. */
export const secretConfig = (variable: string): Config.Config<Redacted.Redacted> => {
  const direct = Config.Redacted(variable)
  return Config.flatMap(Config.option(Config.NonEmptyString(`${variable}_FILE`)), (file) => {
    if (Option.isNone(file)) return direct
    return Config.flatMap(Config.option(direct), (value) => {
      if (Option.isSome(value)) return fail(`${variable} and ${variable}_FILE are both set: set one of them`)
      try {
        return Config.succeed(Redacted.make(fs.readFileSync(file.value, "utf8").trim()))
      } catch {
        return fail(`${variable}_FILE names a file that cannot be read: ${file.value}`)
      }
    })
  })
}

/** A text with a default. */
export const text = (flag: string, variable: string, fallback: string, description: string) => {
  describe(flag, variable, fallback, description)
  return Flag.String(flag).pipe(
    Flag.withDescription(`${description} [${variable}; ${fallback}]`),
    Flag.withFallbackConfig(Config.String(variable)),
    Flag.withDefault(fallback)
  )
}

/** A text that may be left out. */
export const optionalText = (flag: string, variable: string, fallback: string, description: string) => {
  describe(flag, variable, fallback, description)
  return Flag.String(flag).pipe(
    Flag.withDescription(`${description} [${variable}]`),
    Flag.withFallbackConfig(Config.String(variable)),
    Flag.optional
  )
}

/** A whole number within a range. */
export const number = (
  flag: string,
  variable: string,
  fallback: number,
  range: readonly [number, number],
  description: string
) => {
  const allowed = `a whole number from ${range[0]} to ${range[1]}`
  describe(flag, variable, String(fallback), description)
  return Flag.Int(flag).pipe(
    Flag.withDescription(`${description} [${variable}; ${fallback}]`),
    Flag.withFallbackConfig(fromVariable(variable, allowed, (text) => wholeWithin(text, range))),
    Flag.withDefault(fallback),
    Flag.filter((value) => value >= range[0] && value <= range[1], () => allowed)
  )
}

/** A number from 0 to 1. */
export const ratio = (flag: string, variable: string, fallback: number, description: string) => {
  describe(flag, variable, String(fallback), description)
  return Flag.Finite(flag).pipe(
    Flag.withDescription(`${description} [${variable}; ${fallback}]`),
    Flag.withFallbackConfig(fromVariable(variable, "a number from 0 to 1", (text) => within(text, [0, 1]))),
    Flag.withDefault(fallback),
    Flag.filter((value) => value >= 0 && value <= 1, () => "a number from 0 to 1")
  )
}

/** A secret that a flag may give too, such as an address with a password. */
export const secret = (flag: string, variable: string, fallback: string, description: string) => {
  describe(flag, variable, fallback, description, true)
  return Flag.Redacted(flag).pipe(
    Flag.withDescription(`${description} [${variable}]`),
    Flag.withFallbackConfig(secretConfig(variable)),
    Flag.optional
  )
}

/** A secret that no flag can give: arguments are seen by every user of the machine. */
export const hidden = (variable: string, fallback: string, description: string) => {
  describe(null, variable, fallback, description, true)
  return Config.option(secretConfig(variable))
}

/** One of a few words. */
export const choice = <const Choices extends ReadonlyArray<string>>(
  flag: string,
  variable: string,
  choices: Choices,
  fallback: Choices[number],
  description: string
) => {
  describe(flag, variable, fallback, description)
  return Flag.Literals(flag, choices).pipe(
    Flag.withDescription(`${description} [${variable}; ${fallback}]`),
    Flag.withFallbackConfig(
      fromVariable<Choices[number]>(
        variable,
        `one of ${choices.join(", ")}`,
        (text) => choices.find((each) => each === text)
      )
    ),
    Flag.withDefault<Choices[number]>(fallback)
  )
}

/** A switch, off by default. */
export const onOff = (flag: string, variable: string | null, description: string) => {
  describe(flag, variable, "off", description)
  const plain = Flag.Boolean(flag).pipe(
    Flag.withDescription(variable === null ? description : `${description} [${variable}]`)
  )
  return (variable === null
    ? plain
    : plain.pipe(
      Flag.withFallbackConfig(fromVariable(variable, "on or off", (text) => switches.get(text.toLowerCase())))
    )).pipe(
      Flag.withDefault(false)
    )
}
