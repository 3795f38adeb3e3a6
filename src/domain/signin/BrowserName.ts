/** A browser's description of itself, in a few words. */

/** The number of characters read of a browser's own words. */
const looked = 512

/** The names that browsers give themselves, the most particular first: most of them also claim to be others. */
const browsers: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/\bEdgA?\/|\bEdgiOS\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/Chrome\/|\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"]
]

const systems: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b/, "Linux"]
]

const nameIn = (names: typeof browsers, text: string): string | undefined =>
  names.find(([pattern]) => pattern.test(text))?.[1]

/** Browser and system by its `User-Agent`; what it says may be untrue. */
export const browserName = (userAgent: string | undefined): string => {
  const text = (userAgent ?? "").slice(0, looked)
  const browser = nameIn(browsers, text) ?? "Unknown browser"
  const system = nameIn(systems, text)
  return system === undefined ? browser : `${browser} on ${system}`
}
