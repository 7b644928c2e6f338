-- Drop index "appointment_practice_id_practitioner_id_start_time_id" from table: "appointments"
DROP INDEX "appointment_practice_id_practitioner_id_start_time_id";
-- Create index "appointment_diary" to table: "appointments"
CREATE INDEX "appointment_diary" ON "appointments" ("practice_id", "practitioner_id", "start_time", "id") INCLUDE ("finish_time", "state");
-- Create index "appointment_listed_state" to table: "appointments"
CREATE INDEX "appointment_listed_state" ON "appointments" ("practice_id", "state", "start_time", "id") WHERE ((cancelled_at IS NULL) AND (did_not_attend_at IS NULL));
-- Create index "appointment_practice_id_state_id" to table: "appointments"
CREATE INDEX "appointment_practice_id_state_id" ON "appointments" ("practice_id", "state", "id") WHERE ((cancelled_at IS NULL) AND (did_not_attend_at IS NULL));
-- Create index "patient_practice_id_active_id" to table: "patients"
CREATE INDEX "patient_practice_id_active_id" ON "patients" ("practice_id", "active", "id");
-- Drop index "payment_practice_id_dated_on_id" from table: "payments"
DROP INDEX "payment_practice_id_dated_on_id";
-- Create index "payment_dated" to table: "payments"
CREATE INDEX "payment_dated" ON "payments" ("practice_id", "dated_on", "id") INCLUDE ("amount", "deleted");
