/** The cookies of the console. */
import { Duration } from "effect"
import type { CookieSite } from "../ports/signin/ConsoleSessions.ts"

/** A cookie of the console on each site. */
export interface Cookie {
  /** The `Set-Cookie` of a value. */
  set(site: CookieSite, value: string): string
  /** The `Set-Cookie` that makes the browser forget it. */
  forget(site: CookieSite): string
  /** The value in a Cookie header; none where the name occurs twice, for one of the two was planted. */
  read(cookies: string | undefined, site: CookieSite): string | undefined
}

export const makeCookie = (name: string, lifetime: Duration.Duration): Cookie => {
  const isSecure = ({ baseUrl }: CookieSite) => baseUrl.startsWith("https:")
  // Browsers refuse the prefix, and `Secure`, over plain http, which is for a machine's own loopback.
  const nameOn = (site: CookieSite) => isSecure(site) ? `__Host-${name}` : name
  const write = (site: CookieSite, value: string, age: Duration.Duration) =>
    [
      `${nameOn(site)}=${value}`,
      `Max-Age=${Duration.toSeconds(age)}`,
      "Path=/",
      "HttpOnly",
      ...(isSecure(site) ? ["Secure"] : []),
      "SameSite=Lax"
    ].join("; ")
  return {
    set: (site, value) => write(site, value, lifetime),
    forget: (site) => write(site, "", Duration.zero),
    read: (cookies, site) => {
      const start = `${nameOn(site)}=`
      const found = (cookies ?? "").split(";").map((part) => part.trim()).filter((part) => part.startsWith(start))
      return found.length === 1 ? found[0]?.slice(start.length) : undefined
    }
  }
}
