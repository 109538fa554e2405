// The API's document and its page, embedded by the compiler as the texts of the log are (CLogSchema).
#include "CDocumentation.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

#define FILE(name) \
    unsigned char documentation_##name(size_t index) { return index < sizeof bytes_##name ? bytes_##name[index] : 0; }

static const unsigned char bytes_openapi_json[] = {
#embed "openapi.json"
};
FILE(openapi_json)

static const unsigned char bytes_docs_html[] = {
#embed "docs.html"
};
FILE(docs_html)

static const unsigned char bytes_docs_css[] = {
#embed "docs.css"
};
FILE(docs_css)

static const unsigned char bytes_docs_js[] = {
#embed "docs.js"
};
FILE(docs_js)
