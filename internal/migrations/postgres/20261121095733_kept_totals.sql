-- Create "kept_totals" table
CREATE TABLE "kept_totals" (
  "total" character varying NOT NULL COLLATE "C",
  "practice_id" uuid NOT NULL,
  "key" bigint NOT NULL,
  "n" bigint NOT NULL,
  PRIMARY KEY ("total", "practice_id", "key")
);
-- Create "total_changes" table
CREATE TABLE "total_changes" (
  "total" character varying NOT NULL COLLATE "C",
  "practice_id" uuid NOT NULL,
  "key" bigint NOT NULL,
  "n" bigint NOT NULL
);
-- Create index "total_change_total_practice_id_key" to table: "total_changes"
CREATE INDEX "total_change_total_practice_id_key" ON "total_changes" ("total", "practice_id", "key");
CREATE OR REPLACE FUNCTION keep_appointments_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, cancelled_at, did_not_attend_at, practitioner_id, start_time, 1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('appointments.listed', 0, cancelled_at IS NULL AND did_not_attend_at IS NULL),
    ('appointments.practitioner', practitioner_id, cancelled_at IS NULL AND did_not_attend_at IS NULL),
    ('appointments.day', CAST((start_time AT TIME ZONE 'UTC')::date - DATE '1970-01-01' AS bigint), cancelled_at IS NULL AND did_not_attend_at IS NULL),
    ('appointments.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_appointments_insert AFTER INSERT ON appointments REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_appointments_insert();
CREATE OR REPLACE FUNCTION keep_appointments_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, cancelled_at, did_not_attend_at, practitioner_id, start_time, -1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('appointments.listed', 0, cancelled_at IS NULL AND did_not_attend_at IS NULL),
    ('appointments.practitioner', practitioner_id, cancelled_at IS NULL AND did_not_attend_at IS NULL),
    ('appointments.day', CAST((start_time AT TIME ZONE 'UTC')::date - DATE '1970-01-01' AS bigint), cancelled_at IS NULL AND did_not_attend_at IS NULL),
    ('appointments.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_appointments_delete AFTER DELETE ON appointments REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_appointments_delete();
CREATE OR REPLACE FUNCTION keep_appointments_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT OLD.practice_id AS practice_id, OLD.cancelled_at AS cancelled_at, OLD.did_not_attend_at AS did_not_attend_at, OLD.practitioner_id AS practitioner_id, OLD.start_time AS start_time, -1 AS change
    UNION ALL SELECT NEW.practice_id, NEW.cancelled_at, NEW.did_not_attend_at, NEW.practitioner_id, NEW.start_time, 1
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('appointments.listed', 0, cancelled_at IS NULL AND did_not_attend_at IS NULL),
    ('appointments.practitioner', practitioner_id, cancelled_at IS NULL AND did_not_attend_at IS NULL),
    ('appointments.day', CAST((start_time AT TIME ZONE 'UTC')::date - DATE '1970-01-01' AS bigint), cancelled_at IS NULL AND did_not_attend_at IS NULL),
    ('appointments.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_appointments_update AFTER UPDATE ON appointments FOR EACH ROW WHEN ((OLD.practice_id, OLD.cancelled_at, OLD.did_not_attend_at, OLD.practitioner_id, OLD.start_time) IS DISTINCT FROM (NEW.practice_id, NEW.cancelled_at, NEW.did_not_attend_at, NEW.practitioner_id, NEW.start_time)) EXECUTE FUNCTION keep_appointments_update();
CREATE OR REPLACE FUNCTION keep_appointments_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT total, practice_id, key, -sum(n)
  FROM (SELECT total, practice_id, key, n FROM kept_totals UNION ALL SELECT total, practice_id, key, n FROM total_changes) AS kept
  WHERE total LIKE 'appointments.%' GROUP BY 1, 2, 3 HAVING sum(n) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_appointments_truncate AFTER TRUNCATE ON appointments FOR EACH STATEMENT EXECUTE FUNCTION keep_appointments_truncate();
DELETE FROM total_changes WHERE total LIKE 'appointments.%';
DELETE FROM kept_totals WHERE total LIKE 'appointments.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.listed' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM appointments WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL) AS counted GROUP BY practice_id, key
  UNION ALL SELECT 'appointments.practitioner' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, practitioner_id AS key FROM appointments WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL) AS counted GROUP BY practice_id, key
  UNION ALL SELECT 'appointments.day' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, CAST((start_time AT TIME ZONE 'UTC')::date - DATE '1970-01-01' AS bigint) AS key FROM appointments WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL) AS counted GROUP BY practice_id, key
  UNION ALL SELECT 'appointments.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM appointments WHERE true) AS counted GROUP BY practice_id, key;
