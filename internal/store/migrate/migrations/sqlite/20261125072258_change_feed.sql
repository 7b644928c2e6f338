-- Create "feed_changes" table
CREATE TABLE `feed_changes` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `practice_id` uuid NOT NULL,
  `seq` integer NULL,
  `at` datetime NOT NULL,
  `resource` text NOT NULL,
  `record_id` text NOT NULL,
  `event` text NOT NULL,
  `site_key` text NULL,
  `origin` integer NOT NULL,
  CONSTRAINT `feed_changes_event_check` CHECK (CAST(event AS text) IN ('created', 'updated', 'deleted'))
);
-- Create index "feedchange_practice_id_seq" to table: "feed_changes"
CREATE INDEX `feedchange_practice_id_seq` ON `feed_changes` (`practice_id`, `seq`) WHERE seq IS NOT NULL;
-- Create index "feedchange_unnumbered" to table: "feed_changes"
CREATE INDEX `feedchange_unnumbered` ON `feed_changes` (`id`) WHERE seq IS NULL;
-- Create "feed_state" table
CREATE TABLE `feed_state` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `last_seq` integer NOT NULL,
  `swept_seq` integer NOT NULL,
  `epoch` text NOT NULL
);
INSERT INTO feed_state (id, last_seq, swept_seq, epoch) VALUES (1, 0, 0, lower(hex(randomblob(16)))) ON CONFLICT DO NOTHING;
CREATE TRIGGER feed_accounts_insert AFTER INSERT ON accounts BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'accounts', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_accounts_update AFTER UPDATE ON accounts BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'accounts', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_accounts_delete AFTER DELETE ON accounts BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'accounts', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, CAST(OLD.patient_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_acquisition_sources_insert AFTER INSERT ON acquisition_sources BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'acquisition_sources', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_acquisition_sources_update AFTER UPDATE ON acquisition_sources BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'acquisition_sources', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_acquisition_sources_delete AFTER DELETE ON acquisition_sources BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'acquisition_sources', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_appointments_insert AFTER INSERT ON appointments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'appointments', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_appointments_update AFTER UPDATE ON appointments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'appointments', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_appointments_delete AFTER DELETE ON appointments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'appointments', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, CAST(OLD.practitioner_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_appointment_reasons_insert AFTER INSERT ON appointment_reasons BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'appointment_reasons', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_appointment_reasons_update AFTER UPDATE ON appointment_reasons BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'appointment_reasons', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_appointment_reasons_delete AFTER DELETE ON appointment_reasons BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'appointment_reasons', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_contracts_insert AFTER INSERT ON contracts BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'contracts', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_contracts_update AFTER UPDATE ON contracts BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'contracts', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_contracts_delete AFTER DELETE ON contracts BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'contracts', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_custom_fields_insert AFTER INSERT ON custom_fields BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'custom_fields', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_custom_fields_update AFTER UPDATE ON custom_fields BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'custom_fields', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_custom_fields_delete AFTER DELETE ON custom_fields BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'custom_fields', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_custom_field_answers_insert AFTER INSERT ON custom_field_answers BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE NEW.patient_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'patients', CAST(NEW.patient_id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state WHERE NEW.patient_id IS NOT NULL;
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE NEW.treatment_plan_item_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_plan_items', CAST(NEW.treatment_plan_item_id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state WHERE NEW.treatment_plan_item_id IS NOT NULL;
END;
CREATE TRIGGER feed_custom_field_answers_update AFTER UPDATE ON custom_field_answers BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE NEW.patient_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'patients', CAST(NEW.patient_id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state WHERE NEW.patient_id IS NOT NULL;
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE OLD.patient_id IS NOT NULL AND OLD.patient_id IS NOT NEW.patient_id;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'patients', CAST(OLD.patient_id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state WHERE OLD.patient_id IS NOT NULL AND OLD.patient_id IS NOT NEW.patient_id;
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE NEW.treatment_plan_item_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_plan_items', CAST(NEW.treatment_plan_item_id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state WHERE NEW.treatment_plan_item_id IS NOT NULL;
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE OLD.treatment_plan_item_id IS NOT NULL AND OLD.treatment_plan_item_id IS NOT NEW.treatment_plan_item_id;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'treatment_plan_items', CAST(OLD.treatment_plan_item_id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state WHERE OLD.treatment_plan_item_id IS NOT NULL AND OLD.treatment_plan_item_id IS NOT NEW.treatment_plan_item_id;
END;
CREATE TRIGGER feed_custom_field_answers_delete AFTER DELETE ON custom_field_answers BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE OLD.patient_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'patients', CAST(OLD.patient_id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state WHERE OLD.patient_id IS NOT NULL;
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE OLD.treatment_plan_item_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'treatment_plan_items', CAST(OLD.treatment_plan_item_id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state WHERE OLD.treatment_plan_item_id IS NOT NULL;
END;
CREATE TRIGGER feed_fees_insert AFTER INSERT ON fees BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'fees', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_fees_update AFTER UPDATE ON fees BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'fees', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_fees_delete AFTER DELETE ON fees BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'fees', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_invoices_insert AFTER INSERT ON invoices BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'invoices', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_invoices_update AFTER UPDATE ON invoices BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'invoices', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_invoices_delete AFTER DELETE ON invoices BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'invoices', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_invoice_items_insert AFTER INSERT ON invoice_items BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'invoice_items', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_invoice_items_update AFTER UPDATE ON invoice_items BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'invoice_items', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_invoice_items_delete AFTER DELETE ON invoice_items BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'invoice_items', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, CAST(OLD.invoice_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_nhs_claims_insert AFTER INSERT ON nhs_claims BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'nhs_claims', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_nhs_claims_update AFTER UPDATE ON nhs_claims BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'nhs_claims', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_nhs_claims_delete AFTER DELETE ON nhs_claims BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'nhs_claims', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, CAST(OLD.practitioner_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_patients_insert AFTER INSERT ON patients BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'patients', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_patients_update AFTER UPDATE ON patients BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'patients', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_patients_delete AFTER DELETE ON patients BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'patients', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_payments_insert AFTER INSERT ON payments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'payments', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_payments_update AFTER UPDATE ON payments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'payments', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_payments_delete AFTER DELETE ON payments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'payments', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_payment_explanations_insert AFTER INSERT ON payment_explanations BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE NEW.payment_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'payments', CAST(NEW.payment_id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state WHERE NEW.payment_id IS NOT NULL;
END;
CREATE TRIGGER feed_payment_explanations_update AFTER UPDATE ON payment_explanations BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE NEW.payment_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'payments', CAST(NEW.payment_id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state WHERE NEW.payment_id IS NOT NULL;
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE OLD.payment_id IS NOT NULL AND OLD.payment_id IS NOT NEW.payment_id;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'payments', CAST(OLD.payment_id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state WHERE OLD.payment_id IS NOT NULL AND OLD.payment_id IS NOT NEW.payment_id;
END;
CREATE TRIGGER feed_payment_explanations_delete AFTER DELETE ON payment_explanations BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE OLD.payment_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'payments', CAST(OLD.payment_id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state WHERE OLD.payment_id IS NOT NULL;
END;
CREATE TRIGGER feed_payment_plans_insert AFTER INSERT ON payment_plans BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'payment_plans', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_payment_plans_update AFTER UPDATE ON payment_plans BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'payment_plans', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_payment_plans_delete AFTER DELETE ON payment_plans BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'payment_plans', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_practitioners_insert AFTER INSERT ON practitioners BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'practitioners', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_practitioners_update AFTER UPDATE ON practitioners BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'practitioners', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_practitioners_delete AFTER DELETE ON practitioners BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'practitioners', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_rooms_insert AFTER INSERT ON rooms BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'rooms', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_rooms_update AFTER UPDATE ON rooms BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'rooms', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_rooms_delete AFTER DELETE ON rooms BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'rooms', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_sites_insert AFTER INSERT ON sites BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'sites', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_sites_update AFTER UPDATE ON sites BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'sites', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_sites_delete AFTER DELETE ON sites BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'sites', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, CAST(OLD.id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_sundries_insert AFTER INSERT ON sundries BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'sundries', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_sundries_update AFTER UPDATE ON sundries BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'sundries', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_sundries_delete AFTER DELETE ON sundries BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'sundries', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatments_insert AFTER INSERT ON treatments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatments', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatments_update AFTER UPDATE ON treatments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatments', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatments_delete AFTER DELETE ON treatments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'treatments', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_categories_insert AFTER INSERT ON treatment_categories BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_categories', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_categories_update AFTER UPDATE ON treatment_categories BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_categories', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_categories_delete AFTER DELETE ON treatment_categories BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'treatment_categories', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_plans_insert AFTER INSERT ON treatment_plans BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_plans', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_plans_update AFTER UPDATE ON treatment_plans BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_plans', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_plans_delete AFTER DELETE ON treatment_plans BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'treatment_plans', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, CAST(OLD.patient_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_plan_items_insert AFTER INSERT ON treatment_plan_items BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_plan_items', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_plan_items_update AFTER UPDATE ON treatment_plan_items BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_plan_items', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_plan_items_delete AFTER DELETE ON treatment_plan_items BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'treatment_plan_items', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, CAST(OLD.patient_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_users_insert AFTER INSERT ON users BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'users', CAST(NEW.id AS text), 'created', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_users_update AFTER UPDATE ON users WHEN (OLD.created_at, OLD.title, OLD.first_name, OLD.last_name, OLD.email, OLD.mobile_phone, OLD.role, OLD.site_id, OLD.active) IS NOT (NEW.created_at, NEW.title, NEW.first_name, NEW.last_name, NEW.email, NEW.mobile_phone, NEW.role, NEW.site_id, NEW.active) BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'users', CAST(NEW.id AS text), 'updated', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_users_delete AFTER DELETE ON users BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'users', CAST(OLD.id AS text), 'deleted', CAST(unixepoch('subsec') * 1000 AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0) FROM feed_state;
END;
