import type { JsonSchema, OpenApiDocument, OpenApiOperation } from "./openapi.ts";

/** The API's document for people: one page without scripts, that any browser can search. */
export function docsPage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, op]) => ({ method, path, op })),
  );
  const sections = document.tags
    .map(({ name, description }) => {
      const own = operations.filter(({ op }) => op.tags.includes(name));
      if (own.length === 0) return "";
      return `<section id="tag-${escapeHtml(name)}"><h2>${escapeHtml(capital(name))}</h2><p class="lead">${escapeHtml(description)}</p>${own
        .map(operationHtml)
        .join("")}</section>`;
    })
    .join("");
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<section class="schema" id="schema-${escapeHtml(name)}"><h3>${escapeHtml(name)}</h3>${schemaHtml(schema)}</section>`,
  );
  const { title, version, description } = document.info as Record<string, string>;
  const links = document.tags
    .filter(({ name }) => operations.some(({ op }) => op.tags.includes(name)))
    .map(({ name }) => `<a href="#tag-${escapeHtml(name)}">${escapeHtml(capital(name))}</a>`)
    .join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API of ${escapeHtml(title ?? "")}</title>
<link rel="icon" href="../dashboard/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="../dashboard/style.css">
<link rel="stylesheet" href="../dashboard/lists.css">
</head>
<body class="docs">
<header class="bar"><a class="brand" href="../">${escapeHtml(title ?? "")}</a><nav class="tabs" aria-label="Sections">${links}<a href="#schemas">Schemas</a></nav></header>
<main>
<h1>HTTP API ${escapeHtml(version ?? "")}</h1>
<p class="lead">${marked(description ?? "")} For programs: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
${sections}
<section id="schemas"><h2>Schemas</h2>${schemas.join("")}</section>
</main>
</body>
</html>
`;
}

function operationHtml({ method, path, op }: { method: string; path: string; op: OpenApiOperation }): string {
  const parameters = op.parameters.map(
    (p) =>
      `<tr><td><code>${escapeHtml(p.name)}</code></td><td>${p.in}${p.required ? ", required" : ""}</td><td>${typeHtml(p.schema)}</td><td>${marked(p.description)}</td></tr>`,
  );
  const answers = Object.entries(op.responses).map(([status, { description, content }]) => {
    const [[media, { schema }] = ["", { schema: {} }]] = Object.entries(content ?? {});
    const what = status === "200" ? `${escapeHtml(media)}: ${typeHtml(schema)}` : "";
    return `<tr><td><code>${status}</code></td><td>${marked(description)}</td><td>${what}</td></tr>`;
  });
  const [body] = Object.entries(op.requestBody?.content ?? {});
  return `<article class="operation" id="${escapeHtml(op.operationId)}">
<h3><span class="method ${method}">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code></h3>
<p><strong>${marked(op.summary)}.</strong> ${marked(op.description ?? "")}</p>
${parameters.length > 0 ? `<div class="scroll" tabindex="0" role="region" aria-label="Parameters"><table><thead><tr><th>Parameter</th><th>In</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${parameters.join("")}</tbody></table></div>` : ""}
${body ? `<p>Body: ${escapeHtml(body[0])}, ${typeHtml(body[1].schema)}</p>` : ""}
<details><summary>Answers</summary><div class="scroll"><table><thead><tr><th>Status</th><th>Meaning</th><th>Content</th></tr></thead><tbody>${answers.join("")}</tbody></table></div></details>
</article>`;
}

function schemaHtml(schema: JsonSchema): string {
  // An object's properties are schemas by name, as JSON Schema defines it.
  const { description, properties = {} } = schema as { description?: string; properties?: Record<string, JsonSchema> };
  const rows = Object.entries(properties).map(
    ([name, property]) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${typeHtml(property)}</td><td>${marked(String(property["description"] ?? ""))}</td></tr>`,
  );
  return `<p>${marked(description ?? "")}</p><div class="scroll"><table><thead><tr><th>Property</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

function typeHtml(schema: JsonSchema): string {
  const { $ref, anyOf, items, type, properties, patternProperties } = schema as {
    $ref?: string;
    anyOf?: readonly JsonSchema[];
    items?: JsonSchema;
    type?: string;
    properties?: Record<string, JsonSchema>;
    patternProperties?: Record<string, JsonSchema>;
  };
  if ($ref !== undefined) {
    const name = escapeHtml($ref.split("/").at(-1) ?? "");
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (anyOf) return anyOf.map(typeHtml).join(" or ");
  if (items) return `list of ${typeHtml(items)}`;
  const values = schema["enum"] as readonly string[] | undefined;
  if (values) return values.map((v) => `<code>${escapeHtml(String(v))}</code>`).join(", ");
  if (properties) {
    const inner = Object.entries(properties).map(([name, p]) => `<code>${escapeHtml(name)}</code>: ${typeHtml(p)}`);
    return `{ ${inner.join(", ")} }`;
  }
  const [each] = Object.values(patternProperties ?? {});
  if (each) return `${typeHtml(each)} by name`;
  return escapeHtml(type ?? "anything");
}

const capital = (word: string): string => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escapeHtml = (value: string): string => value.replace(/[&<>"']/g, (c) => ENTITIES[c] as string);

/** Text in which words in backquotes are code. */
const marked = (value: string): string => escapeHtml(value).replace(/`([^`]+)`/g, "<code>$1</code>");
