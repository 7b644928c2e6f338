-- Create "kept_totals" table
CREATE TABLE `kept_totals` (
  `total` text NOT NULL,
  `practice_id` uuid NOT NULL,
  `key` integer NOT NULL,
  `n` integer NOT NULL,
  PRIMARY KEY (`total`, `practice_id`, `key`)
);
CREATE TRIGGER keep_appointments_insert AFTER INSERT ON appointments BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.listed', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id, NEW.cancelled_at AS cancelled_at, NEW.did_not_attend_at AS did_not_attend_at) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.practitioner', practice_id, practitioner_id, 1 FROM (SELECT NEW.practice_id AS practice_id, NEW.cancelled_at AS cancelled_at, NEW.did_not_attend_at AS did_not_attend_at, NEW.practitioner_id AS practitioner_id) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.day', practice_id, (start_time - (start_time % 86400000000 + 86400000000) % 86400000000) / 86400000000, 1 FROM (SELECT NEW.practice_id AS practice_id, NEW.cancelled_at AS cancelled_at, NEW.did_not_attend_at AS did_not_attend_at, NEW.start_time AS start_time) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_appointments_delete AFTER DELETE ON appointments BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.listed', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id, OLD.cancelled_at AS cancelled_at, OLD.did_not_attend_at AS did_not_attend_at) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.practitioner', practice_id, practitioner_id, -1 FROM (SELECT OLD.practice_id AS practice_id, OLD.cancelled_at AS cancelled_at, OLD.did_not_attend_at AS did_not_attend_at, OLD.practitioner_id AS practitioner_id) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.day', practice_id, (start_time - (start_time % 86400000000 + 86400000000) % 86400000000) / 86400000000, -1 FROM (SELECT OLD.practice_id AS practice_id, OLD.cancelled_at AS cancelled_at, OLD.did_not_attend_at AS did_not_attend_at, OLD.start_time AS start_time) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_appointments_update AFTER UPDATE ON appointments WHEN (OLD.practice_id, OLD.cancelled_at, OLD.did_not_attend_at, OLD.practitioner_id, OLD.start_time) IS NOT (NEW.practice_id, NEW.cancelled_at, NEW.did_not_attend_at, NEW.practitioner_id, NEW.start_time) BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.listed', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id, OLD.cancelled_at AS cancelled_at, OLD.did_not_attend_at AS did_not_attend_at) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.practitioner', practice_id, practitioner_id, -1 FROM (SELECT OLD.practice_id AS practice_id, OLD.cancelled_at AS cancelled_at, OLD.did_not_attend_at AS did_not_attend_at, OLD.practitioner_id AS practitioner_id) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.day', practice_id, (start_time - (start_time % 86400000000 + 86400000000) % 86400000000) / 86400000000, -1 FROM (SELECT OLD.practice_id AS practice_id, OLD.cancelled_at AS cancelled_at, OLD.did_not_attend_at AS did_not_attend_at, OLD.start_time AS start_time) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.listed', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id, NEW.cancelled_at AS cancelled_at, NEW.did_not_attend_at AS did_not_attend_at) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.practitioner', practice_id, practitioner_id, 1 FROM (SELECT NEW.practice_id AS practice_id, NEW.cancelled_at AS cancelled_at, NEW.did_not_attend_at AS did_not_attend_at, NEW.practitioner_id AS practitioner_id) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.day', practice_id, (start_time - (start_time % 86400000000 + 86400000000) % 86400000000) / 86400000000, 1 FROM (SELECT NEW.practice_id AS practice_id, NEW.cancelled_at AS cancelled_at, NEW.did_not_attend_at AS did_not_attend_at, NEW.start_time AS start_time) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
DELETE FROM kept_totals WHERE total LIKE 'appointments.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'appointments.listed' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM appointments WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL) AS counted GROUP BY practice_id, key
  UNION ALL SELECT 'appointments.practitioner' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, practitioner_id AS key FROM appointments WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL) AS counted GROUP BY practice_id, key
  UNION ALL SELECT 'appointments.day' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, (start_time - (start_time % 86400000000 + 86400000000) % 86400000000) / 86400000000 AS key FROM appointments WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL) AS counted GROUP BY practice_id, key
  UNION ALL SELECT 'appointments.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM appointments WHERE true) AS counted GROUP BY practice_id, key;
CREATE TRIGGER keep_invoices_insert AFTER INSERT ON invoices BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'invoices.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_invoices_delete AFTER DELETE ON invoices BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'invoices.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_invoices_update AFTER UPDATE ON invoices WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'invoices.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'invoices.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
DELETE FROM kept_totals WHERE total LIKE 'invoices.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'invoices.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM invoices WHERE true) AS counted GROUP BY practice_id, key;
CREATE TRIGGER keep_invoice_items_insert AFTER INSERT ON invoice_items BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'invoice_items.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_invoice_items_delete AFTER DELETE ON invoice_items BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'invoice_items.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_invoice_items_update AFTER UPDATE ON invoice_items WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'invoice_items.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'invoice_items.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
DELETE FROM kept_totals WHERE total LIKE 'invoice_items.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'invoice_items.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM invoice_items WHERE true) AS counted GROUP BY practice_id, key;
CREATE TRIGGER keep_nhs_claims_insert AFTER INSERT ON nhs_claims BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'nhs_claims.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_nhs_claims_delete AFTER DELETE ON nhs_claims BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'nhs_claims.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_nhs_claims_update AFTER UPDATE ON nhs_claims WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'nhs_claims.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'nhs_claims.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
DELETE FROM kept_totals WHERE total LIKE 'nhs_claims.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'nhs_claims.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM nhs_claims WHERE true) AS counted GROUP BY practice_id, key;
CREATE TRIGGER keep_patients_insert AFTER INSERT ON patients BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'patients.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_patients_delete AFTER DELETE ON patients BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'patients.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_patients_update AFTER UPDATE ON patients WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'patients.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'patients.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
DELETE FROM kept_totals WHERE total LIKE 'patients.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'patients.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM patients WHERE true) AS counted GROUP BY practice_id, key;
CREATE TRIGGER keep_payments_insert AFTER INSERT ON payments BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'payments.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_payments_delete AFTER DELETE ON payments BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'payments.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_payments_update AFTER UPDATE ON payments WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'payments.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'payments.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
DELETE FROM kept_totals WHERE total LIKE 'payments.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'payments.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM payments WHERE true) AS counted GROUP BY practice_id, key;
CREATE TRIGGER keep_treatment_plans_insert AFTER INSERT ON treatment_plans BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'treatment_plans.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_treatment_plans_delete AFTER DELETE ON treatment_plans BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'treatment_plans.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_treatment_plans_update AFTER UPDATE ON treatment_plans WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'treatment_plans.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'treatment_plans.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
DELETE FROM kept_totals WHERE total LIKE 'treatment_plans.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'treatment_plans.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM treatment_plans WHERE true) AS counted GROUP BY practice_id, key;
CREATE TRIGGER keep_treatment_plan_items_insert AFTER INSERT ON treatment_plan_items BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'treatment_plan_items.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_treatment_plan_items_delete AFTER DELETE ON treatment_plan_items BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'treatment_plan_items.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_treatment_plan_items_update AFTER UPDATE ON treatment_plan_items WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'treatment_plan_items.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'treatment_plan_items.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (total, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
DELETE FROM kept_totals WHERE total LIKE 'treatment_plan_items.%';
INSERT INTO kept_totals (total, practice_id, key, n)
  SELECT 'treatment_plan_items.all' AS total, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM treatment_plan_items WHERE true) AS counted GROUP BY practice_id, key;
