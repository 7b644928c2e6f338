-- Drop index "customfieldanswer_practice_id_treatment_plan_item_id" from table: "custom_field_answers"
DROP INDEX "customfieldanswer_practice_id_treatment_plan_item_id";
-- Create index "customfieldanswer_practice_id_treatment_plan_item_id" to table: "custom_field_answers"
CREATE INDEX "customfieldanswer_practice_id_treatment_plan_item_id" ON "custom_field_answers" ("practice_id", "treatment_plan_item_id") WHERE (treatment_plan_item_id IS NOT NULL);
