-- Create "treatment_appointments" table
CREATE TABLE `treatment_appointments` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `position` integer NOT NULL,
  `appointment_id` integer NULL,
  `notes` text NULL,
  `bookable` bool NOT NULL DEFAULT true,
  `practice_id` uuid NOT NULL,
  `treatment_plan_id` integer NOT NULL,
  `patient_id` integer NOT NULL,
  CONSTRAINT `treatment_appointments_patients_patient` FOREIGN KEY (`practice_id`, `patient_id`) REFERENCES `patients` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_appointments_treatment_plans_treatment_plan` FOREIGN KEY (`practice_id`, `treatment_plan_id`) REFERENCES `treatment_plans` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_appointments_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_appointments_notes_check` CHECK (length(CAST(notes AS text)) <= 65535),
  CONSTRAINT `treatment_appointments_position_check` CHECK (position >= 1)
);
-- Create index "treatmentappointment_practice_id_updated_at_id" to table: "treatment_appointments"
CREATE INDEX `treatmentappointment_practice_id_updated_at_id` ON `treatment_appointments` (`practice_id`, `updated_at`, `id`);
-- Create index "treatmentappointment_practice_id_created_at_id" to table: "treatment_appointments"
CREATE INDEX `treatmentappointment_practice_id_created_at_id` ON `treatment_appointments` (`practice_id`, `created_at`, `id`);
-- Create index "treatmentappointment_practice_id_patient_id_id" to table: "treatment_appointments"
CREATE INDEX `treatmentappointment_practice_id_patient_id_id` ON `treatment_appointments` (`practice_id`, `patient_id`, `id`);
-- Create index "treatmentappointment_practice_id_treatment_plan_id_id" to table: "treatment_appointments"
CREATE INDEX `treatmentappointment_practice_id_treatment_plan_id_id` ON `treatment_appointments` (`practice_id`, `treatment_plan_id`, `id`);
-- Create index "invoiceitem_practice_id_practitioner_id_id" to table: "invoice_items"
CREATE INDEX `invoiceitem_practice_id_practitioner_id_id` ON `invoice_items` (`practice_id`, `practitioner_id`, `id`);
-- Create index "treatmentplan_practice_id_practitioner_id_id" to table: "treatment_plans"
CREATE INDEX `treatmentplan_practice_id_practitioner_id_id` ON `treatment_plans` (`practice_id`, `practitioner_id`, `id`);
-- Create index "treatmentplanitem_practice_id_practitioner_id_id" to table: "treatment_plan_items"
CREATE INDEX `treatmentplanitem_practice_id_practitioner_id_id` ON `treatment_plan_items` (`practice_id`, `practitioner_id`, `id`);
-- Create index "treatmentplanitem_practice_id_invoice_id_id" to table: "treatment_plan_items"
CREATE INDEX `treatmentplanitem_practice_id_invoice_id_id` ON `treatment_plan_items` (`practice_id`, `invoice_id`, `id`);
-- Create index "treatmentplanitem_practice_id_completed_id" to table: "treatment_plan_items"
CREATE INDEX `treatmentplanitem_practice_id_completed_id` ON `treatment_plan_items` (`practice_id`, `completed`, `id`);
DELETE FROM counters WHERE counter LIKE 'treatment_appointments.%';
CREATE TRIGGER keep_treatment_appointments_insert AFTER INSERT ON treatment_appointments BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_appointments.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_treatment_appointments_delete AFTER DELETE ON treatment_appointments BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_appointments.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_treatment_appointments_update AFTER UPDATE ON treatment_appointments WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_appointments.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_appointments.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_appointments.all' AS counter, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM treatment_appointments WHERE true) AS counted GROUP BY practice_id, key;
