-- Disable the enforcement of foreign-keys constraints
PRAGMA foreign_keys = off;
-- Create "new_changes" table
CREATE TABLE `new_changes` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `practice_id` uuid NOT NULL,
  `at` datetime NOT NULL,
  `user_id` integer NULL,
  `token_id` uuid NULL,
  `resource` text NOT NULL,
  `record_id` text NOT NULL,
  `action` text NOT NULL,
  `fields` json NOT NULL
);
-- Copy rows from old table "changes" to new temporary table "new_changes"
INSERT INTO `new_changes` (`id`, `practice_id`, `at`, `user_id`, `token_id`, `resource`, `record_id`, `action`, `fields`) SELECT `id`, `practice_id`, `at`, `user_id`, `token_id`, `resource`, `record_id`, `action`, `fields` FROM `changes`;
-- Drop "changes" table after copying rows
DROP TABLE `changes`;
-- Rename temporary table "new_changes" to "changes"
ALTER TABLE `new_changes` RENAME TO `changes`;
-- Create index "change_practice_id_record_id_id" to table: "changes"
CREATE INDEX `change_practice_id_record_id_id` ON `changes` (`practice_id`, `record_id`, `id`);
-- Create "new_imported_records" table
CREATE TABLE `new_imported_records` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `practice_id` uuid NOT NULL,
  `source` text NOT NULL,
  `resource` text NOT NULL,
  `legacy_id` text NOT NULL,
  `record_id` text NOT NULL
);
-- Copy rows from old table "imported_records" to new temporary table "new_imported_records"
INSERT INTO `new_imported_records` (`id`, `practice_id`, `source`, `resource`, `legacy_id`, `record_id`) SELECT `id`, `practice_id`, `source`, `resource`, `legacy_id`, `record_id` FROM `imported_records`;
-- Drop "imported_records" table after copying rows
DROP TABLE `imported_records`;
-- Rename temporary table "new_imported_records" to "imported_records"
ALTER TABLE `new_imported_records` RENAME TO `imported_records`;
-- Create index "importedrecord_practice_id_resource_legacy_id_source" to table: "imported_records"
CREATE UNIQUE INDEX `importedrecord_practice_id_resource_legacy_id_source` ON `imported_records` (`practice_id`, `resource`, `legacy_id`, `source`);
-- Enable back the enforcement of foreign-keys constraints
PRAGMA foreign_keys = on;
