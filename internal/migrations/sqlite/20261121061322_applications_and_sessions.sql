-- Disable the enforcement of foreign-keys constraints
PRAGMA foreign_keys = off;
-- Create "new_access_tokens" table
CREATE TABLE `new_access_tokens` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `hash` blob NOT NULL,
  `name` text NOT NULL,
  `scopes` text NOT NULL,
  `expires_at` datetime NULL,
  `last_used_at` datetime NULL,
  `revoked_at` datetime NULL,
  `practice_id` uuid NOT NULL,
  `user_id` integer NOT NULL,
  `site_id` uuid NULL,
  `application_id` uuid NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `access_tokens_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON DELETE NO ACTION,
  CONSTRAINT `access_tokens_users_user` FOREIGN KEY (`practice_id`, `user_id`) REFERENCES `users` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `access_tokens_sites_site` FOREIGN KEY (`practice_id`, `site_id`) REFERENCES `sites` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `access_tokens_applications_application` FOREIGN KEY (`application_id`) REFERENCES `applications` (`id`) ON DELETE NO ACTION
);
-- Copy rows from old table "access_tokens" to new temporary table "new_access_tokens"
INSERT INTO `new_access_tokens` (`id`, `created_at`, `updated_at`, `hash`, `name`, `scopes`, `expires_at`, `last_used_at`, `revoked_at`, `practice_id`, `user_id`, `site_id`) SELECT `id`, `created_at`, `updated_at`, `hash`, `name`, `scopes`, `expires_at`, `last_used_at`, `revoked_at`, `practice_id`, `user_id`, `site_id` FROM `access_tokens`;
-- Drop "access_tokens" table after copying rows
DROP TABLE `access_tokens`;
-- Rename temporary table "new_access_tokens" to "access_tokens"
ALTER TABLE `new_access_tokens` RENAME TO `access_tokens`;
-- Create index "access_tokens_hash_key" to table: "access_tokens"
CREATE UNIQUE INDEX `access_tokens_hash_key` ON `access_tokens` (`hash`);
-- Create index "accesstoken_practice_id_updated_at_id" to table: "access_tokens"
CREATE INDEX `accesstoken_practice_id_updated_at_id` ON `access_tokens` (`practice_id`, `updated_at`, `id`);
-- Create index "accesstoken_practice_id_created_at_id" to table: "access_tokens"
CREATE INDEX `accesstoken_practice_id_created_at_id` ON `access_tokens` (`practice_id`, `created_at`, `id`);
-- Create index "accesstoken_practice_id_user_id" to table: "access_tokens"
CREATE INDEX `accesstoken_practice_id_user_id` ON `access_tokens` (`practice_id`, `user_id`);
-- Create index "accesstoken_application_id" to table: "access_tokens"
CREATE INDEX `accesstoken_application_id` ON `access_tokens` (`application_id`);
-- Create index "access_tokens_practice_id_id" to table: "access_tokens"
CREATE UNIQUE INDEX `access_tokens_practice_id_id` ON `access_tokens` (`practice_id`, `id`);
-- Create "new_users" table
CREATE TABLE `new_users` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `title` text NULL,
  `first_name` text NOT NULL,
  `last_name` text NOT NULL,
  `last_name_folded` text NOT NULL DEFAULT (''),
  `email` text NOT NULL,
  `mobile_phone` text NULL,
  `role` text NOT NULL,
  `active` bool NOT NULL DEFAULT (true),
  `last_login` datetime NULL,
  `password_hash` text NOT NULL DEFAULT (''),
  `totp_secret` text NOT NULL DEFAULT (''),
  `totp_step` integer NOT NULL DEFAULT (0),
  `recovery_codes` json NULL,
  `practice_id` uuid NOT NULL,
  `site_id` uuid NULL,
  CONSTRAINT `users_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON DELETE NO ACTION,
  CONSTRAINT `users_sites_site` FOREIGN KEY (`practice_id`, `site_id`) REFERENCES `sites` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION
);
-- Copy rows from old table "users" to new temporary table "new_users"
INSERT INTO `new_users` (`id`, `created_at`, `updated_at`, `title`, `first_name`, `last_name`, `last_name_folded`, `email`, `mobile_phone`, `role`, `active`, `last_login`, `password_hash`, `practice_id`, `site_id`) SELECT `id`, `created_at`, `updated_at`, `title`, `first_name`, `last_name`, `last_name_folded`, `email`, `mobile_phone`, `role`, `active`, `last_login`, `password_hash`, `practice_id`, `site_id` FROM `users`;
-- Drop "users" table after copying rows
DROP TABLE `users`;
-- Rename temporary table "new_users" to "users"
ALTER TABLE `new_users` RENAME TO `users`;
-- Create index "users_email_key" to table: "users"
CREATE UNIQUE INDEX `users_email_key` ON `users` (`email`);
-- Create index "user_practice_id_updated_at_id" to table: "users"
CREATE INDEX `user_practice_id_updated_at_id` ON `users` (`practice_id`, `updated_at`, `id`);
-- Create index "user_practice_id_created_at_id" to table: "users"
CREATE INDEX `user_practice_id_created_at_id` ON `users` (`practice_id`, `created_at`, `id`);
-- Create index "user_practice_id_last_name_folded_id" to table: "users"
CREATE INDEX `user_practice_id_last_name_folded_id` ON `users` (`practice_id`, `last_name_folded`, `id`);
-- Create index "users_practice_id_id" to table: "users"
CREATE UNIQUE INDEX `users_practice_id_id` ON `users` (`practice_id`, `id`);
-- Create "applications" table
CREATE TABLE `applications` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `name` text NOT NULL,
  `redirect_uris` json NOT NULL,
  `scopes` text NOT NULL,
  `public` bool NOT NULL,
  `secret_hash` blob NULL,
  `deleted_at` datetime NULL,
  `owner_id` uuid NOT NULL,
  `user_id` integer NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `applications_practices_owner` FOREIGN KEY (`owner_id`) REFERENCES `practices` (`id`) ON DELETE NO ACTION,
  CONSTRAINT `applications_users_user` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE NO ACTION
);
-- Create index "application_owner_id_id" to table: "applications"
CREATE INDEX `application_owner_id_id` ON `applications` (`owner_id`, `id`);
-- Create "authorization_codes" table
CREATE TABLE `authorization_codes` (
  `id` uuid NOT NULL,
  `hash` blob NOT NULL,
  `redirect_uri` text NOT NULL,
  `scopes` text NOT NULL,
  `challenge` text NOT NULL DEFAULT (''),
  `expires_at` datetime NOT NULL,
  `used_at` datetime NULL,
  `practice_id` uuid NOT NULL,
  `application_id` uuid NOT NULL,
  `user_id` integer NOT NULL,
  `token_id` uuid NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `authorization_codes_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON DELETE NO ACTION,
  CONSTRAINT `authorization_codes_applications_application` FOREIGN KEY (`application_id`) REFERENCES `applications` (`id`) ON DELETE NO ACTION,
  CONSTRAINT `authorization_codes_users_user` FOREIGN KEY (`practice_id`, `user_id`) REFERENCES `users` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `authorization_codes_access_tokens_token` FOREIGN KEY (`practice_id`, `token_id`) REFERENCES `access_tokens` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION
);
-- Create index "authorization_codes_hash_key" to table: "authorization_codes"
CREATE UNIQUE INDEX `authorization_codes_hash_key` ON `authorization_codes` (`hash`);
-- Create index "authorizationcode_expires_at" to table: "authorization_codes"
CREATE INDEX `authorizationcode_expires_at` ON `authorization_codes` (`expires_at`);
-- Create "import_runs" table
CREATE TABLE `import_runs` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `digest` text NOT NULL,
  `progress` blob NOT NULL,
  `finished_at` datetime NULL
);
-- Create index "import_runs_digest_key" to table: "import_runs"
CREATE UNIQUE INDEX `import_runs_digest_key` ON `import_runs` (`digest`);
-- Create "imported_records" table
CREATE TABLE `imported_records` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `source` text NOT NULL,
  `resource` text NOT NULL,
  `legacy_id` text NOT NULL,
  `record_id` text NOT NULL,
  `practice_id` uuid NOT NULL,
  CONSTRAINT `imported_records_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON DELETE NO ACTION
);
-- Create index "importedrecord_practice_id_source_resource_legacy_id" to table: "imported_records"
CREATE UNIQUE INDEX `importedrecord_practice_id_source_resource_legacy_id` ON `imported_records` (`practice_id`, `source`, `resource`, `legacy_id`);
-- Create "sessions" table
CREATE TABLE `sessions` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `token_hash` text NOT NULL,
  `data` blob NOT NULL,
  `user_agent` text NOT NULL DEFAULT (''),
  `address` text NOT NULL DEFAULT (''),
  `last_seen_at` datetime NOT NULL,
  `expires_at` datetime NOT NULL,
  `practice_id` uuid NOT NULL,
  `user_id` integer NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `sessions_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON DELETE NO ACTION,
  CONSTRAINT `sessions_users_user` FOREIGN KEY (`practice_id`, `user_id`) REFERENCES `users` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION
);
-- Create index "sessions_token_hash_key" to table: "sessions"
CREATE UNIQUE INDEX `sessions_token_hash_key` ON `sessions` (`token_hash`);
-- Create index "session_practice_id_user_id" to table: "sessions"
CREATE INDEX `session_practice_id_user_id` ON `sessions` (`practice_id`, `user_id`);
-- Create index "session_expires_at" to table: "sessions"
CREATE INDEX `session_expires_at` ON `sessions` (`expires_at`);
-- Create "sign_in_attempts" table
CREATE TABLE `sign_in_attempts` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `account` blob NOT NULL,
  `address` text NOT NULL,
  `at` datetime NOT NULL,
  `succeeded` bool NOT NULL DEFAULT (false)
);
-- Create index "signinattempt_account_at" to table: "sign_in_attempts"
CREATE INDEX `signinattempt_account_at` ON `sign_in_attempts` (`account`, `at`);
-- Create index "signinattempt_address_at" to table: "sign_in_attempts"
CREATE INDEX `signinattempt_address_at` ON `sign_in_attempts` (`address`, `at`);
-- Create index "signinattempt_at" to table: "sign_in_attempts"
CREATE INDEX `signinattempt_at` ON `sign_in_attempts` (`at`);
-- Enable back the enforcement of foreign-keys constraints
PRAGMA foreign_keys = on;