CREATE OR REPLACE FUNCTION keep_invoices_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, 1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('invoices.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_invoices_insert AFTER INSERT ON invoices REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_invoices_insert();
CREATE OR REPLACE FUNCTION keep_invoices_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, -1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('invoices.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_invoices_delete AFTER DELETE ON invoices REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_invoices_delete();
CREATE OR REPLACE FUNCTION keep_invoices_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT OLD.practice_id AS practice_id, -1 AS change
    UNION ALL SELECT NEW.practice_id, 1
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('invoices.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_invoices_update AFTER UPDATE ON invoices FOR EACH ROW WHEN ((OLD.practice_id) IS DISTINCT FROM (NEW.practice_id)) EXECUTE FUNCTION keep_invoices_update();
CREATE OR REPLACE FUNCTION keep_invoices_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT total, practice_id, key, -sum(n)
  FROM (SELECT total, practice_id, key, n FROM kept_totals UNION ALL SELECT total, practice_id, key, n FROM total_changes) AS kept
  WHERE total LIKE 'invoices.%' GROUP BY 1, 2, 3 HAVING sum(n) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_invoices_truncate AFTER TRUNCATE ON invoices FOR EACH STATEMENT EXECUTE FUNCTION keep_invoices_truncate();
DELETE FROM total_changes WHERE total LIKE 'invoices.%';
DELETE FROM kept_totals WHERE total LIKE 'invoices.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'invoices.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM invoices WHERE true) AS counted GROUP BY practice_id, key;
CREATE OR REPLACE FUNCTION keep_invoice_items_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, 1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('invoice_items.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_invoice_items_insert AFTER INSERT ON invoice_items REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_invoice_items_insert();
CREATE OR REPLACE FUNCTION keep_invoice_items_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, -1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('invoice_items.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_invoice_items_delete AFTER DELETE ON invoice_items REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_invoice_items_delete();
CREATE OR REPLACE FUNCTION keep_invoice_items_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT OLD.practice_id AS practice_id, -1 AS change
    UNION ALL SELECT NEW.practice_id, 1
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('invoice_items.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_invoice_items_update AFTER UPDATE ON invoice_items FOR EACH ROW WHEN ((OLD.practice_id) IS DISTINCT FROM (NEW.practice_id)) EXECUTE FUNCTION keep_invoice_items_update();
CREATE OR REPLACE FUNCTION keep_invoice_items_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT total, practice_id, key, -sum(n)
  FROM (SELECT total, practice_id, key, n FROM kept_totals UNION ALL SELECT total, practice_id, key, n FROM total_changes) AS kept
  WHERE total LIKE 'invoice_items.%' GROUP BY 1, 2, 3 HAVING sum(n) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_invoice_items_truncate AFTER TRUNCATE ON invoice_items FOR EACH STATEMENT EXECUTE FUNCTION keep_invoice_items_truncate();
DELETE FROM total_changes WHERE total LIKE 'invoice_items.%';
DELETE FROM kept_totals WHERE total LIKE 'invoice_items.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'invoice_items.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM invoice_items WHERE true) AS counted GROUP BY practice_id, key;
CREATE OR REPLACE FUNCTION keep_nhs_claims_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, 1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('nhs_claims.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_nhs_claims_insert AFTER INSERT ON nhs_claims REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_nhs_claims_insert();
CREATE OR REPLACE FUNCTION keep_nhs_claims_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, -1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('nhs_claims.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_nhs_claims_delete AFTER DELETE ON nhs_claims REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_nhs_claims_delete();
CREATE OR REPLACE FUNCTION keep_nhs_claims_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT OLD.practice_id AS practice_id, -1 AS change
    UNION ALL SELECT NEW.practice_id, 1
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('nhs_claims.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_nhs_claims_update AFTER UPDATE ON nhs_claims FOR EACH ROW WHEN ((OLD.practice_id) IS DISTINCT FROM (NEW.practice_id)) EXECUTE FUNCTION keep_nhs_claims_update();
CREATE OR REPLACE FUNCTION keep_nhs_claims_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT total, practice_id, key, -sum(n)
  FROM (SELECT total, practice_id, key, n FROM kept_totals UNION ALL SELECT total, practice_id, key, n FROM total_changes) AS kept
  WHERE total LIKE 'nhs_claims.%' GROUP BY 1, 2, 3 HAVING sum(n) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_nhs_claims_truncate AFTER TRUNCATE ON nhs_claims FOR EACH STATEMENT EXECUTE FUNCTION keep_nhs_claims_truncate();
DELETE FROM total_changes WHERE total LIKE 'nhs_claims.%';
DELETE FROM kept_totals WHERE total LIKE 'nhs_claims.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'nhs_claims.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM nhs_claims WHERE true) AS counted GROUP BY practice_id, key;
CREATE OR REPLACE FUNCTION keep_patients_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, 1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('patients.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_patients_insert AFTER INSERT ON patients REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_patients_insert();
CREATE OR REPLACE FUNCTION keep_patients_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, -1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('patients.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_patients_delete AFTER DELETE ON patients REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_patients_delete();
CREATE OR REPLACE FUNCTION keep_patients_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT OLD.practice_id AS practice_id, -1 AS change
    UNION ALL SELECT NEW.practice_id, 1
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('patients.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_patients_update AFTER UPDATE ON patients FOR EACH ROW WHEN ((OLD.practice_id) IS DISTINCT FROM (NEW.practice_id)) EXECUTE FUNCTION keep_patients_update();
CREATE OR REPLACE FUNCTION keep_patients_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT total, practice_id, key, -sum(n)
  FROM (SELECT total, practice_id, key, n FROM kept_totals UNION ALL SELECT total, practice_id, key, n FROM total_changes) AS kept
  WHERE total LIKE 'patients.%' GROUP BY 1, 2, 3 HAVING sum(n) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_patients_truncate AFTER TRUNCATE ON patients FOR EACH STATEMENT EXECUTE FUNCTION keep_patients_truncate();
DELETE FROM total_changes WHERE total LIKE 'patients.%';
DELETE FROM kept_totals WHERE total LIKE 'patients.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'patients.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM patients WHERE true) AS counted GROUP BY practice_id, key;
CREATE OR REPLACE FUNCTION keep_payments_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, 1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('payments.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_payments_insert AFTER INSERT ON payments REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_payments_insert();
CREATE OR REPLACE FUNCTION keep_payments_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, -1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('payments.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_payments_delete AFTER DELETE ON payments REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_payments_delete();
CREATE OR REPLACE FUNCTION keep_payments_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT OLD.practice_id AS practice_id, -1 AS change
    UNION ALL SELECT NEW.practice_id, 1
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('payments.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_payments_update AFTER UPDATE ON payments FOR EACH ROW WHEN ((OLD.practice_id) IS DISTINCT FROM (NEW.practice_id)) EXECUTE FUNCTION keep_payments_update();
CREATE OR REPLACE FUNCTION keep_payments_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT total, practice_id, key, -sum(n)
  FROM (SELECT total, practice_id, key, n FROM kept_totals UNION ALL SELECT total, practice_id, key, n FROM total_changes) AS kept
  WHERE total LIKE 'payments.%' GROUP BY 1, 2, 3 HAVING sum(n) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_payments_truncate AFTER TRUNCATE ON payments FOR EACH STATEMENT EXECUTE FUNCTION keep_payments_truncate();
DELETE FROM total_changes WHERE total LIKE 'payments.%';
DELETE FROM kept_totals WHERE total LIKE 'payments.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'payments.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM payments WHERE true) AS counted GROUP BY practice_id, key;
CREATE OR REPLACE FUNCTION keep_treatment_plans_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, 1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('treatment_plans.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_treatment_plans_insert AFTER INSERT ON treatment_plans REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_treatment_plans_insert();
CREATE OR REPLACE FUNCTION keep_treatment_plans_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, -1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('treatment_plans.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_treatment_plans_delete AFTER DELETE ON treatment_plans REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_treatment_plans_delete();
CREATE OR REPLACE FUNCTION keep_treatment_plans_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT OLD.practice_id AS practice_id, -1 AS change
    UNION ALL SELECT NEW.practice_id, 1
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('treatment_plans.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_treatment_plans_update AFTER UPDATE ON treatment_plans FOR EACH ROW WHEN ((OLD.practice_id) IS DISTINCT FROM (NEW.practice_id)) EXECUTE FUNCTION keep_treatment_plans_update();
CREATE OR REPLACE FUNCTION keep_treatment_plans_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT total, practice_id, key, -sum(n)
  FROM (SELECT total, practice_id, key, n FROM kept_totals UNION ALL SELECT total, practice_id, key, n FROM total_changes) AS kept
  WHERE total LIKE 'treatment_plans.%' GROUP BY 1, 2, 3 HAVING sum(n) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_treatment_plans_truncate AFTER TRUNCATE ON treatment_plans FOR EACH STATEMENT EXECUTE FUNCTION keep_treatment_plans_truncate();
DELETE FROM total_changes WHERE total LIKE 'treatment_plans.%';
DELETE FROM kept_totals WHERE total LIKE 'treatment_plans.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'treatment_plans.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM treatment_plans WHERE true) AS counted GROUP BY practice_id, key;
CREATE OR REPLACE FUNCTION keep_treatment_plan_items_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, 1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('treatment_plan_items.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_treatment_plan_items_insert AFTER INSERT ON treatment_plan_items REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_treatment_plan_items_insert();
CREATE OR REPLACE FUNCTION keep_treatment_plan_items_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT practice_id, -1 AS change FROM written
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('treatment_plan_items.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_treatment_plan_items_delete AFTER DELETE ON treatment_plan_items REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION keep_treatment_plan_items_delete();
CREATE OR REPLACE FUNCTION keep_treatment_plan_items_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT kept.total, changed.practice_id, kept.key, sum(changed.change)
  FROM (
    SELECT OLD.practice_id AS practice_id, -1 AS change
    UNION ALL SELECT NEW.practice_id, 1
  ) AS changed CROSS JOIN LATERAL (VALUES
    ('treatment_plan_items.all', 0, true)
  ) AS kept (total, key, counts)
  WHERE kept.counts GROUP BY 1, 2, 3 HAVING sum(changed.change) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_treatment_plan_items_update AFTER UPDATE ON treatment_plan_items FOR EACH ROW WHEN ((OLD.practice_id) IS DISTINCT FROM (NEW.practice_id)) EXECUTE FUNCTION keep_treatment_plan_items_update();
CREATE OR REPLACE FUNCTION keep_treatment_plan_items_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO total_changes (total, practice_id, key, n)
  SELECT total, practice_id, key, -sum(n)
  FROM (SELECT total, practice_id, key, n FROM kept_totals UNION ALL SELECT total, practice_id, key, n FROM total_changes) AS kept
  WHERE total LIKE 'treatment_plan_items.%' GROUP BY 1, 2, 3 HAVING sum(n) <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER keep_treatment_plan_items_truncate AFTER TRUNCATE ON treatment_plan_items FOR EACH STATEMENT EXECUTE FUNCTION keep_treatment_plan_items_truncate();
DELETE FROM total_changes WHERE total LIKE 'treatment_plan_items.%';
DELETE FROM kept_totals WHERE total LIKE 'treatment_plan_items.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'treatment_plan_items.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM treatment_plan_items WHERE true) AS counted GROUP BY practice_id, key;
