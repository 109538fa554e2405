-- The tables that a rebuild replaced stand in schemas named …_previous.
DO $$
DECLARE
    old_name text;
    new_name text;
BEGIN
    FOR old_name IN SELECT DISTINCT schema FROM log.read_models WHERE schema LIKE '%\_before' ORDER BY schema LOOP
        new_name := left(old_name, -length('_before')) || '_previous';
        EXECUTE format('ALTER SCHEMA %I RENAME TO %I', old_name, new_name);
        PERFORM log.rename_read_model(old_name, new_name);
    END LOOP;
END
$$;
