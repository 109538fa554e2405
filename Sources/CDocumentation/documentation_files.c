// The texts of the documentation, embedded by the compiler as those of the log are (CLogSchema).
#include "CDocumentation.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

#define FILE(name) \
    unsigned char documentation_##name(size_t index) { return index < sizeof bytes_##name ? bytes_##name[index] : 0; }

static const unsigned char bytes_openapi_json[] = {
#embed "openapi.json"
};
FILE(openapi_json)

static const unsigned char bytes_page_css[] = {
#embed "page/page.css"
};
FILE(page_css)

static const unsigned char bytes_page_mustache[] = {
#embed "page/page.mustache"
};
FILE(page_mustache)

static const unsigned char bytes_response_mustache[] = {
#embed "page/response.mustache"
};
FILE(response_mustache)
