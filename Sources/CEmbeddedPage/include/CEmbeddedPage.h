#ifndef HUMON_EMBEDDED_PAGE_H
#define HUMON_EMBEDDED_PAGE_H

#include <stddef.h>

/// A file of the map page, as bytes of the program.
struct web_file {
    /// Its name in a URL, for example `leaflet.js`.
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// The files of the map page.
extern const struct web_file *const web_files;
extern const size_t web_file_count;

/// A tile of the coast, as a gzip file of an SVG path: zoom 6 or 9, column and row from the north-west. Without bytes if there is no such
/// tile.
struct web_file web_coast_tile(unsigned zoom, unsigned x, unsigned y);
/// Some bytes that change with any tile of the coast.
struct web_file web_coast_digest(void);

#endif
