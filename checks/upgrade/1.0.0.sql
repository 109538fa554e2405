--
-- PostgreSQL database dump
--

\restrict humon

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: accounts_v1; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA accounts_v1;


--
-- Name: attendances_v1; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA attendances_v1;


--
-- Name: events_v1; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA events_v1;


--
-- Name: humon; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA humon;


--
-- Name: log; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA log;


--
-- Name: passes_v1; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA passes_v1;


--
-- Name: tasks_v1; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA tasks_v1;


--
-- Name: users_v1; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA users_v1;


--
-- Name: append(uuid[], text[], integer[], text[], smallint[], timestamp with time zone[], text[], text[], text[], text[], bytea[], text[], uuid[], bytea[], text[], text[], integer[], text[], uuid[]); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.append(ids uuid[], streams text[], versions integer[], types text[], formats smallint[], times timestamp with time zone[], data text[], metadata text[], personal text[], read_models text[], request_hashes bytea[] DEFAULT '{}'::bytea[], owners text[] DEFAULT '{}'::text[], ended_ids uuid[] DEFAULT '{}'::uuid[], ended_request_hashes bytea[] DEFAULT '{}'::bytea[], ended_owners text[] DEFAULT '{}'::text[], unchanged_streams text[] DEFAULT '{}'::text[], unchanged_versions integer[] DEFAULT '{}'::integer[], condition_streams text[] DEFAULT '{}'::text[], condition_ids uuid[] DEFAULT '{}'::uuid[]) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
    tail bigint;
    inline text[];
BEGIN
    -- log.lock(), written out.
    LOCK TABLE log.append_lock IN EXCLUSIVE MODE;
    -- Here and below, a subquery a row, which no planner turns into a join over the whole log.
    IF cardinality(condition_streams) > 0 AND EXISTS (
        SELECT FROM unnest(condition_streams, condition_ids) AS c (stream, id) WHERE c.id IS DISTINCT FROM (
            SELECT r.id FROM log.recorded_events AS r WHERE r.stream = c.stream ORDER BY r.version DESC LIMIT 1
        )
    ) THEN
        RAISE EXCEPTION 'a condition of an append does not hold' USING ERRCODE = 'HU003';
    END IF;
    SELECT coalesce(max(position), 0) INTO tail FROM log.recorded_events;
    IF cardinality(unchanged_streams) > 0 THEN
        IF EXISTS (
            SELECT FROM unnest(unchanged_streams, unchanged_versions) AS e (stream, version) WHERE e.version IS DISTINCT FROM coalesce((
                SELECT r.version FROM log.recorded_events AS r WHERE r.stream = e.stream ORDER BY r.version DESC LIMIT 1
            ), 0)
        ) THEN
            RAISE EXCEPTION 'a stream has changed' USING ERRCODE = 'HU002';
        END IF;
        INSERT INTO log.commands (id, request_hash, owner, stream, version)
        SELECT e.* FROM unnest(ended_ids, ended_request_hashes, ended_owners, unchanged_streams, unchanged_versions)
            AS e (id, request_hash)
        WHERE e.request_hash IS NOT NULL;
        -- The log tells the ids of commands with an event apart, an index those of the others. This, and the like below, tell both apart.
        IF EXISTS (
            SELECT FROM unnest(ended_ids, ended_request_hashes) AS e (id, request_hash)
            WHERE e.request_hash IS NOT NULL AND EXISTS (SELECT FROM log.recorded_events AS r WHERE r.id = e.id)
        ) THEN
            RAISE unique_violation USING MESSAGE = 'an event has the id of a command without one';
        END IF;
    END IF;
    IF cardinality(ids) = 0 THEN
        RETURN tail + 1;
    END IF;
    -- unnest in FROM would copy the values of each array to a tuplestore first: 368 instead of 302 µs for 13 events (psql,
    -- 23 November 2026). An array may begin at any subscript.
    INSERT INTO log.recorded_events (position, id, stream, version, type, format, recorded_at, data, metadata, personal)
    SELECT tail + 1 - array_lower(ids, 1) + generate_subscripts(ids, 1), unnest(ids), unnest(streams), unnest(versions),
        unnest(types), unnest(formats), unnest(times), unnest(data)::json, unnest(metadata)::json,
        unnest(array_replace(append.personal, NULL, '{}'))::json;
    -- First versions cost nothing.
    IF 1 < ANY (versions) THEN
        IF EXISTS (
            SELECT FROM unnest(streams, versions) AS e (stream, version)
            WHERE e.version > 1 AND (
                SELECT r.version FROM log.recorded_events AS r WHERE r.stream = e.stream AND r.version = e.version - 1
            ) IS NULL
        ) THEN
            RAISE EXCEPTION 'a version would leave a gap in its stream' USING ERRCODE = 'HU002';
        END IF;
    END IF;
    IF cardinality(request_hashes) > 0 THEN
        IF EXISTS (SELECT FROM log.commands AS c WHERE c.id = ANY (ids)) THEN
            RAISE unique_violation USING MESSAGE = 'a command without an event has the id of one';
        END IF;
        INSERT INTO log.commands (position, request_hash, owner)
        SELECT tail + e.number, e.request_hash, e.owner
        FROM unnest(request_hashes, owners) WITH ORDINALITY AS e (request_hash, owner, number) WHERE e.request_hash IS NOT NULL;
    END IF;
    SELECT i.read_models INTO inline FROM log.inline_read_models AS i ORDER BY i.number DESC LIMIT 1;
    IF inline IS DISTINCT FROM append.read_models THEN
        PERFORM log.change_inline_read_models(append.read_models, tail, tail + cardinality(ids));
    END IF;
    RETURN tail + 1;
END
$$;


