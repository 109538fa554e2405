-- The rights of the application's role. `humon migrate` runs this file after the migrations, every time: a restored dump contains
-- neither roles nor rights on the database.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'humon_app') THEN
        CREATE ROLE humon_app NOLOGIN;
    END IF;
EXCEPTION
    -- Another database of this cluster was migrated at the same moment.
    WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

-- The role of an operator's commands that only read.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'humon_reader') THEN
        CREATE ROLE humon_reader NOLOGIN;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

DO $$
BEGIN
    IF NOT pg_has_role(current_user, 'humon_app', 'USAGE') THEN
        EXECUTE format('GRANT humon_app TO %I', current_user);
    END IF;
    IF NOT pg_has_role(current_user, 'humon_reader', 'USAGE') THEN
        EXECUTE format('GRANT humon_reader TO %I', current_user);
    END IF;
    -- For the schemas of the read models, which projections create, and own.
    EXECUTE format('GRANT CREATE ON DATABASE %I TO humon_app', current_database());
END
$$;

GRANT USAGE ON SCHEMA humon TO humon_app;
GRANT SELECT ON humon.migrations TO humon_app;
GRANT USAGE ON SCHEMA log TO humon_app;
-- Not UPDATE, DELETE or TRUNCATE: the log is append-only.
GRANT SELECT, INSERT ON log.recorded_events, log.commands TO humon_app;
GRANT SELECT, INSERT ON log.program_formats TO humon_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON log.read_models, log.inline_read_models, log.shadows, log.leases, log.follower_leaders,
    log.follower_positions, log.parked_streams TO humon_app;
-- Views: the one for servers of the version before, which write to it.
GRANT SELECT, INSERT, UPDATE, DELETE ON log.checkpoints TO humon_app;
GRANT SELECT ON log.followers TO humon_app;
GRANT SELECT, USAGE ON ALL SEQUENCES IN SCHEMA log TO humon_app;

GRANT USAGE ON SCHEMA humon, log TO humon_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA humon, log TO humon_reader;
GRANT SELECT ON ALL SEQUENCES IN SCHEMA humon, log TO humon_reader;

-- Read models grant this themselves when they are created; a restored dump may have forgotten it.
DO $$
DECLARE
    read_model name;
BEGIN
    FOR read_model IN SELECT nspname FROM pg_namespace JOIN log.read_models ON schema = nspname
        WHERE NOT has_schema_privilege('humon_reader', oid, 'USAGE')
    LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO humon_reader', read_model);
        EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO humon_reader', read_model);
    END LOOP;
END
$$;
