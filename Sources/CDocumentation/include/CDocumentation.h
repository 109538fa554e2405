#ifndef HUMON_DOCUMENTATION_H
#define HUMON_DOCUMENTATION_H

#include <stddef.h>

// The texts of the documentation. A function returns the byte at an index of its text, and 0 behind the last byte: Swift needs no pointer
// for it.

/// The OpenAPI document. scripts/openapi writes it from docs/openapi.yaml.
unsigned char documentation_openapi_json(size_t index);
/// The templates and the style of /docs.
unsigned char documentation_page_css(size_t index);
unsigned char documentation_page_mustache(size_t index);
unsigned char documentation_response_mustache(size_t index);

#endif
