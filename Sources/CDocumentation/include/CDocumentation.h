#ifndef HUMON_DOCUMENTATION_H
#define HUMON_DOCUMENTATION_H

#include <stddef.h>

// The texts of the documentation. A function returns the byte at an index of its text, and 0 behind the last byte: Swift needs no pointer
// for it.

/// The OpenAPI document. scripts/openapi writes it from docs/openapi.yaml.
unsigned char documentation_openapi_json(size_t index);
/// The page /docs. scripts/openapi writes it from docs/openapi.yaml, template.html, docs.css and docs.js.
unsigned char documentation_docs_html(size_t index);
/// The style and the script of the page, which the page contains too.
unsigned char documentation_docs_css(size_t index);
unsigned char documentation_docs_js(size_t index);

#endif
