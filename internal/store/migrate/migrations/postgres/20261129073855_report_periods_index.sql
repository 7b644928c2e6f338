-- atlas:txmode none

-- Create index "appointment_started" to table: "appointments"
CREATE INDEX CONCURRENTLY "appointment_started" ON "appointments" ("practice_id", "start_time", "id") INCLUDE ("state", "patient_id", "practitioner_id", "duration");
-- Drop index "appointment_all_start" of table "appointments"
DROP INDEX CONCURRENTLY IF EXISTS "appointment_all_start";
-- Create index "invoice_dated" to table: "invoices"
CREATE INDEX CONCURRENTLY "invoice_dated" ON "invoices" ("practice_id", "dated_on", "id") INCLUDE ("status", "site_id", "amount", "amount_outstanding");
-- Drop index "invoice_practice_id_dated_on_id" of table "invoices"
DROP INDEX CONCURRENTLY IF EXISTS "invoice_practice_id_dated_on_id";
-- Create index "new_payment_days" to table: "payments"
CREATE INDEX CONCURRENTLY "new_payment_days" ON "payments" ("practice_id", "dated_on", "id") INCLUDE ("amount", "deleted", "site_id", "method");
-- Drop index "payment_days" of table "payments"
DROP INDEX CONCURRENTLY IF EXISTS "payment_days";
ALTER INDEX IF EXISTS "new_payment_days" RENAME TO "payment_days";