--
-- Name: change_inline_read_models(text[], bigint, bigint); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.change_inline_read_models(read_models text[], tail bigint, next_tail bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
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


--
-- Name: create_read_model(text); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.create_read_model(schema text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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


--
-- Name: drop_read_model(text); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.drop_read_model(of_schema text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM log.projection(of_schema);
    DELETE FROM log.read_models AS m WHERE m.schema = of_schema;
    EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', of_schema);
END
$$;


--
-- Name: erase(text[], integer, text); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.erase(streams text[], row_limit integer, person text DEFAULT ''::text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    members bigint;
    owned bigint;
BEGIN
    UPDATE log.recorded_events SET personal = NULL WHERE position = ANY (ARRAY(
        SELECT e.position FROM unnest(streams) AS s (stream)
        CROSS JOIN LATERAL (
            SELECT r.position FROM log.recorded_events AS r WHERE r.stream = s.stream AND r.personal::text <> '{}' LIMIT row_limit
        ) AS e LIMIT row_limit
    )) AND personal::text <> '{}';
    GET DIAGNOSTICS members = ROW_COUNT;
    DELETE FROM log.commands WHERE ctid = ANY (ARRAY(
        SELECT c.ctid FROM log.commands AS c WHERE c.owner = person LIMIT row_limit
    ));
    GET DIAGNOSTICS owned = ROW_COUNT;
    -- The reason is the text of an error.
    UPDATE log.parked_streams SET reason = 'the stream was erased'
    WHERE stream = ANY (streams) AND reason <> 'the stream was erased' AND log.is_erased(stream);
    RETURN members + owned;
END
$$;


--
-- Name: grant_read_model(text); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.grant_read_model(schema text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM PUBLIC, log_app, log_reader', schema);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO log_app, log_reader', schema);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO log_app', schema);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO log_reader', schema);
END
$$;


--
-- Name: holders(text); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.holders(schema text) RETURNS integer[]
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT ARRAY(
        SELECT pid FROM pg_locks
        WHERE locktype = 'advisory' AND classid = x'68756d6f'::integer::oid AND objid = hashtext(schema)::oid AND objsubid = 2
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND granted
    )
$$;


--
-- Name: idempotency_records(uuid[]); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.idempotency_records(ids uuid[]) RETURNS TABLE(id uuid, request_hash bytea, "position" bigint, stream text, version integer)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    -- Each LIMIT keeps the planner from a join over the whole log.
    RETURN QUERY SELECT wanted.id, c.request_hash, e.position, e.stream, e.version
    FROM unnest(ids) AS wanted (id)
    CROSS JOIN LATERAL (SELECT * FROM log.recorded_events AS r WHERE r.id = wanted.id LIMIT 1) AS e
    CROSS JOIN LATERAL (SELECT * FROM log.commands AS k WHERE k.position = e.position LIMIT 1) AS c;
    RETURN QUERY SELECT c.id, c.request_hash, coalesce(e.position, log.tail()), c.stream, c.version
    FROM unnest(ids) AS wanted (id)
    CROSS JOIN LATERAL (SELECT * FROM log.commands AS k WHERE k.id = wanted.id LIMIT 1) AS c
    LEFT JOIN LATERAL (
        SELECT r.position FROM log.recorded_events AS r WHERE r.stream = c.stream AND r.version = c.version LIMIT 1
    ) AS e ON true;
END
$$;


--
-- Name: index_read_model(text); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.index_read_model(of_schema text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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


--
-- Name: is_erased(text); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.is_erased(erased text) RETURNS boolean
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
    SELECT coalesce((
        SELECT e.type = upper(left(erased, 1)) || substr(split_part(erased, '-', 1), 2) || 'Erased'
        FROM log.recorded_events AS e WHERE e.stream = erased ORDER BY e.version DESC LIMIT 1
    ), false)
$$;


--
-- Name: leave_inline(text[]); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.leave_inline(schemas text[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
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


--
-- Name: lock(); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.lock() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    LOCK TABLE log.append_lock IN EXCLUSIVE MODE
$$;


--
-- Name: lock_names(); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.lock_names() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    LOCK TABLE log.read_models IN SHARE UPDATE EXCLUSIVE MODE
$$;


--
-- Name: lock_read_models(text[]); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.lock_read_models(schemas text[]) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT DISTINCT s FROM unnest(schemas) AS s ORDER BY s LOOP
        RETURN QUERY SELECT m.schema FROM log.read_models AS m
            WHERE m.schema = name ORDER BY m.position DESC LIMIT 1 FOR UPDATE;
    END LOOP;
END
$$;


--
-- Name: move_read_models(text[], bigint); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.move_read_models(schemas text[], destination bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
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


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: projections; Type: TABLE; Schema: log; Owner: -
--

CREATE TABLE log.projections (
    name text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    tables text NOT NULL,
    indexes text NOT NULL,
    CONSTRAINT projections_name_check CHECK ((name ~ '^[a-z]+$'::text)),
    CONSTRAINT projections_version_check CHECK ((version > 0))
);


--
-- Name: projection(text); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.projection(of_schema text) RETURNS log.projections
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    declared log.projections;
BEGIN
    SELECT p.* INTO STRICT declared FROM log.projections AS p CROSS JOIN unnest('{"",_rebuild,_verify,_replaced}'::text[]) AS s (suffix)
    WHERE of_schema = p.name || '_v' || p.version || s.suffix;
    RETURN declared;
END
$$;


--
-- Name: read_model_positions(text[]); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.read_model_positions(schemas text[]) RETURNS TABLE(schema text, "position" bigint, is_inline boolean)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
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


--
-- Name: refuse_change(); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF TG_LEVEL = 'ROW' AND TG_OP = 'DELETE' THEN
        IF log.is_erased(OLD.owner) THEN
            RETURN OLD;
        END IF;
    ELSIF TG_LEVEL = 'ROW' THEN
        IF OLD.personal::text <> '{}' AND log.is_erased(OLD.stream) THEN
            OLD.personal := NULL;
            -- By their bytes, because json has no equality.
            IF NEW *= OLD THEN
                RETURN NEW;
            END IF;
        END IF;
    END IF;
    RAISE EXCEPTION '%.% is append-only: % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$;


--
-- Name: rename_read_model(text, text); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.rename_read_model(old_name text, new_name text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
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


--
-- Name: tail(); Type: FUNCTION; Schema: log; Owner: -
--

CREATE FUNCTION log.tail() RETURNS bigint
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT coalesce(max(position), 0) FROM log.recorded_events
$$;


--
-- Name: account_tokens; Type: TABLE; Schema: accounts_v1; Owner: -
--

CREATE TABLE accounts_v1.account_tokens (
    token text NOT NULL COLLATE pg_catalog."C",
    account_id bigint NOT NULL,
    issued integer NOT NULL
);


--
-- Name: accounts; Type: TABLE; Schema: accounts_v1; Owner: -
--

CREATE TABLE accounts_v1.accounts (
    id bigint NOT NULL,
    version integer NOT NULL,
    name text,
    email text NOT NULL COLLATE pg_catalog."C",
    password text NOT NULL
);


--
-- Name: attendances; Type: TABLE; Schema: attendances_v1; Owner: -
--

CREATE TABLE attendances_v1.attendances (
    event_id bigint NOT NULL,
    user_id bigint NOT NULL,
    version integer NOT NULL,
    attended_at timestamp with time zone,
    change_number bigint NOT NULL,
    attendee_count bigint NOT NULL
);


--
-- Name: events; Type: TABLE; Schema: events_v1; Owner: -
--

CREATE TABLE events_v1.events (
    id bigint NOT NULL,
    version integer NOT NULL,
    owner_id bigint NOT NULL,
    name text NOT NULL,
    address text,
    lat double precision NOT NULL,
    lon double precision NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    category text,
    time_zone text,
    description text,
    link text,
    revised_at timestamp with time zone NOT NULL,
    is_cancelled boolean NOT NULL,
    is_hidden boolean NOT NULL
)
WITH (fillfactor='90', autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='200000');


--
-- Name: migrations; Type: TABLE; Schema: humon; Owner: -
--

CREATE TABLE humon.migrations (
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    oldest_program text
);


--
-- Name: account_ids; Type: SEQUENCE; Schema: log; Owner: -
--

CREATE SEQUENCE log.account_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: append_lock; Type: TABLE; Schema: log; Owner: -
--

CREATE TABLE log.append_lock (
);


--
-- Name: commands; Type: TABLE; Schema: log; Owner: -
--

CREATE TABLE log.commands (
    "position" bigint,
    request_hash bytea NOT NULL,
    owner text NOT NULL COLLATE pg_catalog."C",
    id uuid,
    stream text COLLATE pg_catalog."C",
    version integer,
    CONSTRAINT commands_answer CHECK ((num_nulls(id, stream, version) =
CASE
    WHEN ("position" IS NULL) THEN 0
    ELSE 3
END)),
    CONSTRAINT commands_request_hash_check CHECK ((octet_length(request_hash) = 32))
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='200000', autovacuum_freeze_min_age='0');


--
-- Name: event_ids; Type: SEQUENCE; Schema: log; Owner: -
--

CREATE SEQUENCE log.event_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: inline_read_models; Type: TABLE; Schema: log; Owner: -
--

CREATE TABLE log.inline_read_models (
    number bigint NOT NULL,
    read_models text[] NOT NULL
);


--
-- Name: parked_streams; Type: TABLE; Schema: log; Owner: -
--

CREATE TABLE log.parked_streams (
    subscription text NOT NULL,
    stream text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    "position" bigint NOT NULL,
    reason text NOT NULL,
    parked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    is_to_be_retried boolean DEFAULT false NOT NULL
);


--
-- Name: pepper; Type: TABLE; Schema: log; Owner: -
--

CREATE TABLE log.pepper (
    is_only boolean DEFAULT true NOT NULL,
    value uuid DEFAULT gen_random_uuid() NOT NULL,
    CONSTRAINT pepper_is_only_check CHECK (is_only)
);


--
-- Name: program_formats; Type: TABLE; Schema: log; Owner: -
--

CREATE TABLE log.program_formats (
    program integer NOT NULL,
    category text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    readable smallint NOT NULL,
    written smallint,
    registered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT program_formats_program_check CHECK ((program > 0)),
    CONSTRAINT program_formats_readable_check CHECK ((readable > 0)),
    CONSTRAINT program_formats_written_check CHECK ((written > 0))
);


--
-- Name: read_models; Type: TABLE; Schema: log; Owner: -
--

CREATE TABLE log.read_models (
    schema text NOT NULL,
    "position" bigint NOT NULL,
    built_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    has_indexes boolean DEFAULT false NOT NULL
);


--
-- Name: recorded_events; Type: TABLE; Schema: log; Owner: -
--

CREATE TABLE log.recorded_events (
    "position" bigint NOT NULL,
    id uuid NOT NULL,
    stream text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    type text NOT NULL,
    format smallint NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    data json NOT NULL,
    metadata json NOT NULL,
    personal json DEFAULT '{}'::json,
    CONSTRAINT recorded_events_format_check CHECK ((format > 0)),
    CONSTRAINT recorded_events_position_check CHECK (("position" > 0)),
    CONSTRAINT recorded_events_version_check CHECK ((version > 0))
)
WITH (autovacuum_vacuum_insert_scale_factor='0', autovacuum_vacuum_insert_threshold='200000', autovacuum_freeze_min_age='0', toast.autovacuum_freeze_min_age='0');


--
-- Name: subscriptions; Type: TABLE; Schema: log; Owner: -
--

CREATE TABLE log.subscriptions (
    name text NOT NULL,
    "position" bigint NOT NULL,
    interruption text
);


--
-- Name: task_ids; Type: SEQUENCE; Schema: log; Owner: -
--

CREATE SEQUENCE log.task_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: user_ids; Type: SEQUENCE; Schema: log; Owner: -
--

CREATE SEQUENCE log.user_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: passes; Type: TABLE; Schema: passes_v1; Owner: -
--

CREATE TABLE passes_v1.passes (
    user_id bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    digest bytea NOT NULL,
    issued_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone
);


--
-- Name: tasks; Type: TABLE; Schema: tasks_v1; Owner: -
--

CREATE TABLE tasks_v1.tasks (
    id bigint NOT NULL,
    version integer NOT NULL,
    account_id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    title text,
    is_completed boolean NOT NULL
);


--
-- Name: users; Type: TABLE; Schema: users_v1; Owner: -
--

CREATE TABLE users_v1.users (
    id bigint NOT NULL,
    version integer NOT NULL,
    device bytea
);


--
-- Data for Name: account_tokens; Type: TABLE DATA; Schema: accounts_v1; Owner: -
--

COPY accounts_v1.account_tokens (token, account_id, issued) FROM stdin;
209033294b2fa53a7a2fdf3127c7c796bf986447e73d2384245256c52f4a24d5	1	20
8502b22622885fddea6d89c81dcfd1e0ff38d9204fdd5186fce1800ac6037060	1	42
\.


--
-- Data for Name: accounts; Type: TABLE DATA; Schema: accounts_v1; Owner: -
--

COPY accounts_v1.accounts (id, version, name, email, password) FROM stdin;
1	42	erin	erin@example.org	$scrypt$ln=15,r=8,p=3$YY3vh5/HQBaoms3k45Xtfw$ImMWl+23saSY6zc0aWm9eBKqdcfXrTVwEalAk5P0suk
\.


--
-- Data for Name: attendances; Type: TABLE DATA; Schema: attendances_v1; Owner: -
--

COPY attendances_v1.attendances (event_id, user_id, version, attended_at, change_number, attendee_count) FROM stdin;
1	2	1	2026-11-30 21:57:00.422+00	1	1
4	1	1	2026-11-30 21:57:00.441+00	1	1
3	2	2	\N	2	0
1	3	2	\N	3	1
5	2	1	2026-11-30 21:57:14.482+00	1	1
\.


--
-- Data for Name: events; Type: TABLE DATA; Schema: events_v1; Owner: -
--

COPY events_v1.events (id, version, owner_id, name, address, lat, lon, started_at, ended_at, category, time_zone, description, link, revised_at, is_cancelled, is_hidden) FROM stdin;
2	4	1	Picnic	Dolores Park	37.759	-122.427	2030-09-16 00:00:00+00	\N	food	America/Los_Angeles	Bring tea.	https://example.org/picnic	2026-11-30 21:57:00.371+00	t	f
3	3	1	Picnic	Dolores Park	37.759	-122.427	2030-09-16 00:00:00+00	\N	food	America/Los_Angeles	Bring tea.	https://example.org/picnic	2026-11-30 21:57:00.691+00	f	f
1	3	1	A picnic in the rain	Dolores Park	37.759	-122.427	2030-09-16 00:00:00+00	2030-09-16 02:00:00+00	food	America/Los_Angeles	Bring tea.	https://example.org/picnic	2026-11-30 21:57:00.819+00	f	t
5	1	1	Sunrise	Dolores Park	-52.5	169.1	2030-09-16 00:00:00+00	\N	food	Pacific/Auckland	Bring tea.	https://example.org/picnic	2026-11-30 21:57:14.475+00	f	f
\.


--
-- Data for Name: migrations; Type: TABLE DATA; Schema: humon; Owner: -
--

COPY humon.migrations (name, checksum, applied_at, oldest_program) FROM stdin;
0001_log	15ad7b0adb0981cfd86067a750d6b44480b72655010ed71181ad9e87e1ff22cd	2026-11-30 21:56:59.611096+00	\N
functions_0001	03fd9b983084801370cb591a6bc679d21eb3b85c3a9a3e5c8b1220e72aae068b	2026-11-30 21:56:59.611096+00	0001_log
\.


--
-- Data for Name: append_lock; Type: TABLE DATA; Schema: log; Owner: -
--

COPY log.append_lock  FROM stdin;
\.


--
-- Data for Name: commands; Type: TABLE DATA; Schema: log; Owner: -
--

COPY log.commands ("position", request_hash, owner, id, stream, version) FROM stdin;
137	\\x2f99df741ba0248d9f3f15adab7e98aa642fe303afeb9bcb554214ec964a974f	user-1	\N	\N	\N
\N	\\x9df1461549002f3a58a427db0f61d64d61b5fcbef1bab46b65f12905648a64ff	user-2	784918a2-29b5-8830-9b29-7949a2ee7779	attendance-5-2	1
\.


--
-- Data for Name: inline_read_models; Type: TABLE DATA; Schema: log; Owner: -
--

COPY log.inline_read_models (number, read_models) FROM stdin;
1	{users_v1,passes_v1,events_v1,attendances_v1,accounts_v1,tasks_v1}
\.


--
-- Data for Name: parked_streams; Type: TABLE DATA; Schema: log; Owner: -
--

COPY log.parked_streams (subscription, stream, version, "position", reason, parked_at, is_to_be_retried) FROM stdin;
erasures	user-1	1	1	a tea that was too hot	2026-11-30 21:57:14.825726+00	f
\.


--
-- Data for Name: pepper; Type: TABLE DATA; Schema: log; Owner: -
--

COPY log.pepper (is_only, value) FROM stdin;
t	edec25d2-c983-421c-8e59-6816156c4c72
\.


--
-- Data for Name: program_formats; Type: TABLE DATA; Schema: log; Owner: -
--

COPY log.program_formats (program, category, type, readable, written, registered_at) FROM stdin;
334442723	account	AccountCreated	1	1	2026-11-30 21:56:59.749507+00
334442723	account	AccountErased	1	1	2026-11-30 21:56:59.749655+00
334442723	account	PasswordChanged	1	1	2026-11-30 21:56:59.749662+00
334442723	account	SignedIn	1	1	2026-11-30 21:56:59.749674+00
334442723	account	SignedOut	1	1	2026-11-30 21:56:59.749677+00
334442723	attendance	AttendanceAdded	1	1	2026-11-30 21:56:59.74968+00
334442723	attendance	AttendanceErased	1	1	2026-11-30 21:56:59.749683+00
334442723	attendance	AttendanceRemoved	1	1	2026-11-30 21:56:59.749685+00
334442723	event	EventCancelled	1	1	2026-11-30 21:56:59.749688+00
334442723	event	EventCreated	1	1	2026-11-30 21:56:59.74969+00
334442723	event	EventErased	1	1	2026-11-30 21:56:59.749696+00
334442723	event	EventHidden	1	1	2026-11-30 21:56:59.749698+00
334442723	event	EventUnhidden	1	1	2026-11-30 21:56:59.749701+00
334442723	event	EventUpdated	1	1	2026-11-30 21:56:59.749703+00
334442723	pass	PassEnded	1	1	2026-11-30 21:56:59.749706+00
334442723	pass	PassErased	1	1	2026-11-30 21:56:59.749709+00
334442723	pass	PassIssued	1	1	2026-11-30 21:56:59.749712+00
334442723	pass	PassUsed	1	1	2026-11-30 21:56:59.749714+00
334442723	task	TaskCompleted	1	1	2026-11-30 21:56:59.749717+00
334442723	task	TaskCreated	1	1	2026-11-30 21:56:59.74972+00
334442723	task	TaskDeleted	1	1	2026-11-30 21:56:59.749722+00
334442723	task	TaskErased	1	1	2026-11-30 21:56:59.749725+00
334442723	task	TaskRenamed	1	1	2026-11-30 21:56:59.749728+00
334442723	task	TaskReopened	1	1	2026-11-30 21:56:59.749731+00
334442723	user	TokenRevoked	1	1	2026-11-30 21:56:59.749733+00
334442723	user	TokenRotated	1	1	2026-11-30 21:56:59.749736+00
334442723	user	UserCreated	1	1	2026-11-30 21:56:59.749738+00
334442723	user	UserErased	1	1	2026-11-30 21:56:59.74974+00
\.


--
-- Data for Name: projections; Type: TABLE DATA; Schema: log; Owner: -
--

COPY log.projections (name, version, tables, indexes) FROM stdin;
users	1	CREATE TABLE users (\n    id bigint PRIMARY KEY,\n    version integer NOT NULL,\n    -- NULL after the token was revoked.\n    device bytea\n);	ALTER TABLE users ADD CONSTRAINT users_device UNIQUE (device);
passes	1	CREATE TABLE passes (\n    user_id bigint NOT NULL,\n    kind text COLLATE "C" NOT NULL,\n    digest bytea NOT NULL,\n    issued_at timestamptz NOT NULL,\n    -- NULL for a pass that never expires.\n    expires_at timestamptz,\n    PRIMARY KEY (user_id, kind)\n);	CREATE INDEX passes_digest ON passes (digest);
events	1	CREATE TABLE events (\n    id bigint PRIMARY KEY,\n    version integer NOT NULL,\n    owner_id bigint NOT NULL,\n    name text NOT NULL,\n    address text,\n    lat double precision NOT NULL,\n    lon double precision NOT NULL,\n    started_at timestamptz NOT NULL,\n    ended_at timestamptz,\n    category text, time_zone text, description text, link text,\n    revised_at timestamptz NOT NULL,\n    is_cancelled boolean NOT NULL,\n    is_hidden boolean NOT NULL\n) WITH (\n    -- Room on each page for changed rows. No index has a column that changes, so that these are HOT updates.\n    fillfactor = 90,\n    -- As for the log: a vacuum writes the summaries that events_of_owner lacks.\n    autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 200000\n);	CREATE INDEX events_of_owner ON events USING brin (owner_id int8_bloom_ops (n_distinct_per_range = 2000))\nWITH (pages_per_range = 32, autosummarize = off);
attendances	1	CREATE TABLE attendances (\n    event_id bigint NOT NULL,\n    user_id bigint NOT NULL,\n    version integer NOT NULL,\n    -- NULL if the user left.\n    attended_at timestamptz,\n    -- The last change of the row among all changes of the event's attendances, which count from 1.\n    change_number bigint NOT NULL,\n    -- The users who attended the event after that change.\n    attendee_count bigint NOT NULL,\n    -- The last column lets the list of attendees read the index alone.\n    PRIMARY KEY (event_id, user_id) INCLUDE (attended_at)\n);\nCREATE INDEX attendances_last ON attendances (event_id, change_number);	CREATE INDEX attendances_of_user ON attendances (user_id, attended_at, event_id);
accounts	1	CREATE TABLE accounts (\n    id bigint PRIMARY KEY,\n    version integer NOT NULL,\n    name text,\n    email text COLLATE "C" NOT NULL,\n    password text NOT NULL\n);\nCREATE TABLE account_tokens (\n    -- The digest.\n    token text COLLATE "C" PRIMARY KEY,\n    account_id bigint NOT NULL,\n    issued integer NOT NULL\n);	ALTER TABLE accounts ADD CONSTRAINT accounts_email UNIQUE (email);\nCREATE INDEX account_tokens_of_account ON account_tokens (account_id, issued);
tasks	1	CREATE TABLE tasks (\n    id bigint PRIMARY KEY,\n    version integer NOT NULL,\n    account_id bigint NOT NULL,\n    created_at timestamptz NOT NULL,\n    -- NULL after the deletion.\n    title text,\n    is_completed boolean NOT NULL\n);	CREATE INDEX tasks_of_account ON tasks (account_id, created_at, id);
\.


--
-- Data for Name: read_models; Type: TABLE DATA; Schema: log; Owner: -
--

COPY log.read_models (schema, "position", built_at, has_indexes) FROM stdin;
accounts_v1	1	2026-11-30 21:56:59.807589+00	t
attendances_v1	1	2026-11-30 21:56:59.799225+00	t
events_v1	1	2026-11-30 21:56:59.791282+00	t
passes_v1	1	2026-11-30 21:56:59.77936+00	t
tasks_v1	1	2026-11-30 21:56:59.823311+00	t
users_v1	1	2026-11-30 21:56:59.767551+00	t
\.


--
-- Data for Name: recorded_events; Type: TABLE DATA; Schema: log; Owner: -
--

COPY log.recorded_events ("position", id, stream, version, type, format, recorded_at, data, metadata, personal) FROM stdin;
1	d09d889b-8426-802f-8d82-3b7213e70e22	user-1	1	UserCreated	1	2026-11-30 21:57:00.063+00	{}	{"request_id":"44df3e316027d4e79a3f3565a6c734d1","actor":1,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"device":"815f8113724ce23971ec26e465c26595c932f94d09d75c90665319f59beeaa5a"}
2	bc11730f-1f1d-8b55-8403-b2565e390210	user-2	1	UserCreated	1	2026-11-30 21:57:00.079+00	{}	{"request_id":"60538d559a72a3ee077984c8d7e3fe58","actor":2,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"device":"70f32c87090b4d5a39c8c190723434c1343b53cce4be5171d24af440381dd7f5"}
4	3ebf178b-bf92-82dd-baaa-4f6d24c9adf6	user-4	1	UserCreated	1	2026-11-30 21:57:00.091+00	{}	{"request_id":"107151c8651d02524aeb74b29afb0146","actor":4,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"device":"8e5f57d30d3486c775546c24c3cf7085bede8d82968700f42609e74fc179f94d"}
5	01a22e76-1443-76c0-a4c3-d6ed148c6542	event-1	1	EventCreated	1	2026-11-30 21:57:00.099+00	{"owner":1,"started_at":"2030-09-16T00:00:00.000Z","ended_at":null}	{"request_id":"786545c6d5eeb53010dc7d0c4c5ef28d","actor":1,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"name":"Picnic","address":"Dolores Park","lat":37.759,"lon":-122.427,"category":"food","time_zone":"America/Los_Angeles","description":"Bring tea.","link":"https://example.org/picnic"}
6	01a22e76-144a-7e7c-9fae-3c31192b1060	event-2	1	EventCreated	1	2026-11-30 21:57:00.106+00	{"owner":1,"started_at":"2030-09-16T00:00:00.000Z","ended_at":null}	{"request_id":"6b394ba2a4a37e5f9c5bdee5c924c3d2","actor":1,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"name":"Picnic","address":"Dolores Park","lat":37.759,"lon":-122.427,"category":"food","time_zone":"America/Los_Angeles","description":"Bring tea.","link":"https://example.org/picnic"}
7	01a22e76-1453-7b4c-bb09-0e8101a41565	event-3	1	EventCreated	1	2026-11-30 21:57:00.115+00	{"owner":1,"started_at":"2030-09-16T00:00:00.000Z","ended_at":null}	{"request_id":"4809a5cdbcc399744f2f1e795502fec5","actor":1,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"name":"Picnic","address":"Dolores Park","lat":37.759,"lon":-122.427,"category":"food","time_zone":"America/Los_Angeles","description":"Bring tea.","link":"https://example.org/picnic"}
9	01a22e76-1463-7baf-903c-3d78f9bc532a	event-1	2	EventUpdated	1	2026-11-30 21:57:00.131+00	{"started_at":"2030-09-16T00:00:00.000Z","ended_at":"2030-09-16T02:00:00.000Z"}	{"request_id":"99bac22849388cf69523dfacdca46bbd","actor":1,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"name":"A picnic in the rain","address":"Dolores Park","lat":37.759,"lon":-122.427,"category":"food","time_zone":"America/Los_Angeles","description":"Bring tea.","link":"https://example.org/picnic"}
10	01a22e76-1469-75a6-8aee-0768c2ac497e	event-2	2	EventCancelled	1	2026-11-30 21:57:00.137+00	{}	{"request_id":"9604376f3a949182dd8e468b507465f4","actor":1,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
11	01a22e76-14c9-7bfe-9a29-b897550494ea	event-2	3	EventHidden	1	2026-11-30 21:57:00.233+00	{}	{"request_id":"humon-events","actor":null,"trace_id":null}	{"reason":"a complaint"}
12	01a22e76-1553-7063-9246-31a0144606d3	event-2	4	EventUnhidden	1	2026-11-30 21:57:00.371+00	{}	{"request_id":"humon-events","actor":null,"trace_id":null}	{}
13	e0ecf910-c9bb-8da2-a570-83d8c1af1a5e	attendance-1-2	1	AttendanceAdded	1	2026-11-30 21:57:00.422+00	{"event":1,"user":2}	{"request_id":"582555eb093c1c156d4fa847d07c59d7","actor":2,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
14	a7fbdcc0-7f29-8808-b0a0-a2fb2e523850	attendance-3-2	1	AttendanceAdded	1	2026-11-30 21:57:00.431+00	{"event":3,"user":2}	{"request_id":"bf81276dba74fc190ff9132ff8467b14","actor":2,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
15	83e3196e-f307-809b-8a42-e040baec40ca	attendance-1-3	1	AttendanceAdded	1	2026-11-30 21:57:00.435+00	{"event":1,"user":3}	{"request_id":"6a9225b4d63c42cdac814c8ff892ae99","actor":3,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
16	14eb878f-beae-8b06-94f4-d367b68d7c09	attendance-4-1	1	AttendanceAdded	1	2026-11-30 21:57:00.441+00	{"event":4,"user":1}	{"request_id":"505bb760969f5686df6b220d58c2cebf","actor":1,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
17	c15e9be7-6b22-8b72-bb15-916a506bac3e	attendance-3-2	2	AttendanceRemoved	1	2026-11-30 21:57:00.45+00	{"event":3,"user":2}	{"request_id":"6be21a5e9084e26deee32d705ce03dd0","actor":2,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
18	01a22e76-15f9-74af-938e-f5fab523318d	event-3	2	EventHidden	1	2026-11-30 21:57:00.537+00	{}	{"request_id":"humon-events","actor":null,"trace_id":null}	{"reason":"a complaint"}
19	01a22e76-1693-7bbd-b098-c56148aab963	event-3	3	EventUnhidden	1	2026-11-30 21:57:00.691+00	{"owner":1,"started_at":"2030-09-16T00:00:00.000Z","ended_at":null}	{"request_id":"humon-events","actor":null,"trace_id":null}	{"name":"Picnic","address":"Dolores Park","lat":37.759,"lon":-122.427,"category":"food","time_zone":"America/Los_Angeles","description":"Bring tea.","link":"https://example.org/picnic"}
20	01a22e76-1713-7fca-856c-60c40baaa6d4	event-1	3	EventHidden	1	2026-11-30 21:57:00.819+00	{}	{"request_id":"humon-events","actor":null,"trace_id":null}	{"reason":"another complaint"}
21	01a22e76-1751-7f3f-ae98-d937fbbb1ff4	pass-2	1	PassIssued	1	2026-11-30 21:57:00.881+00	{"kind":"transfer","expires_at":"2026-11-30T22:07:00.879Z"}	{"request_id":"7b585a01c2de96f78ba45de3d7bfa51e","actor":2,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"digest":"20e42c172daf484418c954c6f9be23876525381d75548dc31f6be251aab5be17"}
22	0c09ff62-15a2-88ad-8573-90846ab28c62	pass-2	2	PassUsed	1	2026-11-30 21:57:00.896+00	{"kind":"transfer"}	{"request_id":"f1c167a2192c400c0a8ede674f27b36d","actor":2,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"digest":"20e42c172daf484418c954c6f9be23876525381d75548dc31f6be251aab5be17"}
23	180630ba-a0d6-8376-b242-386454dbd236	user-2	2	TokenRotated	1	2026-11-30 21:57:00.896+00	{}	{"request_id":"f1c167a2192c400c0a8ede674f27b36d","actor":2,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"device":"eb66a78ee9c9e976c7a0af8d720b979b5dff7d3160a72d9ce8ebc72d0173c90f"}
24	01a22e76-176a-79f0-a4b8-084219893af1	pass-1	1	PassIssued	1	2026-11-30 21:57:00.906+00	{"kind":"recovery","expires_at":null}	{"request_id":"ec1be95ed6826e04762aeb184bef9456","actor":1,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"digest":"ad1a35788c6b19d3d5b1dea19489c6e51b895a14d7d2f513e27f2b52b27177b7"}
25	01a22e76-1772-766b-be32-c3cbf4a266d3	pass-1	2	PassIssued	1	2026-11-30 21:57:00.914+00	{"kind":"calendar","expires_at":null}	{"request_id":"cd48a24aa05f6594f776bc584efbfa28","actor":1,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"digest":"6c1806aff9810b4b1e68011e4e89b3276b288d4c0721f46813b1d91e2aeac886"}
26	01a22e76-177a-7394-b7db-c243ccc6e833	pass-1	3	PassEnded	1	2026-11-30 21:57:00.922+00	{"kind":"recovery"}	{"request_id":"7f3047a91232f6b60a7977440b95fd0b","actor":1,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
8	01a22e76-145b-7236-8dbb-66c078b3685d	event-4	1	EventCreated	1	2026-11-30 21:57:00.123+00	{"owner":3,"started_at":"2030-09-16T00:00:00.000Z","ended_at":null}	{"request_id":"ce9b63a0162b48ee805cb1188bd356bd","actor":3,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
28	9666201c-0898-892d-a823-f53659f275c5	pass-1	4	PassEnded	1	2026-11-30 21:57:00.935+00	{"kind":"calendar"}	{"request_id":"1a3fea419104c63193224b84c2f974f4","actor":1,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
29	e4135fd0-95bc-8c94-bc7b-a5ec86957c65	user-1	2	TokenRotated	1	2026-11-30 21:57:00.935+00	{}	{"request_id":"1a3fea419104c63193224b84c2f974f4","actor":1,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"device":"6272759e6ef169b57611ab3641c78b40da57bc4bf65180dac6e12fc3a1dabd0a"}
30	01a22e76-17f4-7dea-8f20-33db68015e58	user-4	2	TokenRevoked	1	2026-11-30 21:57:01.044+00	{}	{"request_id":"humon-users-revoke","actor":null,"trace_id":null}	{}
31	0f9d0e04-7225-86bc-9617-6b737fe87a52	account-1	1	AccountCreated	1	2026-11-30 21:57:01.393+00	{}	{"request_id":"1775d8710d9b528b361ebbededeac12f","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"name":"erin","email":"erin@example.org","password":"$scrypt$ln=15,r=8,p=3$AOlmCvM7TWykXR27UrFs0Q$mIGPfeJqOhglN6f7QdIhNEZ0nX1bP4lW2cOSywn4/Uo","token":"dc724dec721de9d36bd087818e94454055f000ea69b0d0a0117d74840cdfb536"}
32	01a22e76-195c-7544-952e-cbd16354a6d2	task-1	1	TaskCreated	1	2026-11-30 21:57:01.404+00	{"account":1}	{"request_id":"e2a99fac4a8780e2ef1770ae124f265d","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"title":"Buy milk"}
33	01a22e76-1968-7844-854d-dc3a14dfd935	task-2	1	TaskCreated	1	2026-11-30 21:57:01.416+00	{"account":1}	{"request_id":"aa3eed770929ede33c1fb3b67c6e7287","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"title":"Call Bob"}
34	01a22e76-196d-7557-917d-8974aa0f5e8d	task-3	1	TaskCreated	1	2026-11-30 21:57:01.421+00	{"account":1}	{"request_id":"a913bd68ba7eb3b90781c5733cc12f9e","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"title":"Sleep"}
35	01a22e76-1972-780a-8459-47f1cc6a3815	task-1	2	TaskRenamed	1	2026-11-30 21:57:01.426+00	{}	{"request_id":"2c05ee6fdbd2b3aa7bc8412342efa59d","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"title":"Buy oat milk"}
36	01a22e76-197b-7e72-b1ad-b36c2e2d6649	task-1	3	TaskCompleted	1	2026-11-30 21:57:01.435+00	{}	{"request_id":"0d22ea0a8c27846b15746cbd43e4b055","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
37	01a22e76-1981-7c1a-9ad1-54fcb3bd1d43	task-1	4	TaskReopened	1	2026-11-30 21:57:01.441+00	{}	{"request_id":"0279d71ad2e4420ef99e122299b98553","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
38	01a22e76-1987-7afd-83d8-cb9645a8527b	task-3	2	TaskCompleted	1	2026-11-30 21:57:01.447+00	{}	{"request_id":"8e18de766c4e1109a4a611d1d1fbc22b","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
39	01a22e76-198d-79a6-be16-0f36f84d6fc0	task-2	2	TaskDeleted	1	2026-11-30 21:57:01.453+00	{}	{"request_id":"0dfe189ffbc7eca51545440eaa68c867","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
40	01a22e76-1a92-76cf-bbda-86b88dd75ffa	account-1	2	SignedIn	1	2026-11-30 21:57:01.714+00	{}	{"request_id":"b1a0b11d1e33f5696ba5f957668faa65","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"2d71358a4fb09cdcd0c13e52d213f26d13f5b88c83d256a02bb78d6adf67e7e1","replaced":null}
41	01a22e76-1b92-771b-94fd-137fc38bc871	account-1	3	SignedIn	1	2026-11-30 21:57:01.97+00	{}	{"request_id":"065f7d73bd232fbea76be0f19e63e76c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"288b74a75d52a2de2d40f81e12b53d72e45d2347a28d169f3c2b622765c431b1","replaced":null}
42	01a22e76-1c95-76a7-84f1-2cc13782e864	account-1	4	SignedIn	1	2026-11-30 21:57:02.229+00	{}	{"request_id":"29be9d5ea79c3eea5f0242bc0658a87a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"d994319b0c674a78572208acc9472526303ee0af37f2acd33c8d41ba6a83dbc9","replaced":null}
43	01a22e76-1d9a-7128-a4a1-4ce28097f334	account-1	5	SignedIn	1	2026-11-30 21:57:02.49+00	{}	{"request_id":"2211d7ae0c38212fd4ce0e5bb2e22a68","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"bb41ff33b4bc264e535b1aa5ef60492a8a5236b733f00a652209365b93c6cde1","replaced":null}
44	01a22e76-1ea8-707e-b97a-a9cd98fb38dc	account-1	6	SignedIn	1	2026-11-30 21:57:02.76+00	{}	{"request_id":"beaeb26ea4ec158897ac66171284d077","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"826deec9a93a02ab1c73ce03efdd092adee2a0123e5afe9e4833761352326a49","replaced":null}
45	01a22e76-1feb-76c9-a4d5-39b7d13ecd51	account-1	7	SignedIn	1	2026-11-30 21:57:03.083+00	{}	{"request_id":"82460bfb9f6cf11319214e1b5420dce0","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"9cf7a3ee71f481e3d4f62f77f9fd13775dd46e2f7ea64d42ee11603a67049282","replaced":null}
46	01a22e76-210a-77f0-91b8-19af3faa39bc	account-1	8	SignedIn	1	2026-11-30 21:57:03.37+00	{}	{"request_id":"829805dd916646c3fc0043a4265e232c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"294cdae869f55e6c59e96d60d34a3a037d49798847b3bbc122c9c1e54af8a1ba","replaced":null}
47	01a22e76-2226-71a1-ba4d-be216ef1ea82	account-1	9	SignedIn	1	2026-11-30 21:57:03.654+00	{}	{"request_id":"948cf8b5c88852bdacbf2dbde076a476","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"a1fd18c19b39a57c6553a41886cf37c9e5c071b4805490aa257e1a33819d37e9","replaced":null}
48	01a22e76-2345-7fc0-a478-c2635b3018e3	account-1	10	SignedIn	1	2026-11-30 21:57:03.941+00	{}	{"request_id":"a13888bbb044c5fb7476f3d364d572f1","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"466b8daeba2ce6f22e31352cb62ea1a072197f52fe801296edfb7c63ebf2ecfd","replaced":null}
49	01a22e76-2450-77f6-acf1-146d63f291ac	account-1	11	SignedIn	1	2026-11-30 21:57:04.209+00	{}	{"request_id":"7371b679bedb2056deb36f5de905710e","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"7cc86d407d3c4952097ee210041c9e1b139ee4bcbea62625baf5d6c622316eb9","replaced":null}
50	01a22e76-2571-7c9e-bb44-aa5f1de6b4de	account-1	12	SignedIn	1	2026-11-30 21:57:04.497+00	{}	{"request_id":"2838e223e363cff39bb754ba0c7486f4","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"24b7ab0f3db7cf596269da178d35607e9bed5844526c7c34acb0bdd232b48932","replaced":null}
51	01a22e76-26a2-7726-96f2-438a4f8ede7f	account-1	13	SignedIn	1	2026-11-30 21:57:04.802+00	{}	{"request_id":"fbcf60507bb7c87c6fc464cf2f46796f","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"86171331c72c75b00e4c6cb3acec031431733219293f8e293376f02db81f200d","replaced":null}
52	01a22e76-27aa-75cf-85aa-fbaf7d4d08ea	account-1	14	SignedIn	1	2026-11-30 21:57:05.066+00	{}	{"request_id":"a8f17e5239e1db64c0c740579c7c72a5","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"a1ebe66ed90695f8c547f7ff09c47b3c5698a28197a886730a8193634b1ee9d8","replaced":null}
53	01a22e76-28ac-7e7f-a44c-3f55f3c00939	account-1	15	SignedIn	1	2026-11-30 21:57:05.324+00	{}	{"request_id":"6325f473e2754582acba68c3f6dac255","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"cb8352afa28a914b6a270203c434e6519c236eb1c5fb320fbe8befb0726ebe1d","replaced":null}
54	01a22e76-29af-7838-8276-2ddea368c26a	account-1	16	SignedIn	1	2026-11-30 21:57:05.583+00	{}	{"request_id":"0009c880955db18525a031d642b63148","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"c69a13c6331d316f9b90577d6fb9a5ce4ee9f7f0dc8a0eaf51ec69dbfd76c494","replaced":null}
55	01a22e76-2ab8-726b-8e9c-b910b3afaf38	account-1	17	SignedIn	1	2026-11-30 21:57:05.848+00	{}	{"request_id":"0d381bcb394a41c2f750ad3a091f0ff2","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"8806a5279b32386e317722dfc265f330a37a349d32d7de4ba9728d3c16b8fb79","replaced":null}
56	01a22e76-2bbc-795d-b633-7d5b0f378052	account-1	18	SignedIn	1	2026-11-30 21:57:06.108+00	{}	{"request_id":"4da56f90076a90548af936442c96125f","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"77f2b4dc830ca9d006a88f6f25c77718a4a6567c96b7c1c5ce5dcb13db5c3aad","replaced":null}
57	01a22e76-2cc0-7b2a-a7a4-8a7cfabeaf2c	account-1	19	SignedIn	1	2026-11-30 21:57:06.368+00	{}	{"request_id":"4878c6dd960f009b65840358f5ea4252","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"f9c34746e7197805a97c311d0f23e38ff70e6f66aab5fbf5f1d46d5189137854","replaced":null}
58	01a22e76-2dc4-70ee-b6ec-069ebd9b0bc9	account-1	20	SignedIn	1	2026-11-30 21:57:06.628+00	{}	{"request_id":"0a838ab5019765f83ad02333f02c0234","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"209033294b2fa53a7a2fdf3127c7c796bf986447e73d2384245256c52f4a24d5","replaced":null}
59	01a22e76-2ee3-74e6-b0b3-a98550965ef3	account-1	21	SignedIn	1	2026-11-30 21:57:06.915+00	{}	{"request_id":"31f1f788fedbb9ed89e707dd50117c97","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"f82ab1d329970bcd0b73b28e29d4c2542e1891c4af88a4fb230a6f0ff5bf3ca3","replaced":"dc724dec721de9d36bd087818e94454055f000ea69b0d0a0117d74840cdfb536"}
60	01a22e76-2ee9-7e8e-99bd-7d69b82c8261	account-1	22	SignedOut	1	2026-11-30 21:57:06.921+00	{}	{"request_id":"ebf65a340236e100e66637261c75b2dc","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"f82ab1d329970bcd0b73b28e29d4c2542e1891c4af88a4fb230a6f0ff5bf3ca3"}
61	91285236-9783-8f58-9b6e-a7b5496cc3c0	account-1	23	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"2d71358a4fb09cdcd0c13e52d213f26d13f5b88c83d256a02bb78d6adf67e7e1"}
62	b4513aef-88fa-85bd-a232-9ba85f40cda7	account-1	24	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"288b74a75d52a2de2d40f81e12b53d72e45d2347a28d169f3c2b622765c431b1"}
63	cd0fd213-7979-8b18-9526-69d0691f7e48	account-1	25	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"d994319b0c674a78572208acc9472526303ee0af37f2acd33c8d41ba6a83dbc9"}
64	07c6bcf4-3d67-8e3c-a8cd-416212e9b51e	account-1	26	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"bb41ff33b4bc264e535b1aa5ef60492a8a5236b733f00a652209365b93c6cde1"}
65	7472b337-8a6d-8b95-94fe-3ab287778519	account-1	27	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"826deec9a93a02ab1c73ce03efdd092adee2a0123e5afe9e4833761352326a49"}
66	b4fdc307-3b9b-8a2c-a5d5-18002ea8a521	account-1	28	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"9cf7a3ee71f481e3d4f62f77f9fd13775dd46e2f7ea64d42ee11603a67049282"}
67	60f1e2ed-2846-8e07-9808-91b00119693f	account-1	29	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"294cdae869f55e6c59e96d60d34a3a037d49798847b3bbc122c9c1e54af8a1ba"}
68	4884ce2d-3955-8242-afa2-19d979b66fb4	account-1	30	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"a1fd18c19b39a57c6553a41886cf37c9e5c071b4805490aa257e1a33819d37e9"}
69	718f697c-b073-872d-83af-08bd1e209ed5	account-1	31	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"466b8daeba2ce6f22e31352cb62ea1a072197f52fe801296edfb7c63ebf2ecfd"}
70	47a2adfa-c8d9-89d6-ac65-ea8483e4ae3e	account-1	32	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"7cc86d407d3c4952097ee210041c9e1b139ee4bcbea62625baf5d6c622316eb9"}
71	a4442a55-6796-8632-ba96-07bb3d9a1349	account-1	33	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"24b7ab0f3db7cf596269da178d35607e9bed5844526c7c34acb0bdd232b48932"}
72	9c93c13d-d593-8ba2-90e8-c61a444b4762	account-1	34	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"86171331c72c75b00e4c6cb3acec031431733219293f8e293376f02db81f200d"}
73	b2be798d-c3c4-843c-9c57-ab7b513d8c5a	account-1	35	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"a1ebe66ed90695f8c547f7ff09c47b3c5698a28197a886730a8193634b1ee9d8"}
74	660ef994-331c-85c5-997d-373c30f8d56d	account-1	36	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"cb8352afa28a914b6a270203c434e6519c236eb1c5fb320fbe8befb0726ebe1d"}
75	979e4b7f-9066-885d-aeb9-58df4b810644	account-1	37	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"c69a13c6331d316f9b90577d6fb9a5ce4ee9f7f0dc8a0eaf51ec69dbfd76c494"}
76	6a2d5760-16c5-864d-8ff9-a315187358ef	account-1	38	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"8806a5279b32386e317722dfc265f330a37a349d32d7de4ba9728d3c16b8fb79"}
77	91818872-b403-8fc7-b5b0-cfab9fdb085f	account-1	39	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"77f2b4dc830ca9d006a88f6f25c77718a4a6567c96b7c1c5ce5dcb13db5c3aad"}
78	a227e444-8c9b-84a4-b66f-ce700240f841	account-1	40	SignedOut	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"revoked":"f9c34746e7197805a97c311d0f23e38ff70e6f66aab5fbf5f1d46d5189137854"}
79	01a22e76-30e7-7cf3-b1bb-b2267d587124	account-1	41	PasswordChanged	1	2026-11-30 21:57:07.431+00	{}	{"request_id":"bde46654af9997d6e019338c4eec993c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"password":"$scrypt$ln=15,r=8,p=3$YY3vh5/HQBaoms3k45Xtfw$ImMWl+23saSY6zc0aWm9eBKqdcfXrTVwEalAk5P0suk"}
81	01a22e76-31ff-7d58-91d3-8bf7731c1e7f	task-4	1	TaskCreated	1	2026-11-30 21:57:07.711+00	{"account":2}	{"request_id":"3bf3b94d33a94d490dacc4adc5d35281","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
82	01a22e76-320a-7a1d-bb94-8efb6a51f9c6	task-5	1	TaskCreated	1	2026-11-30 21:57:07.722+00	{"account":2}	{"request_id":"9ec88adf401313569a76ae44f25865a5","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
85	01a22e76-3217-74d4-934e-327dcef233e1	task-4	3	TaskCompleted	1	2026-11-30 21:57:07.735+00	{}	{"request_id":"18235915804a8d941e8b90deadf9de6d","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
86	01a22e76-321c-7795-8946-04b93242975e	task-4	4	TaskReopened	1	2026-11-30 21:57:07.74+00	{}	{"request_id":"233c0aa04bccc5624851bd61fd15d5da","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
87	01a22e76-3220-7cbe-b771-f30e0dc8ec51	task-6	2	TaskCompleted	1	2026-11-30 21:57:07.744+00	{}	{"request_id":"9bc79c74e563a69db726ac39ef602dc6","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
88	01a22e76-3224-7960-87ed-0422902354bb	task-5	2	TaskDeleted	1	2026-11-30 21:57:07.748+00	{}	{"request_id":"bc0ed1dbd007fa0c156ec0b165120a1c","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
129	7634c9c9-edc0-4744-b597-60b35d510f44	account-2	42	AccountErased	1	2026-11-30 21:57:14.168+00	{}	{"request_id":"62921f4a8b20060f58ef3b5be1579a30","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
130	5e9736c8-ddf7-8921-954c-24409470d441	task-4	5	TaskErased	1	2026-11-30 21:57:14.179+00	{}	{"request_id":"erasure of account-2","actor":null,"trace_id":null}	{}
131	f8ee97c3-4f4d-884c-a719-caf10ec86fc2	task-5	3	TaskErased	1	2026-11-30 21:57:14.179+00	{}	{"request_id":"erasure of account-2","actor":null,"trace_id":null}	{}
132	01a22e76-4b43-7409-8689-eb9dd30ba79b	task-6	3	TaskErased	1	2026-11-30 21:57:14.179+00	{}	{"request_id":"erasure of account-2","actor":null,"trace_id":null}	{}
80	31d9874c-adca-87ae-8e73-8a8d6a492a0a	account-2	1	AccountCreated	1	2026-11-30 21:57:07.703+00	{}	{"request_id":"5f17becf6819c2f1c0077020849561d5","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
89	01a22e76-3353-78d7-8844-b2999bb243c3	account-2	2	SignedIn	1	2026-11-30 21:57:08.051+00	{}	{"request_id":"2efbe882331cad4211c034a00bb1ac22","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
90	01a22e76-3458-7e44-b5ff-86b934777b6f	account-2	3	SignedIn	1	2026-11-30 21:57:08.312+00	{}	{"request_id":"724f6d2297d3c3f1fb43e541cef849c4","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
91	01a22e76-355f-7089-a488-d501fff6df23	account-2	4	SignedIn	1	2026-11-30 21:57:08.575+00	{}	{"request_id":"1015a365bb5e9647bf341f62818b692e","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
92	01a22e76-3660-7f98-b68e-7e8495d8a365	account-2	5	SignedIn	1	2026-11-30 21:57:08.832+00	{}	{"request_id":"a39225eae12910ffc4e07712b55a1aa7","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
93	01a22e76-3775-7c80-9e9d-6c65efc66b5c	account-2	6	SignedIn	1	2026-11-30 21:57:09.109+00	{}	{"request_id":"78dc20d3dfb4f25e2f14d3c0880fb36a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
94	01a22e76-388b-7b41-a2c7-f4c7e4b0200f	account-2	7	SignedIn	1	2026-11-30 21:57:09.387+00	{}	{"request_id":"692f17520059224b2b59dc91020ddec1","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
95	01a22e76-399c-7390-99b5-8a941bdebcae	account-2	8	SignedIn	1	2026-11-30 21:57:09.66+00	{}	{"request_id":"868653663aa1649887206b0e306dadd1","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
96	01a22e76-3aa7-7ef8-ab99-c3f97138af91	account-2	9	SignedIn	1	2026-11-30 21:57:09.927+00	{}	{"request_id":"7a82b454a5f385ea85618e9ac83d2199","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
97	01a22e76-3bb1-7ce6-9d67-cdfe1b70a568	account-2	10	SignedIn	1	2026-11-30 21:57:10.193+00	{}	{"request_id":"d015eaa4e3754084983818e42c313108","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
98	01a22e76-3cb9-7817-928e-2425105b9977	account-2	11	SignedIn	1	2026-11-30 21:57:10.457+00	{}	{"request_id":"58ae9e216ab1c6cdc63ea7ad4dc8385f","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
99	01a22e76-3dc1-7ea4-bf7e-189da62c7c4e	account-2	12	SignedIn	1	2026-11-30 21:57:10.721+00	{}	{"request_id":"7cfc26f860932fc15973e72f3597fc1b","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
100	01a22e76-3f00-71e0-9ba3-57a797aea25f	account-2	13	SignedIn	1	2026-11-30 21:57:11.04+00	{}	{"request_id":"8cefe64686ba301f6ef9614c0e80fb6a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
134	7f890b17-b50a-8294-a4e1-42949d792a56	pass-3	2	PassErased	1	2026-11-30 21:57:14.41+00	{}	{"request_id":"erasure of user-3","actor":null,"trace_id":null}	{}
135	09815e1e-6c6f-83fe-a2bf-64159bd07ebc	event-4	2	EventErased	1	2026-11-30 21:57:14.41+00	{}	{"request_id":"erasure of user-3","actor":null,"trace_id":null}	{}
136	01a22e76-4c2a-7810-9d74-331008e91e14	attendance-1-3	2	AttendanceErased	1	2026-11-30 21:57:14.41+00	{"event":1,"user":3}	{"request_id":"erasure of user-3","actor":null,"trace_id":null}	{}
137	4e88cdf2-ea33-856e-a057-f9a80a1a8a7c	event-5	1	EventCreated	1	2026-11-30 21:57:14.475+00	{"owner":1,"started_at":"2030-09-16T00:00:00.000Z","ended_at":null}	{"request_id":"77c0ec40e2b0a0f4aaf686096def238a","actor":1,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"name":"Sunrise","address":"Dolores Park","lat":-52.5,"lon":169.1,"category":"food","time_zone":"Pacific/Auckland","description":"Bring tea.","link":"https://example.org/picnic"}
138	97bdab7d-30aa-8701-82fe-185dd430f2d7	attendance-5-2	1	AttendanceAdded	1	2026-11-30 21:57:14.482+00	{"event":5,"user":2}	{"request_id":"b112217c11cbd90b0cf6f39e7d26e362","actor":2,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{}
139	01a22e76-4dac-7323-bca8-cf78977e4980	account-1	42	SignedIn	1	2026-11-30 21:57:14.796+00	{}	{"request_id":"7b2df814d5820cde4e2c4c951dc25b3b","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	{"token":"8502b22622885fddea6d89c81dcfd1e0ff38d9204fdd5186fce1800ac6037060","replaced":null}
101	01a22e76-4022-7871-a8ce-cef93ae25f3b	account-2	14	SignedIn	1	2026-11-30 21:57:11.33+00	{}	{"request_id":"4b2995ad56adfb5552b3bbe19da691cb","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
102	01a22e76-415c-7acc-aa91-b407bff30eb2	account-2	15	SignedIn	1	2026-11-30 21:57:11.644+00	{}	{"request_id":"99f030ec24ad4100c020bc4b7fdafd73","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
103	01a22e76-4275-7198-ac24-4b52938579a7	account-2	16	SignedIn	1	2026-11-30 21:57:11.925+00	{}	{"request_id":"5cdf72f0db890647db2b7e8335244ee3","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
104	01a22e76-4387-7c4b-a132-0971909a2f5e	account-2	17	SignedIn	1	2026-11-30 21:57:12.199+00	{}	{"request_id":"7104c048c0809823298ada12b67909cf","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
105	01a22e76-4491-74a5-b225-b513c399d2e1	account-2	18	SignedIn	1	2026-11-30 21:57:12.465+00	{}	{"request_id":"326ebf05e495df78dd5f6ceb701c5666","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
106	01a22e76-459d-7be7-a93b-181e714aeae0	account-2	19	SignedIn	1	2026-11-30 21:57:12.733+00	{}	{"request_id":"df42d1b06981d1fef836fa55409802cc","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
107	01a22e76-46be-763e-9be1-91a57862492f	account-2	20	SignedIn	1	2026-11-30 21:57:13.022+00	{}	{"request_id":"2d4d45ee2d455a7b1f669d64ccbeb5f6","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
108	01a22e76-4808-78a6-b52b-258a8fc3fe9f	account-2	21	SignedIn	1	2026-11-30 21:57:13.352+00	{}	{"request_id":"70dfae12f53ee1b6677a2a7bd062d346","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
109	01a22e76-480f-7fbb-b7d5-fde7163acc44	account-2	22	SignedOut	1	2026-11-30 21:57:13.359+00	{}	{"request_id":"db94a66f8c94a4f8de0685a83972a742","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
110	2dbcf364-3d1f-877a-84f0-aeb1e3fa4df8	account-2	23	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
111	096e222a-4c99-8cea-bf02-4f3602300ef9	account-2	24	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
112	e07912bb-b986-8129-aed9-a0b359eb0b86	account-2	25	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
113	e3f3a597-4f72-8d92-825c-840a348e9c7d	account-2	26	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
114	55b04c82-3c45-89a2-a7b7-41d85cfa810b	account-2	27	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
115	77a2e95b-0e4f-8fa4-ac35-6a1908becd7f	account-2	28	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
116	e2014d77-6c82-8bff-b521-72fd6bfbe18b	account-2	29	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
117	22caad54-6e7c-8d99-935e-f5acefd74fc5	account-2	30	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
118	ae6b183b-6c17-8137-b9b4-5e76f2e58883	account-2	31	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
119	143f5adb-bbe1-8d16-b0e6-3735aca30edd	account-2	32	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
120	02e6c611-982c-82d0-a59d-de87fd6f10a8	account-2	33	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
121	ef964ee8-4543-8976-80eb-78e88a286e45	account-2	34	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
122	5c7a5f97-6ea9-8939-8f7e-958a3607a4d9	account-2	35	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
123	0bc5c4fe-7c35-8c98-93bc-2f6f4d7ab06e	account-2	36	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
124	9b32dffe-d8d0-8327-864c-2f291a8cf7f7	account-2	37	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
125	67dbf57c-47a2-80d7-be5f-6e0fd6ddfd17	account-2	38	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
126	c9cfe550-a8c3-88c9-8210-661688379576	account-2	39	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
127	ed628cb3-0aca-86a2-bc2c-cbfa1c4e2438	account-2	40	SignedOut	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
128	01a22e76-4a25-7f51-98d8-0087d27ea9f8	account-2	41	PasswordChanged	1	2026-11-30 21:57:13.893+00	{}	{"request_id":"f82764f0cfe57beb3b8b3fd2abc46a0a","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
83	01a22e76-320f-70db-b77a-9c4fea959e7e	task-6	1	TaskCreated	1	2026-11-30 21:57:07.727+00	{"account":2}	{"request_id":"c28a5cd405df94da799e68090c18e048","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
84	01a22e76-3213-7cc0-add7-f66d3365b17f	task-4	2	TaskRenamed	1	2026-11-30 21:57:07.731+00	{}	{"request_id":"decfc39d0955b5d44daa53dfa524d010","actor":null,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
133	0f3ddc80-b2f7-4d67-9b33-d1031a75b2e7	user-3	2	UserErased	1	2026-11-30 21:57:14.39+00	{}	{"request_id":"humon-users-erase","actor":null,"trace_id":null}	{}
3	aaf4adbe-6354-872b-9dd6-fda0aa5c47af	user-3	1	UserCreated	1	2026-11-30 21:57:00.084+00	{}	{"request_id":"9672b97fb3e7cb90ddf532493fb6370b","actor":3,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
27	01a22e76-1781-749f-8bbf-683b5f3f7ddc	pass-3	1	PassIssued	1	2026-11-30 21:57:00.929+00	{"kind":"recovery","expires_at":null}	{"request_id":"9c761db6ade8f9e569362216d0ea56fc","actor":3,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}	\N
\.


--
-- Data for Name: subscriptions; Type: TABLE DATA; Schema: log; Owner: -
--

COPY log.subscriptions (name, "position", interruption) FROM stdin;
erasures	139	\N
\.


--
-- Data for Name: passes; Type: TABLE DATA; Schema: passes_v1; Owner: -
--

COPY passes_v1.passes (user_id, kind, digest, issued_at, expires_at) FROM stdin;
\.


--
-- Data for Name: tasks; Type: TABLE DATA; Schema: tasks_v1; Owner: -
--

COPY tasks_v1.tasks (id, version, account_id, created_at, title, is_completed) FROM stdin;
1	4	1	2026-11-30 21:57:01.404+00	Buy oat milk	f
3	2	1	2026-11-30 21:57:01.421+00	Sleep	t
2	2	1	2026-11-30 21:57:01.416+00	\N	f
\.


--
-- Data for Name: users; Type: TABLE DATA; Schema: users_v1; Owner: -
--

COPY users_v1.users (id, version, device) FROM stdin;
2	2	\\xeb66a78ee9c9e976c7a0af8d720b979b5dff7d3160a72d9ce8ebc72d0173c90f
1	2	\\x6272759e6ef169b57611ab3641c78b40da57bc4bf65180dac6e12fc3a1dabd0a
4	2	\N
3	2	\N
\.


--
-- Name: account_ids; Type: SEQUENCE SET; Schema: log; Owner: -
--

SELECT pg_catalog.setval('log.account_ids', 2, true);


--
-- Name: event_ids; Type: SEQUENCE SET; Schema: log; Owner: -
--

SELECT pg_catalog.setval('log.event_ids', 6, true);


--
-- Name: task_ids; Type: SEQUENCE SET; Schema: log; Owner: -
--

SELECT pg_catalog.setval('log.task_ids', 6, true);


--
-- Name: user_ids; Type: SEQUENCE SET; Schema: log; Owner: -
--

SELECT pg_catalog.setval('log.user_ids', 4, true);


--
-- Name: account_tokens account_tokens_pkey; Type: CONSTRAINT; Schema: accounts_v1; Owner: -
--

ALTER TABLE ONLY accounts_v1.account_tokens
    ADD CONSTRAINT account_tokens_pkey PRIMARY KEY (token);


--
-- Name: accounts accounts_email; Type: CONSTRAINT; Schema: accounts_v1; Owner: -
--

ALTER TABLE ONLY accounts_v1.accounts
    ADD CONSTRAINT accounts_email UNIQUE (email);


--
-- Name: accounts accounts_pkey; Type: CONSTRAINT; Schema: accounts_v1; Owner: -
--

ALTER TABLE ONLY accounts_v1.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);


--
-- Name: attendances attendances_pkey; Type: CONSTRAINT; Schema: attendances_v1; Owner: -
--

ALTER TABLE ONLY attendances_v1.attendances
    ADD CONSTRAINT attendances_pkey PRIMARY KEY (event_id, user_id) INCLUDE (attended_at);


--
-- Name: events events_pkey; Type: CONSTRAINT; Schema: events_v1; Owner: -
--

ALTER TABLE ONLY events_v1.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);


--
-- Name: migrations migrations_pkey; Type: CONSTRAINT; Schema: humon; Owner: -
--

ALTER TABLE ONLY humon.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (name);


--
-- Name: inline_read_models inline_read_models_pkey; Type: CONSTRAINT; Schema: log; Owner: -
--

ALTER TABLE ONLY log.inline_read_models
    ADD CONSTRAINT inline_read_models_pkey PRIMARY KEY (number);


--
-- Name: parked_streams parked_streams_pkey; Type: CONSTRAINT; Schema: log; Owner: -
--

ALTER TABLE ONLY log.parked_streams
    ADD CONSTRAINT parked_streams_pkey PRIMARY KEY (subscription, stream);


--
-- Name: pepper pepper_pkey; Type: CONSTRAINT; Schema: log; Owner: -
--

ALTER TABLE ONLY log.pepper
    ADD CONSTRAINT pepper_pkey PRIMARY KEY (is_only);


--
-- Name: program_formats program_formats_pkey; Type: CONSTRAINT; Schema: log; Owner: -
--

ALTER TABLE ONLY log.program_formats
    ADD CONSTRAINT program_formats_pkey PRIMARY KEY (program, category, type);


--
-- Name: projections projections_pkey; Type: CONSTRAINT; Schema: log; Owner: -
--

ALTER TABLE ONLY log.projections
    ADD CONSTRAINT projections_pkey PRIMARY KEY (name, version);


--
-- Name: read_models read_models_pkey; Type: CONSTRAINT; Schema: log; Owner: -
--

ALTER TABLE ONLY log.read_models
    ADD CONSTRAINT read_models_pkey PRIMARY KEY (schema, "position");


--
-- Name: recorded_events recorded_events_id; Type: CONSTRAINT; Schema: log; Owner: -
--

ALTER TABLE ONLY log.recorded_events
    ADD CONSTRAINT recorded_events_id UNIQUE (id);


--
-- Name: recorded_events recorded_events_pkey; Type: CONSTRAINT; Schema: log; Owner: -
--

ALTER TABLE ONLY log.recorded_events
    ADD CONSTRAINT recorded_events_pkey PRIMARY KEY ("position");


--
-- Name: recorded_events recorded_events_stream_version; Type: CONSTRAINT; Schema: log; Owner: -
--

ALTER TABLE ONLY log.recorded_events
    ADD CONSTRAINT recorded_events_stream_version UNIQUE (stream, version);


--
-- Name: subscriptions subscriptions_pkey; Type: CONSTRAINT; Schema: log; Owner: -
--

ALTER TABLE ONLY log.subscriptions
    ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (name, "position");


--
-- Name: passes passes_pkey; Type: CONSTRAINT; Schema: passes_v1; Owner: -
--

ALTER TABLE ONLY passes_v1.passes
    ADD CONSTRAINT passes_pkey PRIMARY KEY (user_id, kind);


--
-- Name: tasks tasks_pkey; Type: CONSTRAINT; Schema: tasks_v1; Owner: -
--

ALTER TABLE ONLY tasks_v1.tasks
    ADD CONSTRAINT tasks_pkey PRIMARY KEY (id);


--
-- Name: users users_device; Type: CONSTRAINT; Schema: users_v1; Owner: -
--

ALTER TABLE ONLY users_v1.users
    ADD CONSTRAINT users_device UNIQUE (device);


--
-- Name: users users_pkey; Type: CONSTRAINT; Schema: users_v1; Owner: -
--

ALTER TABLE ONLY users_v1.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);


--
-- Name: account_tokens_of_account; Type: INDEX; Schema: accounts_v1; Owner: -
--

CREATE INDEX account_tokens_of_account ON accounts_v1.account_tokens USING btree (account_id, issued);


--
-- Name: attendances_last; Type: INDEX; Schema: attendances_v1; Owner: -
--

CREATE INDEX attendances_last ON attendances_v1.attendances USING btree (event_id, change_number);


--
-- Name: attendances_of_user; Type: INDEX; Schema: attendances_v1; Owner: -
--

CREATE INDEX attendances_of_user ON attendances_v1.attendances USING btree (user_id, attended_at, event_id);


--
-- Name: events_of_owner; Type: INDEX; Schema: events_v1; Owner: -
--

CREATE INDEX events_of_owner ON events_v1.events USING brin (owner_id int8_bloom_ops (n_distinct_per_range='2000')) WITH (pages_per_range='32', autosummarize=off);


--
-- Name: commands_id; Type: INDEX; Schema: log; Owner: -
--

CREATE UNIQUE INDEX commands_id ON log.commands USING btree (id) WHERE (id IS NOT NULL);


--
-- Name: commands_owner; Type: INDEX; Schema: log; Owner: -
--

CREATE INDEX commands_owner ON log.commands USING brin (owner text_bloom_ops (n_distinct_per_range='2000')) WITH (pages_per_range='32', autosummarize=off);


--
-- Name: commands_position; Type: INDEX; Schema: log; Owner: -
--

CREATE UNIQUE INDEX commands_position ON log.commands USING btree ("position") WHERE ("position" IS NOT NULL);


--
-- Name: recorded_events_erasures; Type: INDEX; Schema: log; Owner: -
--

CREATE INDEX recorded_events_erasures ON log.recorded_events USING btree (type, "position") WHERE (type ~~ '%Erased'::text);


--
-- Name: recorded_events_of_erasure; Type: INDEX; Schema: log; Owner: -
--

CREATE INDEX recorded_events_of_erasure ON log.recorded_events USING btree (((metadata ->> 'request_id'::text)), "position") WHERE (type ~~ '%Erased'::text);


--
-- Name: recorded_events_search; Type: INDEX; Schema: log; Owner: -
--

CREATE INDEX recorded_events_search ON log.recorded_events USING brin ((("position" + 0)), recorded_at, type text_bloom_ops (n_distinct_per_range='64'), split_part(stream, '-'::text, 1) text_bloom_ops (n_distinct_per_range='64'), ((metadata ->> 'request_id'::text)) text_bloom_ops (n_distinct_per_range='800'), ((metadata ->> 'trace_id'::text)) text_bloom_ops (n_distinct_per_range='800'), ((metadata ->> 'actor'::text)) text_bloom_ops (n_distinct_per_range='800')) WITH (pages_per_range='32', autosummarize=off);


--
-- Name: passes_digest; Type: INDEX; Schema: passes_v1; Owner: -
--

CREATE INDEX passes_digest ON passes_v1.passes USING btree (digest);


--
-- Name: tasks_of_account; Type: INDEX; Schema: tasks_v1; Owner: -
--

CREATE INDEX tasks_of_account ON tasks_v1.tasks USING btree (account_id, created_at, id);


--
-- Name: commands guard_command; Type: TRIGGER; Schema: log; Owner: -
--

CREATE TRIGGER guard_command BEFORE DELETE ON log.commands FOR EACH ROW EXECUTE FUNCTION log.refuse_change();

ALTER TABLE log.commands ENABLE ALWAYS TRIGGER guard_command;


--
-- Name: recorded_events guard_personal; Type: TRIGGER; Schema: log; Owner: -
--

CREATE TRIGGER guard_personal BEFORE UPDATE ON log.recorded_events FOR EACH ROW EXECUTE FUNCTION log.refuse_change();

ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER guard_personal;


--
-- Name: commands refuse_change; Type: TRIGGER; Schema: log; Owner: -
--

CREATE TRIGGER refuse_change BEFORE UPDATE OR TRUNCATE ON log.commands FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();

ALTER TABLE log.commands ENABLE ALWAYS TRIGGER refuse_change;


--
-- Name: pepper refuse_change; Type: TRIGGER; Schema: log; Owner: -
--

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE OR TRUNCATE ON log.pepper FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();

ALTER TABLE log.pepper ENABLE ALWAYS TRIGGER refuse_change;


--
-- Name: recorded_events refuse_change; Type: TRIGGER; Schema: log; Owner: -
--

CREATE TRIGGER refuse_change BEFORE DELETE OR TRUNCATE ON log.recorded_events FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();

ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER refuse_change;


--
-- Name: SCHEMA accounts_v1; Type: ACL; Schema: -; Owner: -
--

GRANT USAGE ON SCHEMA accounts_v1 TO log_app;
GRANT USAGE ON SCHEMA accounts_v1 TO log_reader;


--
-- Name: SCHEMA attendances_v1; Type: ACL; Schema: -; Owner: -
--

GRANT USAGE ON SCHEMA attendances_v1 TO log_app;
GRANT USAGE ON SCHEMA attendances_v1 TO log_reader;


--
-- Name: SCHEMA events_v1; Type: ACL; Schema: -; Owner: -
--

GRANT USAGE ON SCHEMA events_v1 TO log_app;
GRANT USAGE ON SCHEMA events_v1 TO log_reader;


--
-- Name: SCHEMA humon; Type: ACL; Schema: -; Owner: -
--

GRANT USAGE ON SCHEMA humon TO log_app;
GRANT USAGE ON SCHEMA humon TO log_reader;


--
-- Name: SCHEMA log; Type: ACL; Schema: -; Owner: -
--

GRANT USAGE ON SCHEMA log TO log_app;
GRANT USAGE ON SCHEMA log TO log_reader;


--
-- Name: SCHEMA passes_v1; Type: ACL; Schema: -; Owner: -
--

GRANT USAGE ON SCHEMA passes_v1 TO log_app;
GRANT USAGE ON SCHEMA passes_v1 TO log_reader;


--
-- Name: SCHEMA tasks_v1; Type: ACL; Schema: -; Owner: -
--

GRANT USAGE ON SCHEMA tasks_v1 TO log_app;
GRANT USAGE ON SCHEMA tasks_v1 TO log_reader;


--
-- Name: SCHEMA users_v1; Type: ACL; Schema: -; Owner: -
--

GRANT USAGE ON SCHEMA users_v1 TO log_app;
GRANT USAGE ON SCHEMA users_v1 TO log_reader;


--
-- Name: FUNCTION append(ids uuid[], streams text[], versions integer[], types text[], formats smallint[], times timestamp with time zone[], data text[], metadata text[], personal text[], read_models text[], request_hashes bytea[], owners text[], ended_ids uuid[], ended_request_hashes bytea[], ended_owners text[], unchanged_streams text[], unchanged_versions integer[], condition_streams text[], condition_ids uuid[]); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.append(ids uuid[], streams text[], versions integer[], types text[], formats smallint[], times timestamp with time zone[], data text[], metadata text[], personal text[], read_models text[], request_hashes bytea[], owners text[], ended_ids uuid[], ended_request_hashes bytea[], ended_owners text[], unchanged_streams text[], unchanged_versions integer[], condition_streams text[], condition_ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION log.append(ids uuid[], streams text[], versions integer[], types text[], formats smallint[], times timestamp with time zone[], data text[], metadata text[], personal text[], read_models text[], request_hashes bytea[], owners text[], ended_ids uuid[], ended_request_hashes bytea[], ended_owners text[], unchanged_streams text[], unchanged_versions integer[], condition_streams text[], condition_ids uuid[]) TO log_app;


--
-- Name: FUNCTION change_inline_read_models(read_models text[], tail bigint, next_tail bigint); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.change_inline_read_models(read_models text[], tail bigint, next_tail bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION log.change_inline_read_models(read_models text[], tail bigint, next_tail bigint) TO log_app;


--
-- Name: FUNCTION create_read_model(schema text); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.create_read_model(schema text) FROM PUBLIC;
GRANT ALL ON FUNCTION log.create_read_model(schema text) TO log_app;


--
-- Name: FUNCTION drop_read_model(of_schema text); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.drop_read_model(of_schema text) FROM PUBLIC;
GRANT ALL ON FUNCTION log.drop_read_model(of_schema text) TO log_app;


--
-- Name: FUNCTION erase(streams text[], row_limit integer, person text); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.erase(streams text[], row_limit integer, person text) FROM PUBLIC;
GRANT ALL ON FUNCTION log.erase(streams text[], row_limit integer, person text) TO log_app;


--
-- Name: FUNCTION grant_read_model(schema text); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.grant_read_model(schema text) FROM PUBLIC;
GRANT ALL ON FUNCTION log.grant_read_model(schema text) TO log_app;


--
-- Name: FUNCTION holders(schema text); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.holders(schema text) FROM PUBLIC;
GRANT ALL ON FUNCTION log.holders(schema text) TO log_app;
GRANT ALL ON FUNCTION log.holders(schema text) TO log_reader;


--
-- Name: FUNCTION idempotency_records(ids uuid[]); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.idempotency_records(ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION log.idempotency_records(ids uuid[]) TO log_app;
GRANT ALL ON FUNCTION log.idempotency_records(ids uuid[]) TO log_reader;


--
-- Name: FUNCTION index_read_model(of_schema text); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.index_read_model(of_schema text) FROM PUBLIC;
GRANT ALL ON FUNCTION log.index_read_model(of_schema text) TO log_app;


--
-- Name: FUNCTION is_erased(erased text); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.is_erased(erased text) FROM PUBLIC;
GRANT ALL ON FUNCTION log.is_erased(erased text) TO log_app;


--
-- Name: FUNCTION leave_inline(schemas text[]); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.leave_inline(schemas text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION log.leave_inline(schemas text[]) TO log_app;


--
-- Name: FUNCTION lock(); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.lock() FROM PUBLIC;
GRANT ALL ON FUNCTION log.lock() TO log_app;


--
-- Name: FUNCTION lock_names(); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.lock_names() FROM PUBLIC;
GRANT ALL ON FUNCTION log.lock_names() TO log_app;


--
-- Name: FUNCTION lock_read_models(schemas text[]); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.lock_read_models(schemas text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION log.lock_read_models(schemas text[]) TO log_app;


--
-- Name: FUNCTION move_read_models(schemas text[], destination bigint); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.move_read_models(schemas text[], destination bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION log.move_read_models(schemas text[], destination bigint) TO log_app;


--
-- Name: TABLE projections; Type: ACL; Schema: log; Owner: -
--

GRANT SELECT ON TABLE log.projections TO log_app;
GRANT SELECT ON TABLE log.projections TO log_reader;


--
-- Name: FUNCTION projection(of_schema text); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.projection(of_schema text) FROM PUBLIC;
GRANT ALL ON FUNCTION log.projection(of_schema text) TO log_app;


--
-- Name: FUNCTION read_model_positions(schemas text[]); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.read_model_positions(schemas text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION log.read_model_positions(schemas text[]) TO log_app;
GRANT ALL ON FUNCTION log.read_model_positions(schemas text[]) TO log_reader;


--
-- Name: FUNCTION refuse_change(); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.refuse_change() FROM PUBLIC;
GRANT ALL ON FUNCTION log.refuse_change() TO log_app;


--
-- Name: FUNCTION rename_read_model(old_name text, new_name text); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.rename_read_model(old_name text, new_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION log.rename_read_model(old_name text, new_name text) TO log_app;


--
-- Name: FUNCTION tail(); Type: ACL; Schema: log; Owner: -
--

REVOKE ALL ON FUNCTION log.tail() FROM PUBLIC;
GRANT ALL ON FUNCTION log.tail() TO log_app;
GRANT ALL ON FUNCTION log.tail() TO log_reader;


--
-- Name: FUNCTION pg_advisory_lock(bigint); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_advisory_lock(bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_advisory_lock(bigint) TO log_app;


--
-- Name: FUNCTION pg_advisory_lock(integer, integer); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_advisory_lock(integer, integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_advisory_lock(integer, integer) TO log_app;


--
-- Name: FUNCTION pg_advisory_lock_shared(bigint); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_advisory_lock_shared(bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_advisory_lock_shared(bigint) TO log_app;


--
-- Name: FUNCTION pg_advisory_lock_shared(integer, integer); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_advisory_lock_shared(integer, integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_advisory_lock_shared(integer, integer) TO log_app;


--
-- Name: FUNCTION pg_advisory_xact_lock(bigint); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_advisory_xact_lock(bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_advisory_xact_lock(bigint) TO log_app;


--
-- Name: FUNCTION pg_advisory_xact_lock(integer, integer); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_advisory_xact_lock(integer, integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_advisory_xact_lock(integer, integer) TO log_app;


--
-- Name: FUNCTION pg_advisory_xact_lock_shared(bigint); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_advisory_xact_lock_shared(bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_advisory_xact_lock_shared(bigint) TO log_app;


--
-- Name: FUNCTION pg_advisory_xact_lock_shared(integer, integer); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_advisory_xact_lock_shared(integer, integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_advisory_xact_lock_shared(integer, integer) TO log_app;


--
-- Name: FUNCTION pg_try_advisory_lock(bigint); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_try_advisory_lock(bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_try_advisory_lock(bigint) TO log_app;


--
-- Name: FUNCTION pg_try_advisory_lock(integer, integer); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_try_advisory_lock(integer, integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_try_advisory_lock(integer, integer) TO log_app;


--
-- Name: FUNCTION pg_try_advisory_lock_shared(bigint); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_try_advisory_lock_shared(bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_try_advisory_lock_shared(bigint) TO log_app;


--
-- Name: FUNCTION pg_try_advisory_lock_shared(integer, integer); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_try_advisory_lock_shared(integer, integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_try_advisory_lock_shared(integer, integer) TO log_app;


--
-- Name: FUNCTION pg_try_advisory_xact_lock(bigint); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_try_advisory_xact_lock(bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_try_advisory_xact_lock(bigint) TO log_app;


--
-- Name: FUNCTION pg_try_advisory_xact_lock(integer, integer); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_try_advisory_xact_lock(integer, integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_try_advisory_xact_lock(integer, integer) TO log_app;


--
-- Name: FUNCTION pg_try_advisory_xact_lock_shared(bigint); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_try_advisory_xact_lock_shared(bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_try_advisory_xact_lock_shared(bigint) TO log_app;


--
-- Name: FUNCTION pg_try_advisory_xact_lock_shared(integer, integer); Type: ACL; Schema: pg_catalog; Owner: -
--

REVOKE ALL ON FUNCTION pg_catalog.pg_try_advisory_xact_lock_shared(integer, integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pg_catalog.pg_try_advisory_xact_lock_shared(integer, integer) TO log_app;


--
-- Name: TABLE account_tokens; Type: ACL; Schema: accounts_v1; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE accounts_v1.account_tokens TO log_app;
GRANT SELECT ON TABLE accounts_v1.account_tokens TO log_reader;


--
-- Name: TABLE accounts; Type: ACL; Schema: accounts_v1; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE accounts_v1.accounts TO log_app;
GRANT SELECT ON TABLE accounts_v1.accounts TO log_reader;


--
-- Name: TABLE attendances; Type: ACL; Schema: attendances_v1; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE attendances_v1.attendances TO log_app;
GRANT SELECT ON TABLE attendances_v1.attendances TO log_reader;


--
-- Name: TABLE events; Type: ACL; Schema: events_v1; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE events_v1.events TO log_app;
GRANT SELECT ON TABLE events_v1.events TO log_reader;


--
-- Name: TABLE migrations; Type: ACL; Schema: humon; Owner: -
--

GRANT SELECT ON TABLE humon.migrations TO log_app;
GRANT SELECT ON TABLE humon.migrations TO log_reader;


--
-- Name: SEQUENCE account_ids; Type: ACL; Schema: log; Owner: -
--

GRANT SELECT,USAGE ON SEQUENCE log.account_ids TO log_app;
GRANT SELECT ON SEQUENCE log.account_ids TO log_reader;


--
-- Name: TABLE append_lock; Type: ACL; Schema: log; Owner: -
--

GRANT SELECT ON TABLE log.append_lock TO log_app;
GRANT SELECT ON TABLE log.append_lock TO log_reader;


--
-- Name: TABLE commands; Type: ACL; Schema: log; Owner: -
--

GRANT SELECT ON TABLE log.commands TO log_app;
GRANT SELECT ON TABLE log.commands TO log_reader;


--
-- Name: SEQUENCE event_ids; Type: ACL; Schema: log; Owner: -
--

GRANT SELECT,USAGE ON SEQUENCE log.event_ids TO log_app;
GRANT SELECT ON SEQUENCE log.event_ids TO log_reader;


--
-- Name: TABLE inline_read_models; Type: ACL; Schema: log; Owner: -
--

GRANT SELECT ON TABLE log.inline_read_models TO log_app;
GRANT SELECT ON TABLE log.inline_read_models TO log_reader;


--
-- Name: TABLE parked_streams; Type: ACL; Schema: log; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE log.parked_streams TO log_app;
GRANT SELECT ON TABLE log.parked_streams TO log_reader;


--
-- Name: TABLE pepper; Type: ACL; Schema: log; Owner: -
--

GRANT SELECT ON TABLE log.pepper TO log_app;


--
-- Name: TABLE program_formats; Type: ACL; Schema: log; Owner: -
--

GRANT SELECT,INSERT ON TABLE log.program_formats TO log_app;
GRANT SELECT ON TABLE log.program_formats TO log_reader;


--
-- Name: TABLE read_models; Type: ACL; Schema: log; Owner: -
--

GRANT SELECT ON TABLE log.read_models TO log_app;
GRANT SELECT ON TABLE log.read_models TO log_reader;


--
-- Name: TABLE recorded_events; Type: ACL; Schema: log; Owner: -
--

GRANT SELECT ON TABLE log.recorded_events TO log_app;
GRANT SELECT ON TABLE log.recorded_events TO log_reader;


--
-- Name: TABLE subscriptions; Type: ACL; Schema: log; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE log.subscriptions TO log_app;
GRANT SELECT ON TABLE log.subscriptions TO log_reader;


--
-- Name: SEQUENCE task_ids; Type: ACL; Schema: log; Owner: -
--

GRANT SELECT,USAGE ON SEQUENCE log.task_ids TO log_app;
GRANT SELECT ON SEQUENCE log.task_ids TO log_reader;


--
-- Name: SEQUENCE user_ids; Type: ACL; Schema: log; Owner: -
--

GRANT SELECT,USAGE ON SEQUENCE log.user_ids TO log_app;
GRANT SELECT ON SEQUENCE log.user_ids TO log_reader;


--
-- Name: TABLE passes; Type: ACL; Schema: passes_v1; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE passes_v1.passes TO log_app;
GRANT SELECT ON TABLE passes_v1.passes TO log_reader;


--
-- Name: TABLE tasks; Type: ACL; Schema: tasks_v1; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE tasks_v1.tasks TO log_app;
GRANT SELECT ON TABLE tasks_v1.tasks TO log_reader;


--
-- Name: TABLE users; Type: ACL; Schema: users_v1; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE users_v1.users TO log_app;
GRANT SELECT ON TABLE users_v1.users TO log_reader;


--
-- PostgreSQL database dump complete
--

\unrestrict humon

