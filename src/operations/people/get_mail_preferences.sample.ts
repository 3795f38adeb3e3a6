/** A request and its answer in the demo organization. */
export const sample = {
  request: {},
  answer: {
    object: "mail_preferences",
    email: "olivia@demo.example",
    choices: {
      security: true,
      storage: true,
      news: false,
      offers: false
    }
  }
} as const
