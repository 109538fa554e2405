// The files of the map page, embedded by the compiler: C23's #embed takes 20 ms for files that take the Swift compiler minutes as array
// literals. The compiler lists them as dependencies, so that a changed file is compiled again.
#include "CEmbeddedPage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

#if !__has_embed("../../third-party/leaflet/leaflet.js") || !__has_embed("../../third-party/coast/coast.tiles") \
    || !__has_embed("../../third-party/coast/COPYING") || !__has_embed("../../third-party/coast/COPYING.LESSER")
#error "third-party/leaflet or third-party/coast is missing: run scripts/install"
#endif

static const unsigned char index_html[] = {
#embed "page/index.html"
};
static const unsigned char page_css[] = {
#embed "page/page.css"
};
static const unsigned char icon_svg[] = {
#embed "page/icon.svg"
};
static const unsigned char licences_txt[] = {
#embed "page/licences.txt"
};
static const unsigned char gpl_txt[] = {
#embed "../../third-party/coast/COPYING"
};
static const unsigned char lgpl_txt[] = {
#embed "../../third-party/coast/COPYING.LESSER"
};
static const unsigned char api_js[] = {
#embed "page/api.js"
};
static const unsigned char app_js[] = {
#embed "page/app.js"
};
static const unsigned char back_js[] = {
#embed "page/back.js"
};
static const unsigned char changes_js[] = {
#embed "page/changes.js"
};
static const unsigned char clusters_js[] = {
#embed "page/clusters.js"
};
static const unsigned char coast_js[] = {
#embed "page/coast.js"
};
static const unsigned char details_js[] = {
#embed "page/details.js"
};
static const unsigned char dom_js[] = {
#embed "page/dom.js"
};
static const unsigned char event_js[] = {
#embed "page/event.js"
};
static const unsigned char filter_js[] = {
#embed "page/filter.js"
};
static const unsigned char form_js[] = {
#embed "page/form.js"
};
static const unsigned char ground_js[] = {
#embed "page/ground.js"
};
static const unsigned char list_js[] = {
#embed "page/list.js"
};
static const unsigned char map_js[] = {
#embed "page/map.js"
};
static const unsigned char place_js[] = {
#embed "page/place.js"
};
static const unsigned char search_js[] = {
#embed "page/search.js"
};
static const unsigned char session_js[] = {
#embed "page/session.js"
};
static const unsigned char texts_js[] = {
#embed "page/texts.js"
};
static const unsigned char time_js[] = {
#embed "page/time.js"
};
static const unsigned char topology_js[] = {
#embed "page/topology.js"
};
static const unsigned char view_js[] = {
#embed "page/view.js"
};
static const unsigned char en_json[] = {
#embed "texts/en.json"
};
static const unsigned char de_json[] = {
#embed "texts/de.json"
};
static const unsigned char countries_110m[] = {
#embed "data/countries-110m.topojson"
};
static const unsigned char countries_50m[] = {
#embed "data/countries-50m.topojson"
};
static const unsigned char zones_tsv[] = {
#embed "data/zones.tsv"
};
static const unsigned char cities_tsv[] = {
#embed "../App/Demo/cities.tsv"
};
static const unsigned char leaflet_js[] = {
#embed "../../third-party/leaflet/leaflet.js"
};
static const unsigned char leaflet_css[] = {
#embed "../../third-party/leaflet/leaflet.css"
};

#define FILE(name, bytes) {name, bytes, sizeof bytes}

static const struct web_file files[] = {
    FILE("index.html", index_html),
    FILE("page.css", page_css),
    FILE("icon.svg", icon_svg),
    FILE("licences.txt", licences_txt),
    FILE("gpl-3.0.txt", gpl_txt),
    FILE("lgpl-3.0.txt", lgpl_txt),
    FILE("api.js", api_js),
    FILE("app.js", app_js),
    FILE("back.js", back_js),
    FILE("changes.js", changes_js),
    FILE("clusters.js", clusters_js),
    FILE("coast.js", coast_js),
    FILE("details.js", details_js),
    FILE("dom.js", dom_js),
    FILE("event.js", event_js),
    FILE("filter.js", filter_js),
    FILE("form.js", form_js),
    FILE("ground.js", ground_js),
    FILE("list.js", list_js),
    FILE("map.js", map_js),
    FILE("place.js", place_js),
    FILE("search.js", search_js),
    FILE("session.js", session_js),
    FILE("texts.js", texts_js),
    FILE("time.js", time_js),
    FILE("topology.js", topology_js),
    FILE("view.js", view_js),
    // The first one is for clients that ask for none of them.
    FILE("en.json", en_json),
    FILE("de.json", de_json),
    FILE("countries-110m.topojson", countries_110m),
    FILE("countries-50m.topojson", countries_50m),
    FILE("cities.tsv", cities_tsv),
    FILE("zones.tsv", zones_tsv),
    FILE("leaflet.js", leaflet_js),
    FILE("leaflet.css", leaflet_css),
};

const struct web_file *const web_files = files;
const size_t web_file_count = sizeof files / sizeof files[0];

// scripts/coast describes the format: a digest, the index of each level, and the records.
static const unsigned char coast[] = {
#embed "../../third-party/coast/coast.tiles"
};
enum { digest_bytes = 8, wide_zoom = 6, close_zoom = 9, place_bytes = 4 };

static size_t coast_number(size_t place) {
    return coast[place] | (size_t)coast[place + 1] << 8 | (size_t)coast[place + 2] << 16 | (size_t)coast[place + 3] << 24;
}

struct web_file web_coast_digest(void) { return (struct web_file){"coast", coast, digest_bytes}; }

struct web_file web_coast_tile(unsigned zoom, unsigned x, unsigned y) {
    if ((zoom != wide_zoom && zoom != close_zoom) || x >> zoom != 0 || y >> zoom != 0) return (struct web_file){0};
    size_t before = zoom == close_zoom ? (size_t)1 << 2 * wide_zoom : 0;
    size_t record = coast_number(digest_bytes + place_bytes * (before + ((size_t)y << zoom) + x));
    if (record > sizeof coast - place_bytes) return (struct web_file){0};
    size_t count = coast_number(record);
    if (count > sizeof coast - place_bytes - record) return (struct web_file){0};
    return (struct web_file){"coast", coast + record + place_bytes, count};
}
