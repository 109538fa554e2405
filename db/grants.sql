-- The rights of the application's role. `humon migrate` runs this file after the migrations, every time: a restored dump contains
-- neither roles nor rights on the database.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'log_app') THEN
        CREATE ROLE log_app NOLOGIN;
    END IF;
EXCEPTION
    -- Another database of this cluster was migrated at the same moment.
    WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

-- The role of an operator's commands that only read.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'log_reader') THEN
        CREATE ROLE log_reader NOLOGIN;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

DO $$
BEGIN
    IF NOT pg_has_role(current_user, 'log_app', 'USAGE') THEN
        EXECUTE format('GRANT log_app TO %I', current_user);
    END IF;
    IF NOT pg_has_role(current_user, 'log_reader', 'USAGE') THEN
        EXECUTE format('GRANT log_reader TO %I', current_user);
    END IF;
    -- For the schemas of the read models, which projections create, and own.
    EXECUTE format('GRANT CREATE ON DATABASE %I TO log_app', current_database());
END
$$;

GRANT USAGE ON SCHEMA humon TO log_app;
GRANT SELECT ON humon.migrations TO log_app;
GRANT USAGE ON SCHEMA log TO log_app;
-- Not INSERT: log.append alone records events and commands, and log.keep_tree the tree over them.
GRANT SELECT ON log.recorded_events, log.commands, log.pepper, log.tiles, log.tree_checkpoints TO log_app;
GRANT SELECT, INSERT ON log.program_formats TO log_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON log.read_models, log.inline_read_models, log.leases, log.subscriptions,
    log.parked_streams TO log_app;
GRANT SELECT, USAGE ON ALL SEQUENCES IN SCHEMA log TO log_app;

GRANT USAGE ON SCHEMA humon, log TO log_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA humon, log TO log_reader;
-- With it a reader could test guesses of the addresses of erased persons.
REVOKE ALL ON log.pepper FROM log_reader;
GRANT SELECT ON ALL SEQUENCES IN SCHEMA humon, log TO log_reader;

-- PostgreSQL lets every role execute a new function. A role that may only read must neither append nor take a lock.
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA log FROM PUBLIC, log_reader;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA log TO log_app;
GRANT EXECUTE ON FUNCTION log.tail, log.recorded, log.versions, log.idempotency_records, log.read_model_positions, log.leased_until,
    log.is_leased, log.lock_class, log.holders, log.is_held, log.cloud_event, log.entries TO log_reader;

-- The application's role owns the read models, and the reader reads them. Projections grant this when they create their tables. A dump
-- that was restored into a cluster without these roles has neither owners nor rights.
DO $$
DECLARE
    copy record;
    owned name;
BEGIN
    FOR copy IN SELECT n.oid, n.nspname, n.nspowner FROM pg_namespace AS n
        WHERE EXISTS (SELECT FROM log.read_models AS m WHERE m.schema = n.nspname)
    LOOP
        IF copy.nspowner <> 'log_app'::regrole THEN
            EXECUTE format('ALTER SCHEMA %I OWNER TO log_app', copy.nspname);
        END IF;
        FOR owned IN SELECT c.relname FROM pg_class AS c
            WHERE c.relnamespace = copy.oid AND c.relkind IN ('r', 'p', 'v', 'm') AND c.relowner <> 'log_app'::regrole
        LOOP
            EXECUTE format('ALTER TABLE %I.%I OWNER TO log_app', copy.nspname, owned);
        END LOOP;
        IF NOT has_schema_privilege('log_reader', copy.oid, 'USAGE') OR EXISTS (
            SELECT FROM pg_class AS c WHERE c.relnamespace = copy.oid AND c.relkind IN ('r', 'p', 'v', 'm')
                AND NOT has_table_privilege('log_reader', c.oid, 'SELECT')
        ) THEN
            EXECUTE format('GRANT USAGE ON SCHEMA %I TO log_reader', copy.nspname);
            EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO log_reader', copy.nspname);
        END IF;
    END LOOP;
END
$$;
