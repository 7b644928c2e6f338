-- Drop index "patient_practice_id_active_id" from table: "patients"
DROP INDEX `patient_practice_id_active_id`;
-- Create index "patient_active" to table: "patients"
CREATE INDEX `patient_active` ON `patients` (`practice_id`, `active`, `id`, `site_id`, `hygienist_id`, `hygienist_recall_date`);
-- Create index "treatmentplanitem_completed" to table: "treatment_plan_items"
CREATE INDEX `treatmentplanitem_completed` ON `treatment_plan_items` (`practice_id`, `completed_at`, `treatment_id`, `payment_plan_id`, `price`, `completed`) WHERE completed;
