-- The function of the triggers that guard the append-only tables. The migrations create the triggers.

-- Refuses changes of append-only tables. As a trigger of single rows it accepts two: the end of the personal members of a stream that
-- ends with its erasure, and the end of a command of an erased person, because the hash of a request could be guessed. Every other
-- column stays.
CREATE OR REPLACE FUNCTION log.refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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
