-- Appends in the designs of two other event stores, in words of our own. Both get events of the log's size.

-- message-db: one table, a global position from a sequence, and a version within the stream. A writer locks the category of the
-- stream until its commit, so that readers of the category see its positions in order.
CREATE SCHEMA message_db;
CREATE TABLE message_db.messages (
    global_position bigserial PRIMARY KEY, id uuid NOT NULL UNIQUE, stream text COLLATE "C" NOT NULL, position bigint NOT NULL,
    type text NOT NULL, time timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'), data jsonb, metadata jsonb,
    UNIQUE (stream, position)
);
CREATE FUNCTION message_db.category(stream text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT split_part(stream, '-', 1) $$;
CREATE INDEX messages_category ON message_db.messages (message_db.category(stream), global_position);

CREATE FUNCTION message_db.write(
    own_id uuid, own_stream text, own_type text, own_data jsonb, own_metadata jsonb, expected bigint
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    present bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(message_db.category(own_stream), 0));
    SELECT m.position INTO present FROM message_db.messages AS m WHERE m.stream = own_stream ORDER BY m.position DESC LIMIT 1;
    present := coalesce(present, -1);
    IF present <> expected THEN
        RAISE EXCEPTION 'the stream has another version than the expected one';
    END IF;
    INSERT INTO message_db.messages (id, stream, position, type, data, metadata)
    VALUES (own_id, own_stream, present + 1, own_type, own_data, own_metadata);
    RETURN present + 1;
END
$$;

-- Marten, its quick append: a row a stream holds the version, and events get a number from a sequence. Nothing serialises writers
-- of different streams, so numbers become visible out of order, and a reader waits until gaps have closed.
CREATE SCHEMA marten;
CREATE TABLE marten.streams (
    id text COLLATE "C" PRIMARY KEY, type text, version bigint NOT NULL, created timestamptz NOT NULL DEFAULT now(),
    timestamp timestamptz NOT NULL DEFAULT now(), is_archived boolean NOT NULL DEFAULT false
);
CREATE SEQUENCE marten.numbers;
CREATE TABLE marten.events (
    number bigint PRIMARY KEY, id uuid NOT NULL, stream text COLLATE "C" NOT NULL REFERENCES marten.streams ON DELETE CASCADE,
    version bigint NOT NULL, data jsonb NOT NULL, type text NOT NULL, timestamp timestamptz NOT NULL DEFAULT now(), metadata jsonb,
    is_archived boolean NOT NULL DEFAULT false, UNIQUE (stream, version)
);

CREATE FUNCTION marten.quick_append(own_stream text, stream_type text, ids uuid[], types text[], bodies jsonb[], headers jsonb[])
RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    present bigint;
    number bigint;
    numbers bigint[] := '{}';
BEGIN
    SELECT s.version INTO present FROM marten.streams AS s WHERE s.id = own_stream FOR UPDATE;
    IF present IS NULL THEN
        present := 0;
        INSERT INTO marten.streams (id, type, version) VALUES (own_stream, stream_type, cardinality(ids));
    ELSE
        UPDATE marten.streams SET version = present + cardinality(ids), timestamp = now() WHERE id = own_stream;
    END IF;
    FOR i IN 1..cardinality(ids) LOOP
        number := nextval('marten.numbers');
        numbers := numbers || number;
        INSERT INTO marten.events (number, id, stream, version, data, type, metadata)
        VALUES (number, ids[i], own_stream, present + i, bodies[i], types[i], headers[i]);
    END LOOP;
    RETURN numbers;
END
$$;

-- The numbers of new streams. With a cache, so that they are cheap.
CREATE SEQUENCE new_streams CACHE 1000;
