-- atlas:txmode none

-- Create index "invoiceitem_practice_id_practitioner_id_id" to table: "invoice_items"
CREATE INDEX CONCURRENTLY "invoiceitem_practice_id_practitioner_id_id" ON "invoice_items" ("practice_id", "practitioner_id", "id");
-- Create index "treatmentplanitem_practice_id_completed_id" to table: "treatment_plan_items"
CREATE INDEX CONCURRENTLY "treatmentplanitem_practice_id_completed_id" ON "treatment_plan_items" ("practice_id", "completed", "id");
-- Create index "treatmentplanitem_practice_id_invoice_id_id" to table: "treatment_plan_items"
CREATE INDEX CONCURRENTLY "treatmentplanitem_practice_id_invoice_id_id" ON "treatment_plan_items" ("practice_id", "invoice_id", "id");
-- Create index "treatmentplanitem_practice_id_practitioner_id_id" to table: "treatment_plan_items"
CREATE INDEX CONCURRENTLY "treatmentplanitem_practice_id_practitioner_id_id" ON "treatment_plan_items" ("practice_id", "practitioner_id", "id");
-- Create index "treatmentplan_practice_id_practitioner_id_id" to table: "treatment_plans"
CREATE INDEX CONCURRENTLY "treatmentplan_practice_id_practitioner_id_id" ON "treatment_plans" ("practice_id", "practitioner_id", "id");
