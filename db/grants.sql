-- The rights of the application's role. `humon migrate` runs this file after the migrations, every time: a restored dump contains
-- neither roles nor rights on the database. The search_path is that of the Migrator.
DO $$
DECLARE
    needed name;
BEGIN
    -- The second role is that of an operator's commands that only read.
    FOREACH needed IN ARRAY '{log_app,log_reader}'::name[] LOOP
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = needed) THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', needed);
            END IF;
        EXCEPTION
            -- Another database of this cluster was migrated at the same moment.
            WHEN duplicate_object OR unique_violation THEN NULL;
        END;
        CONTINUE WHEN pg_has_role(current_user, needed, 'USAGE');
        BEGIN
            EXECUTE format('GRANT %I TO %I', needed, current_user);
        EXCEPTION
            -- Since PostgreSQL 16 CREATEROLE grants only what its own role made: here the owner of another database made the role. The
            -- statements below need no membership, and a server that logs in as this owner names the GRANT that it lacks.
            WHEN insufficient_privilege THEN NULL;
        END;
    END LOOP;
END
$$;

GRANT USAGE ON SCHEMA humon TO log_app;
GRANT SELECT ON humon.migrations TO log_app;
GRANT USAGE ON SCHEMA log TO log_app;
-- Not INSERT: log.append alone records events and commands.
-- The functions of db/functions/read_models.sql alone make, move and drop read models.
GRANT SELECT ON log.append_lock, log.recorded_events, log.commands, log.pepper, log.projections, log.read_models,
    log.inline_read_models TO log_app;
GRANT SELECT, INSERT ON log.program_formats TO log_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON log.subscriptions, log.parked_streams TO log_app;
GRANT SELECT, USAGE ON ALL SEQUENCES IN SCHEMA log TO log_app;

GRANT USAGE ON SCHEMA humon, log TO log_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA humon, log TO log_reader;
-- With it a reader could test guesses of the addresses of erased persons.
REVOKE ALL ON log.pepper FROM log_reader;
GRANT SELECT ON ALL SEQUENCES IN SCHEMA humon, log TO log_reader;

-- PostgreSQL lets every role execute a new function. A role that may only read must neither append nor take a lock.
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA log FROM PUBLIC, log_reader;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA log TO log_app;
GRANT EXECUTE ON FUNCTION log.tail, log.idempotency_records, log.read_model_positions, log.holders TO log_reader;

-- Servers, leaders, rebuilds and the drop of a copy know each other by advisory locks, which every role of a database may take. Only a
-- superuser can change that: deploy/postgres/roles does, and `humon doctor` says where it is missing.
DO $$
DECLARE
    open regprocedure;
BEGIN
    FOR open IN
        SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^pg_(try_)?advisory_(xact_)?lock'
            AND has_function_privilege('public', oid, 'EXECUTE') AND (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', open);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO log_app', open);
    END LOOP;
END
$$;

-- A dump that was restored into a cluster without these roles has no rights on the read models. A right that is granted again would make
-- servers load what they have in memory again.
SELECT log.grant_read_model(n.nspname) FROM pg_namespace AS n
WHERE EXISTS (
    SELECT FROM log.projections AS p WHERE n.nspname ~ ('^' || p.name || '_v' || p.version || '(_rebuild|_verify|_replaced)?$')
) AND (
    NOT (has_schema_privilege('log_app', n.oid, 'USAGE') AND has_schema_privilege('log_reader', n.oid, 'USAGE'))
    OR has_schema_privilege('log_app', n.oid, 'CREATE') OR EXISTS (
        SELECT FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relkind = 'r'
            AND NOT (has_table_privilege('log_app', c.oid, 'DELETE') AND has_table_privilege('log_reader', c.oid, 'SELECT'))));
