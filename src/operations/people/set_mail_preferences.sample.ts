/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    security: true,
    storage: false,
    news: false,
    offers: false
  },
  answer: {
    object: "mail_preferences",
    email: "olivia@demo.example",
    choices: {
      security: true,
      storage: false,
      news: false,
      offers: false
    }
  }
} as const
