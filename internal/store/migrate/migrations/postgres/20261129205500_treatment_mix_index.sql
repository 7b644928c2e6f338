-- atlas:txmode none

-- Create index "patient_active" to table: "patients"
CREATE INDEX CONCURRENTLY "patient_active" ON "patients" ("practice_id", "active", "id") INCLUDE ("site_id", "hygienist_id", "hygienist_recall_date");
-- Drop index "patient_practice_id_active_id" of table "patients"
DROP INDEX CONCURRENTLY IF EXISTS "patient_practice_id_active_id";
-- Create index "treatmentplanitem_completed" to table: "treatment_plan_items"
CREATE INDEX CONCURRENTLY "treatmentplanitem_completed" ON "treatment_plan_items" ("practice_id", "completed_at") INCLUDE ("treatment_id", "payment_plan_id", "price", "completed") WHERE completed;
