INSERT INTO feed_state (id, last_seq, swept_seq, epoch) VALUES (1, 0, 0, CAST(gen_random_uuid() AS text)) ON CONFLICT DO NOTHING;
CREATE OR REPLACE FUNCTION feed_accounts_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'accounts', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_accounts_insert AFTER INSERT ON accounts REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_accounts_insert();
CREATE OR REPLACE FUNCTION feed_accounts_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'accounts', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_accounts_update AFTER UPDATE ON accounts REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_accounts_update();
CREATE OR REPLACE FUNCTION feed_accounts_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'accounts', CAST(written.id AS text), 'deleted', now(), CAST(written.patient_id AS text), txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_accounts_delete AFTER DELETE ON accounts REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_accounts_delete();
CREATE OR REPLACE FUNCTION feed_accounts_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_accounts_truncate AFTER TRUNCATE ON accounts FOR EACH STATEMENT EXECUTE FUNCTION feed_accounts_truncate();
CREATE OR REPLACE FUNCTION feed_acquisition_sources_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'acquisition_sources', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_acquisition_sources_insert AFTER INSERT ON acquisition_sources REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_acquisition_sources_insert();
CREATE OR REPLACE FUNCTION feed_acquisition_sources_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'acquisition_sources', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_acquisition_sources_update AFTER UPDATE ON acquisition_sources REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_acquisition_sources_update();
CREATE OR REPLACE FUNCTION feed_acquisition_sources_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'acquisition_sources', CAST(written.id AS text), 'deleted', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_acquisition_sources_delete AFTER DELETE ON acquisition_sources REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_acquisition_sources_delete();
CREATE OR REPLACE FUNCTION feed_acquisition_sources_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_acquisition_sources_truncate AFTER TRUNCATE ON acquisition_sources FOR EACH STATEMENT EXECUTE FUNCTION feed_acquisition_sources_truncate();
CREATE OR REPLACE FUNCTION feed_appointments_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'appointments', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_appointments_insert AFTER INSERT ON appointments REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_appointments_insert();
CREATE OR REPLACE FUNCTION feed_appointments_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'appointments', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_appointments_update AFTER UPDATE ON appointments REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_appointments_update();
CREATE OR REPLACE FUNCTION feed_appointments_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'appointments', CAST(written.id AS text), 'deleted', now(), CAST(written.practitioner_id AS text), txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_appointments_delete AFTER DELETE ON appointments REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_appointments_delete();
CREATE OR REPLACE FUNCTION feed_appointments_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_appointments_truncate AFTER TRUNCATE ON appointments FOR EACH STATEMENT EXECUTE FUNCTION feed_appointments_truncate();
CREATE OR REPLACE FUNCTION feed_appointment_reasons_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'appointment_reasons', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_appointment_reasons_insert AFTER INSERT ON appointment_reasons REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_appointment_reasons_insert();
CREATE OR REPLACE FUNCTION feed_appointment_reasons_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'appointment_reasons', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_appointment_reasons_update AFTER UPDATE ON appointment_reasons REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_appointment_reasons_update();
CREATE OR REPLACE FUNCTION feed_appointment_reasons_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'appointment_reasons', CAST(written.id AS text), 'deleted', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_appointment_reasons_delete AFTER DELETE ON appointment_reasons REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_appointment_reasons_delete();
CREATE OR REPLACE FUNCTION feed_appointment_reasons_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_appointment_reasons_truncate AFTER TRUNCATE ON appointment_reasons FOR EACH STATEMENT EXECUTE FUNCTION feed_appointment_reasons_truncate();
CREATE OR REPLACE FUNCTION feed_contracts_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'contracts', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_contracts_insert AFTER INSERT ON contracts REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_contracts_insert();
CREATE OR REPLACE FUNCTION feed_contracts_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'contracts', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_contracts_update AFTER UPDATE ON contracts REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_contracts_update();
CREATE OR REPLACE FUNCTION feed_contracts_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'contracts', CAST(written.id AS text), 'deleted', now(), CAST(written.site_id AS text), txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_contracts_delete AFTER DELETE ON contracts REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_contracts_delete();
CREATE OR REPLACE FUNCTION feed_contracts_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_contracts_truncate AFTER TRUNCATE ON contracts FOR EACH STATEMENT EXECUTE FUNCTION feed_contracts_truncate();
CREATE OR REPLACE FUNCTION feed_custom_fields_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'custom_fields', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_custom_fields_insert AFTER INSERT ON custom_fields REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_custom_fields_insert();
CREATE OR REPLACE FUNCTION feed_custom_fields_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'custom_fields', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_custom_fields_update AFTER UPDATE ON custom_fields REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_custom_fields_update();
CREATE OR REPLACE FUNCTION feed_custom_fields_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'custom_fields', CAST(written.id AS text), 'deleted', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_custom_fields_delete AFTER DELETE ON custom_fields REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_custom_fields_delete();
CREATE OR REPLACE FUNCTION feed_custom_fields_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_custom_fields_truncate AFTER TRUNCATE ON custom_fields FOR EACH STATEMENT EXECUTE FUNCTION feed_custom_fields_truncate();
CREATE OR REPLACE FUNCTION feed_custom_field_answers_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'patients', CAST(written.patient_id AS text), 'updated', now(), NULL, txid_current() FROM (SELECT DISTINCT practice_id, patient_id FROM written) AS written WHERE written.patient_id IS NOT NULL;
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'treatment_plan_items', CAST(written.treatment_plan_item_id AS text), 'updated', now(), NULL, txid_current() FROM (SELECT DISTINCT practice_id, treatment_plan_item_id FROM written) AS written WHERE written.treatment_plan_item_id IS NOT NULL;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_custom_field_answers_insert AFTER INSERT ON custom_field_answers REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_custom_field_answers_insert();
CREATE OR REPLACE FUNCTION feed_custom_field_answers_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'patients', CAST(written.patient_id AS text), 'updated', now(), NULL, txid_current() FROM (SELECT practice_id, patient_id FROM written UNION SELECT practice_id, patient_id FROM before) AS written WHERE written.patient_id IS NOT NULL;
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'treatment_plan_items', CAST(written.treatment_plan_item_id AS text), 'updated', now(), NULL, txid_current() FROM (SELECT practice_id, treatment_plan_item_id FROM written UNION SELECT practice_id, treatment_plan_item_id FROM before) AS written WHERE written.treatment_plan_item_id IS NOT NULL;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_custom_field_answers_update AFTER UPDATE ON custom_field_answers REFERENCING OLD TABLE AS before NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_custom_field_answers_update();
CREATE OR REPLACE FUNCTION feed_custom_field_answers_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'patients', CAST(written.patient_id AS text), 'updated', now(), NULL, txid_current() FROM (SELECT DISTINCT practice_id, patient_id FROM written) AS written WHERE written.patient_id IS NOT NULL;
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'treatment_plan_items', CAST(written.treatment_plan_item_id AS text), 'updated', now(), NULL, txid_current() FROM (SELECT DISTINCT practice_id, treatment_plan_item_id FROM written) AS written WHERE written.treatment_plan_item_id IS NOT NULL;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_custom_field_answers_delete AFTER DELETE ON custom_field_answers REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_custom_field_answers_delete();
CREATE OR REPLACE FUNCTION feed_custom_field_answers_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_custom_field_answers_truncate AFTER TRUNCATE ON custom_field_answers FOR EACH STATEMENT EXECUTE FUNCTION feed_custom_field_answers_truncate();
CREATE OR REPLACE FUNCTION feed_fees_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'fees', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_fees_insert AFTER INSERT ON fees REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_fees_insert();
CREATE OR REPLACE FUNCTION feed_fees_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'fees', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_fees_update AFTER UPDATE ON fees REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_fees_update();
CREATE OR REPLACE FUNCTION feed_fees_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'fees', CAST(written.id AS text), 'deleted', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_fees_delete AFTER DELETE ON fees REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_fees_delete();
CREATE OR REPLACE FUNCTION feed_fees_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_fees_truncate AFTER TRUNCATE ON fees FOR EACH STATEMENT EXECUTE FUNCTION feed_fees_truncate();
CREATE OR REPLACE FUNCTION feed_invoices_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'invoices', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_invoices_insert AFTER INSERT ON invoices REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_invoices_insert();
CREATE OR REPLACE FUNCTION feed_invoices_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'invoices', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_invoices_update AFTER UPDATE ON invoices REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_invoices_update();
CREATE OR REPLACE FUNCTION feed_invoices_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'invoices', CAST(written.id AS text), 'deleted', now(), CAST(written.site_id AS text), txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_invoices_delete AFTER DELETE ON invoices REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_invoices_delete();
CREATE OR REPLACE FUNCTION feed_invoices_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_invoices_truncate AFTER TRUNCATE ON invoices FOR EACH STATEMENT EXECUTE FUNCTION feed_invoices_truncate();
CREATE OR REPLACE FUNCTION feed_invoice_items_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'invoice_items', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_invoice_items_insert AFTER INSERT ON invoice_items REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_invoice_items_insert();
CREATE OR REPLACE FUNCTION feed_invoice_items_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'invoice_items', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_invoice_items_update AFTER UPDATE ON invoice_items REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_invoice_items_update();
CREATE OR REPLACE FUNCTION feed_invoice_items_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'invoice_items', CAST(written.id AS text), 'deleted', now(), CAST(written.invoice_id AS text), txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_invoice_items_delete AFTER DELETE ON invoice_items REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_invoice_items_delete();
CREATE OR REPLACE FUNCTION feed_invoice_items_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_invoice_items_truncate AFTER TRUNCATE ON invoice_items FOR EACH STATEMENT EXECUTE FUNCTION feed_invoice_items_truncate();
CREATE OR REPLACE FUNCTION feed_nhs_claims_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'nhs_claims', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_nhs_claims_insert AFTER INSERT ON nhs_claims REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_nhs_claims_insert();
CREATE OR REPLACE FUNCTION feed_nhs_claims_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'nhs_claims', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_nhs_claims_update AFTER UPDATE ON nhs_claims REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_nhs_claims_update();
CREATE OR REPLACE FUNCTION feed_nhs_claims_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'nhs_claims', CAST(written.id AS text), 'deleted', now(), CAST(written.practitioner_id AS text), txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_nhs_claims_delete AFTER DELETE ON nhs_claims REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_nhs_claims_delete();
CREATE OR REPLACE FUNCTION feed_nhs_claims_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_nhs_claims_truncate AFTER TRUNCATE ON nhs_claims FOR EACH STATEMENT EXECUTE FUNCTION feed_nhs_claims_truncate();
CREATE OR REPLACE FUNCTION feed_patients_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'patients', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_patients_insert AFTER INSERT ON patients REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_patients_insert();
CREATE OR REPLACE FUNCTION feed_patients_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'patients', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_patients_update AFTER UPDATE ON patients REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_patients_update();
CREATE OR REPLACE FUNCTION feed_patients_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'patients', CAST(written.id AS text), 'deleted', now(), CAST(written.site_id AS text), txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_patients_delete AFTER DELETE ON patients REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_patients_delete();
CREATE OR REPLACE FUNCTION feed_patients_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_patients_truncate AFTER TRUNCATE ON patients FOR EACH STATEMENT EXECUTE FUNCTION feed_patients_truncate();
CREATE OR REPLACE FUNCTION feed_payments_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'payments', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_payments_insert AFTER INSERT ON payments REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_payments_insert();
CREATE OR REPLACE FUNCTION feed_payments_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'payments', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_payments_update AFTER UPDATE ON payments REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_payments_update();
CREATE OR REPLACE FUNCTION feed_payments_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'payments', CAST(written.id AS text), 'deleted', now(), CAST(written.site_id AS text), txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_payments_delete AFTER DELETE ON payments REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_payments_delete();
CREATE OR REPLACE FUNCTION feed_payments_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_payments_truncate AFTER TRUNCATE ON payments FOR EACH STATEMENT EXECUTE FUNCTION feed_payments_truncate();
CREATE OR REPLACE FUNCTION feed_payment_explanations_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'payments', CAST(written.payment_id AS text), 'updated', now(), NULL, txid_current() FROM (SELECT DISTINCT practice_id, payment_id FROM written) AS written WHERE written.payment_id IS NOT NULL;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_payment_explanations_insert AFTER INSERT ON payment_explanations REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_payment_explanations_insert();
CREATE OR REPLACE FUNCTION feed_payment_explanations_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'payments', CAST(written.payment_id AS text), 'updated', now(), NULL, txid_current() FROM (SELECT practice_id, payment_id FROM written UNION SELECT practice_id, payment_id FROM before) AS written WHERE written.payment_id IS NOT NULL;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_payment_explanations_update AFTER UPDATE ON payment_explanations REFERENCING OLD TABLE AS before NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_payment_explanations_update();
CREATE OR REPLACE FUNCTION feed_payment_explanations_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'payments', CAST(written.payment_id AS text), 'updated', now(), NULL, txid_current() FROM (SELECT DISTINCT practice_id, payment_id FROM written) AS written WHERE written.payment_id IS NOT NULL;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_payment_explanations_delete AFTER DELETE ON payment_explanations REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_payment_explanations_delete();
CREATE OR REPLACE FUNCTION feed_payment_explanations_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_payment_explanations_truncate AFTER TRUNCATE ON payment_explanations FOR EACH STATEMENT EXECUTE FUNCTION feed_payment_explanations_truncate();
CREATE OR REPLACE FUNCTION feed_payment_plans_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'payment_plans', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_payment_plans_insert AFTER INSERT ON payment_plans REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_payment_plans_insert();
CREATE OR REPLACE FUNCTION feed_payment_plans_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'payment_plans', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_payment_plans_update AFTER UPDATE ON payment_plans REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_payment_plans_update();
CREATE OR REPLACE FUNCTION feed_payment_plans_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'payment_plans', CAST(written.id AS text), 'deleted', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_payment_plans_delete AFTER DELETE ON payment_plans REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_payment_plans_delete();
CREATE OR REPLACE FUNCTION feed_payment_plans_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_payment_plans_truncate AFTER TRUNCATE ON payment_plans FOR EACH STATEMENT EXECUTE FUNCTION feed_payment_plans_truncate();
CREATE OR REPLACE FUNCTION feed_practitioners_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'practitioners', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_practitioners_insert AFTER INSERT ON practitioners REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_practitioners_insert();
CREATE OR REPLACE FUNCTION feed_practitioners_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'practitioners', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_practitioners_update AFTER UPDATE ON practitioners REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_practitioners_update();
CREATE OR REPLACE FUNCTION feed_practitioners_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'practitioners', CAST(written.id AS text), 'deleted', now(), CAST(written.site_id AS text), txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_practitioners_delete AFTER DELETE ON practitioners REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_practitioners_delete();
CREATE OR REPLACE FUNCTION feed_practitioners_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_practitioners_truncate AFTER TRUNCATE ON practitioners FOR EACH STATEMENT EXECUTE FUNCTION feed_practitioners_truncate();
CREATE OR REPLACE FUNCTION feed_rooms_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'rooms', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_rooms_insert AFTER INSERT ON rooms REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_rooms_insert();
CREATE OR REPLACE FUNCTION feed_rooms_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'rooms', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_rooms_update AFTER UPDATE ON rooms REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_rooms_update();
CREATE OR REPLACE FUNCTION feed_rooms_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'rooms', CAST(written.id AS text), 'deleted', now(), CAST(written.site_id AS text), txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_rooms_delete AFTER DELETE ON rooms REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_rooms_delete();
CREATE OR REPLACE FUNCTION feed_rooms_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_rooms_truncate AFTER TRUNCATE ON rooms FOR EACH STATEMENT EXECUTE FUNCTION feed_rooms_truncate();
CREATE OR REPLACE FUNCTION feed_sites_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'sites', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_sites_insert AFTER INSERT ON sites REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_sites_insert();
CREATE OR REPLACE FUNCTION feed_sites_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'sites', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_sites_update AFTER UPDATE ON sites REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_sites_update();
CREATE OR REPLACE FUNCTION feed_sites_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'sites', CAST(written.id AS text), 'deleted', now(), CAST(written.id AS text), txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_sites_delete AFTER DELETE ON sites REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_sites_delete();
CREATE OR REPLACE FUNCTION feed_sites_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_sites_truncate AFTER TRUNCATE ON sites FOR EACH STATEMENT EXECUTE FUNCTION feed_sites_truncate();
CREATE OR REPLACE FUNCTION feed_sundries_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'sundries', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_sundries_insert AFTER INSERT ON sundries REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_sundries_insert();
CREATE OR REPLACE FUNCTION feed_sundries_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'sundries', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_sundries_update AFTER UPDATE ON sundries REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_sundries_update();
CREATE OR REPLACE FUNCTION feed_sundries_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'sundries', CAST(written.id AS text), 'deleted', now(), CAST(written.site_id AS text), txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_sundries_delete AFTER DELETE ON sundries REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_sundries_delete();
CREATE OR REPLACE FUNCTION feed_sundries_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_sundries_truncate AFTER TRUNCATE ON sundries FOR EACH STATEMENT EXECUTE FUNCTION feed_sundries_truncate();
CREATE OR REPLACE FUNCTION feed_treatments_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'treatments', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatments_insert AFTER INSERT ON treatments REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_treatments_insert();
CREATE OR REPLACE FUNCTION feed_treatments_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'treatments', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatments_update AFTER UPDATE ON treatments REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_treatments_update();
CREATE OR REPLACE FUNCTION feed_treatments_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'treatments', CAST(written.id AS text), 'deleted', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatments_delete AFTER DELETE ON treatments REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_treatments_delete();
CREATE OR REPLACE FUNCTION feed_treatments_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatments_truncate AFTER TRUNCATE ON treatments FOR EACH STATEMENT EXECUTE FUNCTION feed_treatments_truncate();
CREATE OR REPLACE FUNCTION feed_treatment_categories_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'treatment_categories', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatment_categories_insert AFTER INSERT ON treatment_categories REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_treatment_categories_insert();
CREATE OR REPLACE FUNCTION feed_treatment_categories_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'treatment_categories', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatment_categories_update AFTER UPDATE ON treatment_categories REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_treatment_categories_update();
CREATE OR REPLACE FUNCTION feed_treatment_categories_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'treatment_categories', CAST(written.id AS text), 'deleted', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatment_categories_delete AFTER DELETE ON treatment_categories REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_treatment_categories_delete();
CREATE OR REPLACE FUNCTION feed_treatment_categories_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatment_categories_truncate AFTER TRUNCATE ON treatment_categories FOR EACH STATEMENT EXECUTE FUNCTION feed_treatment_categories_truncate();
CREATE OR REPLACE FUNCTION feed_treatment_plans_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'treatment_plans', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatment_plans_insert AFTER INSERT ON treatment_plans REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_treatment_plans_insert();
CREATE OR REPLACE FUNCTION feed_treatment_plans_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'treatment_plans', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatment_plans_update AFTER UPDATE ON treatment_plans REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_treatment_plans_update();
CREATE OR REPLACE FUNCTION feed_treatment_plans_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'treatment_plans', CAST(written.id AS text), 'deleted', now(), CAST(written.patient_id AS text), txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatment_plans_delete AFTER DELETE ON treatment_plans REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_treatment_plans_delete();
CREATE OR REPLACE FUNCTION feed_treatment_plans_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatment_plans_truncate AFTER TRUNCATE ON treatment_plans FOR EACH STATEMENT EXECUTE FUNCTION feed_treatment_plans_truncate();
CREATE OR REPLACE FUNCTION feed_treatment_plan_items_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'treatment_plan_items', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatment_plan_items_insert AFTER INSERT ON treatment_plan_items REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_treatment_plan_items_insert();
CREATE OR REPLACE FUNCTION feed_treatment_plan_items_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'treatment_plan_items', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatment_plan_items_update AFTER UPDATE ON treatment_plan_items REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_treatment_plan_items_update();
CREATE OR REPLACE FUNCTION feed_treatment_plan_items_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'treatment_plan_items', CAST(written.id AS text), 'deleted', now(), CAST(written.patient_id AS text), txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatment_plan_items_delete AFTER DELETE ON treatment_plan_items REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_treatment_plan_items_delete();
CREATE OR REPLACE FUNCTION feed_treatment_plan_items_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_treatment_plan_items_truncate AFTER TRUNCATE ON treatment_plan_items FOR EACH STATEMENT EXECUTE FUNCTION feed_treatment_plan_items_truncate();
CREATE OR REPLACE FUNCTION feed_users_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'users', CAST(written.id AS text), 'created', now(), NULL, txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_users_insert AFTER INSERT ON users REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_users_insert();
CREATE OR REPLACE FUNCTION feed_users_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'users', CAST(written.id AS text), 'updated', now(), NULL, txid_current() FROM (SELECT NEW.*) AS written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_users_update AFTER UPDATE ON users FOR EACH ROW WHEN ((OLD.created_at, OLD.title, OLD.first_name, OLD.last_name, OLD.email, OLD.mobile_phone, OLD.role, OLD.site_id, OLD.active) IS DISTINCT FROM (NEW.created_at, NEW.title, NEW.first_name, NEW.last_name, NEW.email, NEW.mobile_phone, NEW.role, NEW.site_id, NEW.active)) EXECUTE FUNCTION feed_users_update();
CREATE OR REPLACE FUNCTION feed_users_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO feed_changes (practice_id, resource, record_id, event, at, site_key, origin)
  SELECT written.practice_id, 'users', CAST(written.id AS text), 'deleted', now(), CAST(written.site_id AS text), txid_current() FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_users_delete AFTER DELETE ON users REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION feed_users_delete();
CREATE OR REPLACE FUNCTION feed_users_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE feed_state SET epoch = CAST(gen_random_uuid() AS text);
  RETURN NULL;
END
$$;
CREATE TRIGGER feed_users_truncate AFTER TRUNCATE ON users FOR EACH STATEMENT EXECUTE FUNCTION feed_users_truncate();
