-- Drop index "change_practice_id_resource_record_id_id" from table: "changes"
DROP INDEX "change_practice_id_resource_record_id_id";
-- Modify "changes" table
ALTER TABLE "changes" DROP CONSTRAINT "changes_practices_practice";
-- Create index "change_practice_id_record_id_id" to table: "changes"
CREATE INDEX "change_practice_id_record_id_id" ON "changes" ("practice_id", "record_id", "id");
-- Drop index "importedrecord_practice_id_source_resource_legacy_id" from table: "imported_records"
DROP INDEX "importedrecord_practice_id_source_resource_legacy_id";
-- Modify "imported_records" table
ALTER TABLE "imported_records" DROP CONSTRAINT "imported_records_practices_practice";
-- Create index "importedrecord_practice_id_resource_legacy_id_source" to table: "imported_records"
CREATE UNIQUE INDEX "importedrecord_practice_id_resource_legacy_id_source" ON "imported_records" ("practice_id", "resource", "legacy_id", "source");
