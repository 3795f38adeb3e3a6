/**
 * The addresses where codes may go (specification, section 5.2), judged by the text as it is written and not by what it
 * parses to.
 */
import { maxRedirectUriLength } from "../domain/oauth/OAuth.ts"

const printable = /^[\x21-\x7e]+$/
const forbidden = /[\\#*"<>^`{|}]/
const https = /^https:\/\/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::[0-9]{1,5})?(?=[/?]|$)/i
const loopback = /^http:\/\/(localhost|127\.0\.0\.1)(?::[0-9]{1,5})?(?=[/?]|$)/

/** True if an application may register the address. */
export const isAcceptable = (uri: string): boolean => {
  if (uri.length > maxRedirectUriLength || !printable.test(uri) || forbidden.test(uri) || !URL.canParse(uri)) {
    return false
  }
  const host = (uri.startsWith("https://") ? https : loopback).exec(uri)?.[1]
  return host !== undefined && new URL(uri).hostname === host.toLowerCase()
}

/** True if the address is one of the machine that the browser runs on. */
export const isLoopback = (uri: string): boolean => loopback.test(uri)

/** The address without its port where that is an application's own machine, whose ports come and go (RFC 8252, 7.3). */
const withoutPort = (uri: string): string => loopback.test(uri) ? uri.replace(/^(http:\/\/[^/?:]+):[0-9]+/, "$1") : uri

/** True if the requested address is the registered one. */
export const matches = (registered: string, asked: string): boolean =>
  registered === asked || (isAcceptable(asked) && withoutPort(registered) === withoutPort(asked))

/** The host that a code goes to, for a person to read. */
export const hostOf = (uri: string): string => new URL(uri).host
