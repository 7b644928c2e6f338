-- Of several answers to a question, which an import could leave, the API showed one and changed another. The newest stays; the record of changes says which are gone.
WITH superseded AS (
  DELETE FROM "custom_field_answers" WHERE "id" IN (SELECT "id" FROM (SELECT "id", row_number() OVER (PARTITION BY "practice_id", "treatment_plan_item_id", "custom_field_id", CASE WHEN "treatment_plan_item_id" IS NULL THEN "patient_id" END ORDER BY "updated_at" DESC, "id" DESC) AS "place" FROM "custom_field_answers") AS placed WHERE "place" > 1)
  RETURNING "practice_id", "id"
)
INSERT INTO "changes" ("practice_id", "at", "resource", "record_id", "action", "fields") SELECT "practice_id", date_trunc('second', now()), 'CustomFieldAnswer', "id"::text, 'delete', '[]' FROM superseded;
-- Drop index "customfieldanswer_practice_id_patient_id_custom_field_id" from table: "custom_field_answers"
DROP INDEX "customfieldanswer_practice_id_patient_id_custom_field_id";
-- Drop index "customfieldanswer_practice_id_treatment_plan_item_id" from table: "custom_field_answers"
DROP INDEX "customfieldanswer_practice_id_treatment_plan_item_id";
-- Create index "customfieldanswer_practice_id_patient_id_custom_field_id" to table: "custom_field_answers"
CREATE UNIQUE INDEX "customfieldanswer_practice_id_patient_id_custom_field_id" ON "custom_field_answers" ("practice_id", "patient_id", "custom_field_id") WHERE (treatment_plan_item_id IS NULL);
-- Create index "customfieldanswer_practice_id_treatment_plan_item_id_c_09227e75" to table: "custom_field_answers"
CREATE UNIQUE INDEX "customfieldanswer_practice_id_treatment_plan_item_id_c_09227e75" ON "custom_field_answers" ("practice_id", "treatment_plan_item_id", "custom_field_id") WHERE (treatment_plan_item_id IS NOT NULL);
