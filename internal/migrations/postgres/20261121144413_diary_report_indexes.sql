-- Drop index "appointment_diary" from table: "appointments"
DROP INDEX "appointment_diary";
-- Create index "appointment_diary" to table: "appointments"
CREATE INDEX "appointment_diary" ON "appointments" ("practice_id", "practitioner_id", "start_time", "id") INCLUDE ("finish_time", "state", "patient_id", "cancelled_at");
