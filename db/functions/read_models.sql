-- Read models: their schemas and their positions. The owner of the log owns the schemas, and the application may call these functions
-- only, so that no role of the application can place an object that a session of the owner runs. docs/decisions/0067-rights.md

-- The declared read model that has this schema: its live tables, a shadow, or tables that a cutover replaced. P0002 (no_data_found) if
-- there is none: `humon migrate` of the program that has the read model declares it.
CREATE OR REPLACE FUNCTION log.projection(of_schema text) RETURNS log.projections LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    declared log.projections;
BEGIN
    SELECT p.* INTO STRICT declared FROM log.projections AS p CROSS JOIN unnest('{"",_rebuild,_verify,_replaced}'::text[]) AS s (suffix)
    WHERE of_schema = p.name || '_v' || p.version || s.suffix;
    RETURN declared;
END
$$;

-- Lets the application change the rows of a read model, and the reader read them.
CREATE OR REPLACE FUNCTION log.grant_read_model(schema text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM PUBLIC, log_app, log_reader', schema);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO log_app, log_reader', schema);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO log_app', schema);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO log_reader', schema);
END
$$;

-- Makes empty tables at position 0, in place of a schema of that name. A verification's tables need not survive a crash.
CREATE OR REPLACE FUNCTION log.create_read_model(schema text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    declared log.projections := log.projection(schema);
    made regclass;
BEGIN
    PERFORM log.drop_read_model(schema);
    EXECUTE format('CREATE SCHEMA %I', schema);
    PERFORM set_config('search_path', format('%I, pg_catalog, pg_temp', schema), true);
    EXECUTE declared.tables;
    PERFORM set_config('search_path', 'pg_catalog, pg_temp', true);
    IF schema LIKE '%\_verify' THEN
        FOR made IN SELECT c.oid FROM pg_class AS c WHERE c.relnamespace = to_regnamespace(quote_ident(schema)) AND c.relkind = 'r' LOOP
            EXECUTE format('ALTER TABLE %s SET UNLOGGED', made);
        END LOOP;
    END IF;
    PERFORM log.grant_read_model(schema);
    INSERT INTO log.read_models (schema, position) VALUES (schema, 0);
END
$$;

-- Makes the indexes of a read model after its rows are loaded, unless it has them.
CREATE OR REPLACE FUNCTION log.index_read_model(of_schema text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    declared log.projections := log.projection(of_schema);
    loaded regclass;
BEGIN
    IF NOT EXISTS (SELECT FROM log.read_models AS m WHERE m.schema = of_schema AND NOT m.has_indexes) THEN
        RETURN;
    END IF;
    PERFORM set_config('search_path', format('%I, pg_catalog, pg_temp', of_schema), true);
    EXECUTE declared.indexes;
    PERFORM set_config('search_path', 'pg_catalog, pg_temp', true);
    FOR loaded IN
        SELECT c.oid FROM pg_class AS c WHERE c.relnamespace = to_regnamespace(quote_ident(of_schema)) AND c.relkind = 'r'
    LOOP
        EXECUTE format('ANALYZE %s', loaded);
    END LOOP;
    -- This statement is late, because it locks the row.
    UPDATE log.read_models AS m SET has_indexes = true WHERE m.schema = of_schema;
END
$$;

-- Deletes the row first, because a transaction that writes to the tables locks the row before them.
CREATE OR REPLACE FUNCTION log.drop_read_model(of_schema text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM log.projection(of_schema);
    DELETE FROM log.read_models AS m WHERE m.schema = of_schema;
    EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', of_schema);
END
$$;

-- Gives tables another name; drops the row of a schema that does not exist.
CREATE OR REPLACE FUNCTION log.rename_read_model(old_name text, new_name text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    PERFORM log.projection(old_name), log.projection(new_name);
    IF to_regnamespace(quote_ident(old_name)) IS NULL THEN
        PERFORM log.leave_inline(ARRAY[old_name]);
        DELETE FROM log.read_models AS m WHERE m.schema = old_name;
        RETURN;
    END IF;
    EXECUTE format('ALTER SCHEMA %I RENAME TO %I', old_name, new_name);
    PERFORM log.leave_inline(ARRAY[old_name, new_name]);
    UPDATE log.read_models AS m SET schema = new_name WHERE m.schema = old_name;
END
$$;

-- Only its holder may rename or drop tables of read models, shadows excepted, until the end of the transaction. Otherwise, while a drop
-- waits for readers of its tables, a cutover could give these tables another name.
CREATE OR REPLACE FUNCTION log.lock_names() RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    LOCK TABLE log.read_models IN SHARE UPDATE EXCLUSIVE MODE
$$;

-- Positions of read models. A read model that the appends themselves change is inline: the newest row of log.inline_read_models names
-- it, and it is at the log's end. The position of every other one stands in log.read_models. docs/decisions/0027-no-hot-rows.md

-- How far these copies have followed the log, as of one snapshot.
CREATE OR REPLACE FUNCTION log.read_model_positions(schemas text[])
RETURNS TABLE (schema text, "position" bigint, is_inline boolean)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY SELECT m.schema, CASE WHEN m.schema = ANY (newest.read_models) THEN tail.position ELSE m.position END,
        m.schema = ANY (newest.read_models)
    FROM unnest(schemas) AS wanted (schema)
    CROSS JOIN LATERAL (
        SELECT r.schema, r.position FROM log.read_models AS r
        WHERE r.schema = wanted.schema ORDER BY r.position DESC LIMIT 1
    ) AS m
    CROSS JOIN (SELECT i.read_models FROM log.inline_read_models AS i ORDER BY i.number DESC LIMIT 1) AS newest
    CROSS JOIN (SELECT coalesce(max(e.position), 0) AS position FROM log.recorded_events AS e) AS tail;
END
$$;

-- Locks the rows of these copies and returns the schemas of the locked rows. A row that was renamed meanwhile is not among them.
-- No other transaction moves a locked copy, makes it inline or ends that.
CREATE OR REPLACE FUNCTION log.lock_read_models(schemas text[]) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
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
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
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
CREATE OR REPLACE FUNCTION log.change_inline_read_models(read_models text[], tail bigint, next_tail bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    newest log.inline_read_models;
    joining text[];
    moved integer;
BEGIN
    SELECT i.* INTO newest FROM log.inline_read_models AS i ORDER BY i.number DESC LIMIT 1;
    PERFORM log.move_read_models(ARRAY(SELECT unnest(newest.read_models) EXCEPT SELECT unnest(read_models)), tail);
    joining := ARRAY(SELECT unnest(read_models) EXCEPT SELECT unnest(newest.read_models));
    -- A session that catches a copy up may hold its row for seconds. That row is not at the tail, so this does not wait for it. A new
    -- version of a row makes PostgreSQL evaluate it again for a session that waits for its lock. Others lock several of these rows under
    -- the log's lock only.
    UPDATE log.read_models AS m SET position = next_tail WHERE m.schema = ANY (joining) AND m.position = tail;
    GET DIAGNOSTICS moved = ROW_COUNT;
    IF moved < cardinality(joining) THEN
        RAISE EXCEPTION 'a read model is missing or behind the log' USING ERRCODE = 'HU001', HINT = 'rebuild the read model';
    END IF;
    INSERT INTO log.inline_read_models VALUES (newest.number + 1, read_models);
    DELETE FROM log.inline_read_models AS i WHERE i.number = newest.number;
END
$$;

-- Ends that these copies are inline, and writes their positions down. Callers: whatever gives a name to other tables or drops them,
-- and whatever extends the log without log.append. Takes the log's lock if there is something to do.
CREATE OR REPLACE FUNCTION log.leave_inline(schemas text[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
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

-- The processes of PostgreSQL that hold a copy's lock. The first key of these advisory locks is 'humo', as bytes. The second one is the
-- hash of the schema. Servers hold them shared on what they answer from, and a process alone on what it fills.
CREATE OR REPLACE FUNCTION log.holders(schema text) RETURNS integer[] LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT ARRAY(
        SELECT pid FROM pg_locks
        WHERE locktype = 'advisory' AND classid = x'68756d6f'::integer::oid AND objid = hashtext(schema)::oid AND objsubid = 2
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND granted
    )
$$;
