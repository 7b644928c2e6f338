-- atlas:nolint blocking
-- Because: writers under the old triggers have to end first; the lock lasts milliseconds
LOCK TABLE treatment_appointments IN ACCESS EXCLUSIVE MODE;
CREATE OR REPLACE FUNCTION keep_treatment_appointments_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO counter_changes (counter, practice_id, key, n)
  SELECT kept.counter, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, 1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('treatment_appointments.all', 0, true)
  ) AS kept (counter, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_treatment_appointments_insert AFTER INSERT ON treatment_appointments REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_treatment_appointments_insert();
CREATE OR REPLACE FUNCTION keep_treatment_appointments_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO counter_changes (counter, practice_id, key, n)
  SELECT kept.counter, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, -1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('treatment_appointments.all', 0, true)
  ) AS kept (counter, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_treatment_appointments_delete AFTER DELETE ON treatment_appointments REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_treatment_appointments_delete();
CREATE OR REPLACE FUNCTION keep_treatment_appointments_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO counter_changes (counter, practice_id, key, n)
  SELECT kept.counter, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT OLD.practice_id AS practice_id, -1 AS change
    UNION ALL SELECT NEW.practice_id, 1
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('treatment_appointments.all', 0, true)
  ) AS kept (counter, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_treatment_appointments_update AFTER UPDATE ON treatment_appointments FOR EACH ROW WHEN ((OLD.practice_id) IS DISTINCT FROM (NEW.practice_id)) EXECUTE FUNCTION keep_treatment_appointments_update();
CREATE OR REPLACE FUNCTION keep_treatment_appointments_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO counter_changes (counter, practice_id, key, n)
  SELECT counter, practice_id, key, -sum(n)
  FROM (SELECT counter, practice_id, key, n FROM counters UNION ALL SELECT counter, practice_id, key, n FROM counter_changes) AS kept
  WHERE counter LIKE 'treatment_appointments.%' GROUP BY 1, 2, 3 HAVING sum(n) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_treatment_appointments_truncate AFTER TRUNCATE ON treatment_appointments FOR EACH STATEMENT EXECUTE FUNCTION keep_treatment_appointments_truncate();
DELETE FROM counter_changes WHERE counter LIKE 'treatment_appointments.%';
DELETE FROM counters WHERE counter LIKE 'treatment_appointments.%';
