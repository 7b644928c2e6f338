-- Drop index "appointment_all_start" from table: "appointments"
DROP INDEX `appointment_all_start`;
-- Create index "appointment_started" to table: "appointments"
CREATE INDEX `appointment_started` ON `appointments` (`practice_id`, `start_time`, `id`, `state`, `patient_id`, `practitioner_id`, `duration`);
-- Drop index "invoice_practice_id_dated_on_id" from table: "invoices"
DROP INDEX `invoice_practice_id_dated_on_id`;
-- Create index "invoice_dated" to table: "invoices"
CREATE INDEX `invoice_dated` ON `invoices` (`practice_id`, `dated_on`, `id`, `status`, `site_id`, `amount`, `amount_outstanding`);
-- Drop index "payment_dated" from table: "payments"
DROP INDEX `payment_dated`;
-- Create index "payment_days" to table: "payments"
CREATE INDEX `payment_days` ON `payments` (`practice_id`, `dated_on`, `id`, `amount`, `deleted`, `site_id`, `method`);
