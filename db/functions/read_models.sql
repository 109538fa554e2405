-- Positions of read models. A read model that the appends themselves change is inline: the newest row of log.inline_read_models names
-- it, and it is at the log's end. The position of every other one stands in log.read_models. docs/decisions/0027-no-hot-rows.md

-- How far these copies have followed the log, as of one snapshot.
CREATE OR REPLACE FUNCTION log.read_model_positions(schemas text[])
RETURNS TABLE (schema text, version integer, "position" bigint, is_inline boolean)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY SELECT m.schema, m.version,
        CASE WHEN m.schema = ANY (newest.read_models) THEN tail.position ELSE m.position END, m.schema = ANY (newest.read_models)
    FROM unnest(schemas) AS wanted (schema)
    CROSS JOIN LATERAL (
        SELECT r.schema, r.version, r.position FROM log.read_models AS r
        WHERE r.schema = wanted.schema ORDER BY r.position DESC LIMIT 1
    ) AS m
    CROSS JOIN (SELECT i.read_models FROM log.inline_read_models AS i ORDER BY i.number DESC LIMIT 1) AS newest
    CROSS JOIN (SELECT coalesce(max(e.position), 0) AS position FROM log.recorded_events AS e) AS tail;
END
$$;

-- Locks the rows of these copies and returns the schemas of the locked rows. A row that was renamed meanwhile is not among them.
-- No other transaction moves a locked copy, makes it inline or ends that.
CREATE OR REPLACE FUNCTION log.lock_read_models(schemas text[]) RETURNS SETOF text LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT DISTINCT s FROM unnest(schemas) AS s ORDER BY s LOOP
        RETURN QUERY SELECT m.schema FROM log.read_models AS m
            WHERE m.schema = name ORDER BY m.position DESC LIMIT 1 FOR UPDATE;
    END LOOP;
END
$$;

-- Moves these copies forward to a position.
CREATE OR REPLACE FUNCTION log.move_read_models(schemas text[], destination bigint) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    name text;
    start bigint;
BEGIN
    FOR name IN SELECT DISTINCT s FROM unnest(schemas) AS s ORDER BY s LOOP
        SELECT m.position INTO start FROM log.read_models AS m
        WHERE m.schema = name ORDER BY m.position DESC LIMIT 1 FOR UPDATE;
        IF start < destination THEN
            UPDATE log.read_models AS m SET position = destination WHERE m.schema = name AND m.position = start;
        END IF;
    END LOOP;
END
$$;

-- An append calls this when the append before it changed other read models in its transaction. The tail is written down as the
-- position of the read models that it does not change. Its own read models must be at the tail.
CREATE OR REPLACE FUNCTION log.change_inline_read_models(
    read_models text[], read_model_versions integer[], tail bigint, next_tail bigint
) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    newest log.inline_read_models;
    wanted record;
    found_position bigint;
BEGIN
    SELECT i.* INTO newest FROM log.inline_read_models AS i ORDER BY i.number DESC LIMIT 1;
    PERFORM log.move_read_models(ARRAY(SELECT unnest(newest.read_models) EXCEPT SELECT unnest(read_models)), tail);
    FOR wanted IN
        SELECT w.schema, w.version, w.schema = ANY (newest.read_models) AS is_inline
        FROM unnest(read_models, read_model_versions) AS w (schema, version) ORDER BY w.schema
    LOOP
        -- First without the row's lock: a session that catches the copy up may hold it for seconds.
        SELECT m.position INTO found_position FROM log.read_models AS m
        WHERE m.schema = wanted.schema AND m.version = wanted.version ORDER BY m.position DESC LIMIT 1;
        IF found_position = tail AND NOT wanted.is_inline THEN
            -- A new version of the row makes PostgreSQL evaluate it again for a session that waits for its lock.
            UPDATE log.read_models AS m SET position = next_tail
            WHERE m.schema = wanted.schema AND m.version = wanted.version AND m.position = tail;
            IF NOT FOUND THEN
                found_position := NULL;
            END IF;
        END IF;
        IF found_position IS NULL OR NOT wanted.is_inline AND found_position <> tail THEN
            RAISE EXCEPTION 'a read model is missing, behind the log, or of another version'
                USING ERRCODE = 'HU001', HINT = 'rebuild the read model';
        END IF;
    END LOOP;
    INSERT INTO log.inline_read_models VALUES (newest.number + 1, read_models);
    DELETE FROM log.inline_read_models AS i WHERE i.number = newest.number;
END
$$;

-- Ends that these copies are inline, and writes their positions down. Callers: whatever gives a name to other tables or drops them,
-- and whatever extends the log without log.append. Takes the log's lock if there is something to do.
CREATE OR REPLACE FUNCTION log.leave_inline(schemas text[]) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    newest log.inline_read_models;
BEGIN
    SELECT i.* INTO newest FROM log.inline_read_models AS i ORDER BY i.number DESC LIMIT 1;
    IF NOT newest.read_models && schemas THEN
        RETURN;
    END IF;
    PERFORM log.lock();
    SELECT i.* INTO newest FROM log.inline_read_models AS i ORDER BY i.number DESC LIMIT 1;
    PERFORM log.move_read_models(ARRAY(SELECT unnest(newest.read_models) INTERSECT SELECT unnest(schemas)), log.tail());
    INSERT INTO log.inline_read_models
    VALUES (newest.number + 1, ARRAY(SELECT unnest(newest.read_models) EXCEPT SELECT unnest(schemas)));
    DELETE FROM log.inline_read_models AS i WHERE i.number = newest.number;
END
$$;

-- The schema was renamed.
CREATE OR REPLACE FUNCTION log.rename_read_model(old_name text, new_name text) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    PERFORM log.leave_inline(ARRAY[old_name, new_name]);
    UPDATE log.read_models AS m SET schema = new_name WHERE m.schema = old_name;
END
$$;

-- The first key of the advisory locks on copies of read models, 'humo', as bytes. The second one is the hash of the schema. Servers hold
-- them shared on what they answer from, and a process alone on what it fills.
CREATE OR REPLACE FUNCTION log.lock_class() RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT x'68756d6f'::integer $$;

-- The processes of PostgreSQL that hold a copy's lock.
CREATE OR REPLACE FUNCTION log.holders(schema text) RETURNS integer[] LANGUAGE sql VOLATILE AS $$
    SELECT ARRAY(
        SELECT pid FROM pg_locks
        WHERE locktype = 'advisory' AND classid = log.lock_class()::oid AND objid = hashtext(schema)::oid AND objsubid = 2
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND granted
    )
$$;

CREATE OR REPLACE FUNCTION log.is_held(schema text) RETURNS boolean LANGUAGE sql VOLATILE AS $$
    SELECT log.holders(schema) <> '{}'
$$;
