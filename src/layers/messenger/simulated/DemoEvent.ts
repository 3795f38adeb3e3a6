/** The annotation of what the log of a demo shows in place of a phone: codes, and strangers who sign in. */
export const demoEvent = "demo"
