/** Phone numbers: which ones are taken, how a person types them, and how they are shown. */
import { Schema } from "effect"
import { parsePhoneNumberFromString as parse } from "libphonenumber-js/min"

/** The messenger's own numbers, which no country has: anonymous ones, and those of its test service. */
const own = /^\+(?:888[0-9]{8}|99966[0-9]{5})$/

/**
 * True if the number, in E.164, can be one: its country exists, and it is as long as that country's are. The messenger
 * knows which numbers are assigned; a library's list of them is older than the newest.
 */
export const isPossible = (number: string): boolean => own.test(number) || parse(number)?.isPossible() === true

/** A phone number in E.164. */
export const PhoneNumber = Schema.String.check(
  Schema.isPattern(/^\+[1-9][0-9]{6,14}$/u, { expected: "a phone number in E.164 such as +12025550143" }).abort(),
  Schema.makeFilter(isPossible, { expected: "a phone number of a country, with all of its digits" })
)

/** A number in E.164 as its country groups it, such as +1 202 555 0143; any other text as it is. */
export const shown = (text: string): string => {
  const number = text.startsWith("+") ? parse(text) : undefined
  return number?.number === text ? number.formatInternational() : text
}

/** The number that a person typed, in E.164: spaces and signs between its digits are theirs. */
export const typed = (text: string): string => {
  const digits = text.replaceAll(/[\s().\u2010-\u2015\u2212-]/gu, "")
  return own.test(digits) ? digits : parse(text)?.number ?? digits
}
