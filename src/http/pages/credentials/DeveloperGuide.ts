/** The start for a program or an assistant: addresses, a first request, and the settings of an assistant. */
import type { Site } from "../../../transport/Site.ts"
import * as Documents from "../../OpenApiDocument.ts"
import * as ReferencePage from "../../ReferencePage.ts"
import { type Html, html } from "../kit/index.ts"

/** As assistants that take a file of servers read it. */
const assistant = (baseUrl: string): string =>
  JSON.stringify(
    {
      mcpServers: {
        "security-console": {
          type: "http",
          url: `${baseUrl}/mcp`,
          headers: { Authorization: "Bearer YOUR_KEY" }
        }
      }
    },
    null,
    2
  )

const block = (text: string, label: string): Html.Html =>
  html`<pre class="block" tabindex="0" role="region" aria-label="${label}"><code translate="no">${text}</code></pre>`

/** The command of the package, without an installation. */
const bridge = (baseUrl: string): string =>
  `npx --package org-security-console security-console bridge --url ${baseUrl} --sign-in`

export const section = ({ baseUrl }: Site, readsArchive: boolean): Html.Html =>
  html`<section aria-labelledby="begin">
  <h2 id="begin">Addresses</h2>
  <dl class="facts">
    <dt>API</dt><dd><code>${baseUrl}/v1</code></dd>
    <dt>Reference</dt><dd><a href="${baseUrl}${ReferencePage.path}">${baseUrl}${ReferencePage.path}</a></dd>
    <dt>OpenAPI</dt><dd><a href="${baseUrl}${Documents.path}">${baseUrl}${Documents.path}</a></dd>
    <dt>Assistants</dt><dd><code>${baseUrl}/mcp</code></dd>
  </dl>
</section>
<section aria-labelledby="request">
  <h2 id="request">A first request</h2>
  <p class="lead">With the key that you have created as <code>KEY</code>:</p>
  ${block(`curl -H "Authorization: Bearer $KEY" ${baseUrl}/v1/organization`, "Request with curl")}
</section>
<section aria-labelledby="assistant">
  <h2 id="assistant">An assistant</h2>
  <p class="lead">Assistants that sign in need the address alone: they send you here to choose what they may use and do. For all others, this is the entry in their list of servers:</p>
  ${block(assistant(baseUrl), "Settings of an assistant")}
</section>
${
    readsArchive
      ? html`<section aria-labelledby="bridge">
  <h2 id="bridge">An assistant for the archive</h2>
  <p class="lead">The bridge opens the archive on the assistant's own machine, so that the archive password stays there. Connect it once: it sends you here to allow it, and then prints its entry for the list of servers:</p>
  ${block(bridge(baseUrl), "Command of the bridge")}
</section>`
      : undefined
  }`
