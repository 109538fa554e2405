#ifndef HUMON_LOG_SCHEMA_H
#define HUMON_LOG_SCHEMA_H

#include <stddef.h>

// The SQL files of db. A function returns the byte at an index of its file, and 0 behind the last byte: Swift needs no pointer for it.

unsigned char sql_0001_log(size_t index);

unsigned char sql_append(size_t index);
unsigned char sql_erasure(size_t index);
unsigned char sql_lookups(size_t index);
unsigned char sql_guards(size_t index);
unsigned char sql_read_models(size_t index);
unsigned char sql_grants(size_t index);

#endif
