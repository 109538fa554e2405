-- Which stored formats each version of the program reads and writes. A version writes its rows once, when a server of it starts
-- for the first time. Which versions serve now is told by advisory locks, which end with the sessions of their servers:
-- docs/decisions/0028-history-and-formats.md
CREATE TABLE log.program_formats (
    -- Of the version: a digest of what it reads and writes, and the second key of its servers' locks.
    program integer NOT NULL CHECK (program > 0),
    category text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    -- It reads the formats from 1 to this one.
    readable smallint NOT NULL CHECK (readable > 0),
    -- NULL: it reads the type and does not write it.
    written smallint CHECK (written > 0),
    registered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (program, category, type)
);
