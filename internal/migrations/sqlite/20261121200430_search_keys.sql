-- Drop index "patient_search_text" from table: "patients"
DROP INDEX `patient_search_text`;
