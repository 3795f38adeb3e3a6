/** The address of a worker, as browsers with trusted types take it. */

interface ScriptPolicy {
  /** An address that browsers take for a script: to them it is more than a text. */
  readonly createScriptURL: (address: string) => string
}

declare global {
  /** Browsers without trusted types take the text itself. */
  var trustedTypes: { readonly createPolicy: (name: string, policy: ScriptPolicy) => ScriptPolicy } | undefined
}

/** Nothing but the page's own worker is ever loaded: the policy makes its address from no other text. */
export const trusted = (address: string): string => {
  const own = { createScriptURL: (text: string) => text === address ? text : "" }
  return globalThis.trustedTypes?.createPolicy("viewer", own).createScriptURL(address) ?? address
}
