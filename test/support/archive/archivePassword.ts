/** The archive password in tests, and how requests carry it. */

/** The archive password of every organization in these tests. */
export const archivePassword = "harbour lantern archive"

/** The header of requests that carry a password. */
export const passwordHeader = (text = archivePassword) => ({
  "archive-password": Buffer.from(text, "utf8").toString("base64url")
})
