-- Create "access_tokens" table
CREATE TABLE `access_tokens` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `hash` blob NOT NULL,
  `name` text NOT NULL,
  `scopes` text NOT NULL,
  `site_lifted_until` datetime NULL,
  `site_lift_reason` text NULL,
  `expires_at` datetime NULL,
  `last_used_at` datetime NULL,
  `refreshable_until` datetime NULL,
  `revoked_at` datetime NULL,
  `practice_id` uuid NOT NULL,
  `user_id` integer NOT NULL,
  `site_id` uuid NULL,
  `application_id` uuid NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `access_tokens_applications_application` FOREIGN KEY (`application_id`) REFERENCES `applications` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `access_tokens_sites_site` FOREIGN KEY (`practice_id`, `site_id`) REFERENCES `sites` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `access_tokens_users_user` FOREIGN KEY (`practice_id`, `user_id`) REFERENCES `users` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `access_tokens_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `access_tokens_hash_check` CHECK (length(hash) <= 32),
  CONSTRAINT `access_tokens_scopes_check` CHECK (CAST(scopes AS text) = '' OR length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:delete ', '')) = length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - 2)
);
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
-- Create "accounts" table
CREATE TABLE `accounts` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `opening_balance` integer NOT NULL DEFAULT 0,
  `current_balance` integer NOT NULL DEFAULT 0,
  `planned_nhs_treatment_value` integer NOT NULL DEFAULT 0,
  `planned_private_treatment_value` integer NOT NULL DEFAULT 0,
  `practice_id` uuid NOT NULL,
  `patient_id` integer NOT NULL,
  CONSTRAINT `accounts_patients_account` FOREIGN KEY (`practice_id`, `patient_id`) REFERENCES `patients` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `accounts_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION
);
-- Create index "accounts_patient_id_key" to table: "accounts"
CREATE UNIQUE INDEX `accounts_patient_id_key` ON `accounts` (`patient_id`);
-- Create index "account_practice_id_updated_at_id" to table: "accounts"
CREATE INDEX `account_practice_id_updated_at_id` ON `accounts` (`practice_id`, `updated_at`, `id`);
-- Create index "account_practice_id_created_at_id" to table: "accounts"
CREATE INDEX `account_practice_id_created_at_id` ON `accounts` (`practice_id`, `created_at`, `id`);
-- Create index "account_practice_id_current_balance_id" to table: "accounts"
CREATE INDEX `account_practice_id_current_balance_id` ON `accounts` (`practice_id`, `current_balance`, `id`);
-- Create index "accounts_practice_id_id" to table: "accounts"
CREATE UNIQUE INDEX `accounts_practice_id_id` ON `accounts` (`practice_id`, `id`);
-- Create "acquisition_sources" table
CREATE TABLE `acquisition_sources` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `active` bool NOT NULL DEFAULT true,
  `name` text NOT NULL,
  `name_folded` text NOT NULL DEFAULT '',
  `notes` text NULL,
  `practice_id` uuid NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `acquisition_sources_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `acquisition_sources_name_check` CHECK (trim(CAST(name AS text), ' ') <> '' AND length(CAST(name AS text)) <= 65535),
  CONSTRAINT `acquisition_sources_notes_check` CHECK (length(CAST(notes AS text)) <= 65535)
);
-- Create index "acquisitionsource_practice_id_updated_at_id" to table: "acquisition_sources"
CREATE INDEX `acquisitionsource_practice_id_updated_at_id` ON `acquisition_sources` (`practice_id`, `updated_at`, `id`);
-- Create index "acquisitionsource_practice_id_created_at_id" to table: "acquisition_sources"
CREATE INDEX `acquisitionsource_practice_id_created_at_id` ON `acquisition_sources` (`practice_id`, `created_at`, `id`);
-- Create index "acquisitionsource_practice_id_name_folded_id" to table: "acquisition_sources"
CREATE INDEX `acquisitionsource_practice_id_name_folded_id` ON `acquisition_sources` (`practice_id`, `name_folded`, `id`);
-- Create index "acquisition_sources_practice_id_id" to table: "acquisition_sources"
CREATE UNIQUE INDEX `acquisition_sources_practice_id_id` ON `acquisition_sources` (`practice_id`, `id`);
-- Create "analysts" table
CREATE TABLE `analysts` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `role` text NOT NULL,
  `created_at` datetime NOT NULL,
  `practice_id` uuid NOT NULL,
  CONSTRAINT `analysts_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION
);
-- Create index "analysts_role_key" to table: "analysts"
CREATE UNIQUE INDEX `analysts_role_key` ON `analysts` (`role`);
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
  `refresh_tokens` bool NOT NULL DEFAULT false,
  `deleted_at` datetime NULL,
  `owner_id` uuid NOT NULL,
  `user_id` integer NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `applications_users_user` FOREIGN KEY (`owner_id`, `user_id`) REFERENCES `users` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `applications_practices_owner` FOREIGN KEY (`owner_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `applications_redirect_uris_check` CHECK (json_type(redirect_uris) IN ('array', 'null')),
  CONSTRAINT `applications_scopes_check` CHECK (CAST(scopes AS text) = '' OR length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:delete ', '')) = length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - 2),
  CONSTRAINT `applications_secret_hash_check` CHECK (length(secret_hash) <= 32)
);
-- Create index "application_owner_id_id" to table: "applications"
CREATE INDEX `application_owner_id_id` ON `applications` (`owner_id`, `id`);
-- Create "appointments" table
CREATE TABLE `appointments` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `start_time` datetime NOT NULL,
  `finish_time` datetime NOT NULL,
  `duration` integer NOT NULL,
  `reason` text NOT NULL,
  `state` text NOT NULL DEFAULT 'Pending',
  `notes` text NULL,
  `treatment_description` text NULL,
  `booked_via_api` bool NOT NULL DEFAULT false,
  `metadata` json NOT NULL,
  `pending_at` datetime NULL,
  `confirmed_at` datetime NULL,
  `arrived_at` datetime NULL,
  `in_surgery_at` datetime NULL,
  `completed_at` datetime NULL,
  `cancelled_at` datetime NULL,
  `did_not_attend_at` datetime NULL,
  `practice_id` uuid NOT NULL,
  `room_id` uuid NULL,
  `user_id` integer NULL,
  `appointment_cancellation_reason_id` uuid NULL,
  `patient_id` integer NULL,
  `practitioner_id` integer NOT NULL,
  CONSTRAINT `appointments_practitioners_appointments` FOREIGN KEY (`practice_id`, `practitioner_id`) REFERENCES `practitioners` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `appointments_patients_appointments` FOREIGN KEY (`practice_id`, `patient_id`) REFERENCES `patients` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `appointments_appointment_cancellation_reasons_cancella_6c6456ff` FOREIGN KEY (`practice_id`, `appointment_cancellation_reason_id`) REFERENCES `appointment_cancellation_reasons` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `appointments_users_user` FOREIGN KEY (`practice_id`, `user_id`) REFERENCES `users` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `appointments_rooms_room` FOREIGN KEY (`practice_id`, `room_id`) REFERENCES `rooms` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `appointments_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `appointments_cancelled` CHECK ((state = 'Cancelled') = (cancelled_at IS NOT NULL)),
  CONSTRAINT `appointments_duration` CHECK (duration = (finish_time - start_time) / 60000000),
  CONSTRAINT `appointments_duration_check` CHECK (duration >= 0 AND duration <= 1440),
  CONSTRAINT `appointments_finishes_after_start` CHECK (finish_time > start_time),
  CONSTRAINT `appointments_lasts_a_day_at_most` CHECK ((finish_time - start_time) / 1000 <= 86400000),
  CONSTRAINT `appointments_metadata_check` CHECK (json_type(metadata) IN ('object', 'null')),
  CONSTRAINT `appointments_notes_check` CHECK (length(CAST(notes AS text)) <= 65535),
  CONSTRAINT `appointments_only_cancelled_has_a_reason` CHECK (appointment_cancellation_reason_id IS NULL OR state = 'Cancelled'),
  CONSTRAINT `appointments_reason_check` CHECK (trim(CAST(reason AS text), ' ') <> '' AND length(CAST(reason AS text)) <= 255),
  CONSTRAINT `appointments_state_check` CHECK (CAST(state AS text) IN ('Pending', 'Confirmed', 'Arrived', 'In surgery', 'Completed', 'Cancelled', 'Did not attend')),
  CONSTRAINT `appointments_state_is_stamped` CHECK (CASE state WHEN 'Pending' THEN pending_at WHEN 'Confirmed' THEN confirmed_at WHEN 'Arrived' THEN arrived_at WHEN 'In surgery' THEN in_surgery_at WHEN 'Completed' THEN completed_at WHEN 'Cancelled' THEN cancelled_at WHEN 'Did not attend' THEN did_not_attend_at END IS NOT NULL),
  CONSTRAINT `appointments_treatment_description_check` CHECK (length(CAST(treatment_description AS text)) <= 65535)
);
-- Create index "appointment_practice_id_updated_at_id" to table: "appointments"
CREATE INDEX `appointment_practice_id_updated_at_id` ON `appointments` (`practice_id`, `updated_at`, `id`);
-- Create index "appointment_practice_id_created_at_id" to table: "appointments"
CREATE INDEX `appointment_practice_id_created_at_id` ON `appointments` (`practice_id`, `created_at`, `id`);
-- Create index "appointment_practice_id_start_time_id" to table: "appointments"
CREATE INDEX `appointment_practice_id_start_time_id` ON `appointments` (`practice_id`, `start_time`, `id`) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL;
-- Create index "appointment_diary" to table: "appointments"
CREATE INDEX `appointment_diary` ON `appointments` (`practice_id`, `practitioner_id`, `start_time`, `id`, `finish_time`, `state`, `patient_id`, `cancelled_at`);
-- Create index "appointment_practice_id_patient_id_start_time_id" to table: "appointments"
CREATE INDEX `appointment_practice_id_patient_id_start_time_id` ON `appointments` (`practice_id`, `patient_id`, `start_time`, `id`);
-- Create index "appointment_practice_id_room_id_start_time_id" to table: "appointments"
CREATE INDEX `appointment_practice_id_room_id_start_time_id` ON `appointments` (`practice_id`, `room_id`, `start_time`, `id`);
-- Create index "appointment_practice_id_state_start_time_id" to table: "appointments"
CREATE INDEX `appointment_practice_id_state_start_time_id` ON `appointments` (`practice_id`, `state`, `start_time`, `id`);
-- Create index "appointment_listed_state" to table: "appointments"
CREATE INDEX `appointment_listed_state` ON `appointments` (`practice_id`, `state`, `start_time`, `id`) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL;
-- Create index "appointment_practice_id_state_id" to table: "appointments"
CREATE INDEX `appointment_practice_id_state_id` ON `appointments` (`practice_id`, `state`, `id`) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL;
-- Create index "appointment_all_start" to table: "appointments"
CREATE INDEX `appointment_all_start` ON `appointments` (`practice_id`, `start_time`, `id`);
-- Create index "appointment_practice_id_finish_time_id" to table: "appointments"
CREATE INDEX `appointment_practice_id_finish_time_id` ON `appointments` (`practice_id`, `finish_time`, `id`);
-- Create index "appointments_practice_id_id" to table: "appointments"
CREATE UNIQUE INDEX `appointments_practice_id_id` ON `appointments` (`practice_id`, `id`);
-- Create "appointment_cancellation_reasons" table
CREATE TABLE `appointment_cancellation_reasons` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `reason` text NOT NULL,
  `reason_type` text NOT NULL,
  `archived` bool NOT NULL DEFAULT false,
  `practice_id` uuid NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `appointment_cancellation_reasons_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `appointment_cancellation_reasons_reason_check` CHECK (trim(CAST(reason AS text), ' ') <> '' AND length(CAST(reason AS text)) <= 65535),
  CONSTRAINT `appointment_cancellation_reasons_reason_type_check` CHECK (CAST(reason_type AS text) IN ('patient', 'practice', 'other'))
);
-- Create index "appointmentcancellationreason_practice_id_updated_at_id" to table: "appointment_cancellation_reasons"
CREATE INDEX `appointmentcancellationreason_practice_id_updated_at_id` ON `appointment_cancellation_reasons` (`practice_id`, `updated_at`, `id`);
-- Create index "appointmentcancellationreason_practice_id_created_at_id" to table: "appointment_cancellation_reasons"
CREATE INDEX `appointmentcancellationreason_practice_id_created_at_id` ON `appointment_cancellation_reasons` (`practice_id`, `created_at`, `id`);
-- Create index "appointment_cancellation_reasons_practice_id_id" to table: "appointment_cancellation_reasons"
CREATE UNIQUE INDEX `appointment_cancellation_reasons_practice_id_id` ON `appointment_cancellation_reasons` (`practice_id`, `id`);
-- Create "appointment_holds" table
CREATE TABLE `appointment_holds` (
  `id` uuid NOT NULL,
  `start_time` datetime NOT NULL,
  `finish_time` datetime NOT NULL,
  `expires_at` datetime NOT NULL,
  `token_id` uuid NOT NULL,
  `practice_id` uuid NOT NULL,
  `practitioner_id` integer NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `appointment_holds_practitioners_practitioner` FOREIGN KEY (`practice_id`, `practitioner_id`) REFERENCES `practitioners` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `appointment_holds_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `appointment_holds_finishes_after_start` CHECK (finish_time > start_time),
  CONSTRAINT `appointment_holds_lasts_a_day_at_most` CHECK ((finish_time - start_time) / 1000 <= 86400000)
);
-- Create index "appointmenthold_practice_id_practitioner_id_start_time" to table: "appointment_holds"
CREATE INDEX `appointmenthold_practice_id_practitioner_id_start_time` ON `appointment_holds` (`practice_id`, `practitioner_id`, `start_time`);
-- Create "appointment_reasons" table
CREATE TABLE `appointment_reasons` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `reason` text NOT NULL,
  `colour` text NULL,
  `deleted` bool NOT NULL DEFAULT false,
  `exam` bool NOT NULL DEFAULT false,
  `hygiene` bool NOT NULL DEFAULT false,
  `position` integer NOT NULL,
  `practice_id` uuid NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `appointment_reasons_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `appointment_reasons_colour_check` CHECK (length(CAST(colour AS text)) IN (4, 7) AND substr(CAST(colour AS text), 1, 1) = '#' AND trim(substr(CAST(colour AS text), 2), '0123456789abcdefABCDEF') = ''),
  CONSTRAINT `appointment_reasons_reason_check` CHECK (trim(CAST(reason AS text), ' ') <> '' AND length(CAST(reason AS text)) <= 65535)
);
-- Create index "appointmentreason_practice_id_updated_at_id" to table: "appointment_reasons"
CREATE INDEX `appointmentreason_practice_id_updated_at_id` ON `appointment_reasons` (`practice_id`, `updated_at`, `id`);
-- Create index "appointmentreason_practice_id_created_at_id" to table: "appointment_reasons"
CREATE INDEX `appointmentreason_practice_id_created_at_id` ON `appointment_reasons` (`practice_id`, `created_at`, `id`);
-- Create index "appointmentreason_practice_id_position_id" to table: "appointment_reasons"
CREATE INDEX `appointmentreason_practice_id_position_id` ON `appointment_reasons` (`practice_id`, `position`, `id`);
-- Create "audit_blocks" table
CREATE TABLE `audit_blocks` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `practice_id` uuid NOT NULL,
  `number` integer NOT NULL,
  `at` datetime NOT NULL,
  `through` integer NOT NULL,
  `floor` integer NOT NULL DEFAULT 0,
  `entries` blob NOT NULL,
  `previous` blob NOT NULL,
  `hash` blob NOT NULL,
  CONSTRAINT `audit_blocks_hash_check` CHECK (length(hash) <= 32),
  CONSTRAINT `audit_blocks_previous_check` CHECK (length(previous) <= 32)
);
-- Create index "auditblock_practice_id_number" to table: "audit_blocks"
CREATE UNIQUE INDEX `auditblock_practice_id_number` ON `audit_blocks` (`practice_id`, `number`);
-- Create "audit_cuts" table
CREATE TABLE `audit_cuts` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `practice_id` uuid NOT NULL,
  `at` datetime NOT NULL,
  `number` integer NOT NULL,
  `hash` blob NOT NULL,
  `signature` blob NOT NULL,
  CONSTRAINT `audit_cuts_hash_check` CHECK (length(hash) <= 32),
  CONSTRAINT `audit_cuts_signature_check` CHECK (length(signature) <= 64)
);
-- Create index "auditcut_practice_id_number" to table: "audit_cuts"
CREATE UNIQUE INDEX `auditcut_practice_id_number` ON `audit_cuts` (`practice_id`, `number`);
-- Create "audit_events" table
CREATE TABLE `audit_events` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `practice_id` uuid NOT NULL,
  `at` datetime NOT NULL,
  `action` text NOT NULL,
  `resource` text NULL,
  `record_id` text NULL,
  `patient_id` integer NULL,
  `user_id` integer NULL,
  `token_id` uuid NULL,
  `session_id` uuid NULL,
  `application_id` uuid NULL,
  `request_id` text NULL,
  `operation` text NULL,
  `status` integer NULL,
  `fields` json NOT NULL,
  `details` json NOT NULL,
  `xid` integer NULL DEFAULT (NULL)
);
-- Create index "auditevent_practice_id_record_id_id" to table: "audit_events"
CREATE INDEX `auditevent_practice_id_record_id_id` ON `audit_events` (`practice_id`, `record_id`, `id`);
-- Create index "auditevent_practice_id_patient_id_id" to table: "audit_events"
CREATE INDEX `auditevent_practice_id_patient_id_id` ON `audit_events` (`practice_id`, `patient_id`, `id`) WHERE patient_id IS NOT NULL;
-- Create index "auditevent_practice_id_at_id" to table: "audit_events"
CREATE INDEX `auditevent_practice_id_at_id` ON `audit_events` (`practice_id`, `at`, `id`);
-- Create index "auditevent_xid" to table: "audit_events"
CREATE INDEX `auditevent_xid` ON `audit_events` (`xid`) WHERE xid IS NOT NULL;
-- Create "audit_reads" table
CREATE TABLE `audit_reads` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `practice_id` uuid NOT NULL,
  `patient_id` integer NOT NULL,
  `event_id` integer NOT NULL,
  `at` datetime NOT NULL
);
-- Create index "auditread_practice_id_patient_id_event_id" to table: "audit_reads"
CREATE INDEX `auditread_practice_id_patient_id_event_id` ON `audit_reads` (`practice_id`, `patient_id`, `event_id`);
-- Create "authorization_codes" table
CREATE TABLE `authorization_codes` (
  `id` uuid NOT NULL,
  `hash` blob NOT NULL,
  `redirect_uri` text NOT NULL,
  `scopes` text NOT NULL,
  `challenge` text NOT NULL DEFAULT '',
  `expires_at` datetime NOT NULL,
  `used_at` datetime NULL,
  `practice_id` uuid NOT NULL,
  `application_id` uuid NOT NULL,
  `user_id` integer NOT NULL,
  `token_id` uuid NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `authorization_codes_access_tokens_token` FOREIGN KEY (`practice_id`, `token_id`) REFERENCES `access_tokens` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `authorization_codes_users_user` FOREIGN KEY (`practice_id`, `user_id`) REFERENCES `users` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `authorization_codes_applications_application` FOREIGN KEY (`application_id`) REFERENCES `applications` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `authorization_codes_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `authorization_codes_hash_check` CHECK (length(hash) <= 32),
  CONSTRAINT `authorization_codes_scopes_check` CHECK (CAST(scopes AS text) = '' OR length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:delete ', '')) = length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - 2)
);
-- Create index "authorization_codes_hash_key" to table: "authorization_codes"
CREATE UNIQUE INDEX `authorization_codes_hash_key` ON `authorization_codes` (`hash`);
-- Create index "authorizationcode_expires_at" to table: "authorization_codes"
CREATE INDEX `authorizationcode_expires_at` ON `authorization_codes` (`expires_at`);
-- Create "contracts" table
CREATE TABLE `contracts` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `active` bool NOT NULL DEFAULT true,
  `contract_number` text NOT NULL,
  `end_date` date NULL,
  `name` text NOT NULL,
  `name_folded` text NOT NULL DEFAULT '',
  `nhs_location_id` text NULL,
  `nhs_site_id` text NULL,
  `notes` text NULL,
  `pds_plus` bool NOT NULL DEFAULT false,
  `start_date` date NOT NULL,
  `target` integer NULL,
  `uda_value` integer NULL,
  `uoa_target` integer NULL,
  `uoa_value` integer NULL,
  `practice_id` uuid NOT NULL,
  `site_id` uuid NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `contracts_sites_site` FOREIGN KEY (`practice_id`, `site_id`) REFERENCES `sites` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `contracts_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `contracts_contract_number_check` CHECK (trim(CAST(contract_number AS text), ' ') <> '' AND length(CAST(contract_number AS text)) <= 65535),
  CONSTRAINT `contracts_ends_after_start` CHECK (end_date >= start_date),
  CONSTRAINT `contracts_name_check` CHECK (trim(CAST(name AS text), ' ') <> '' AND length(CAST(name AS text)) <= 65535),
  CONSTRAINT `contracts_nhs_location_id_check` CHECK (length(CAST(nhs_location_id AS text)) <= 65535),
  CONSTRAINT `contracts_nhs_site_id_check` CHECK (length(CAST(nhs_site_id AS text)) <= 65535),
  CONSTRAINT `contracts_notes_check` CHECK (length(CAST(notes AS text)) <= 65535)
);
-- Create index "contract_practice_id_updated_at_id" to table: "contracts"
CREATE INDEX `contract_practice_id_updated_at_id` ON `contracts` (`practice_id`, `updated_at`, `id`);
-- Create index "contract_practice_id_created_at_id" to table: "contracts"
CREATE INDEX `contract_practice_id_created_at_id` ON `contracts` (`practice_id`, `created_at`, `id`);
-- Create index "contract_practice_id_name_folded_id" to table: "contracts"
CREATE INDEX `contract_practice_id_name_folded_id` ON `contracts` (`practice_id`, `name_folded`, `id`);
-- Create index "contracts_practice_id_id" to table: "contracts"
CREATE UNIQUE INDEX `contracts_practice_id_id` ON `contracts` (`practice_id`, `id`);
-- Create "custom_fields" table
CREATE TABLE `custom_fields` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `active` bool NOT NULL DEFAULT true,
  `customizable_type` text NOT NULL,
  `default_value` text NULL,
  `description` text NULL,
  `name` text NOT NULL,
  `options` json NOT NULL,
  `position` integer NOT NULL,
  `type` text NOT NULL,
  `width` integer NULL,
  `practice_id` uuid NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `custom_fields_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `custom_fields_customizable_type_check` CHECK (CAST(customizable_type AS text) IN ('Treatment', 'Patient')),
  CONSTRAINT `custom_fields_default_value_check` CHECK (length(CAST(default_value AS text)) <= 65535),
  CONSTRAINT `custom_fields_description_check` CHECK (length(CAST(description AS text)) <= 65535),
  CONSTRAINT `custom_fields_name_check` CHECK (trim(CAST(name AS text), ' ') <> '' AND length(CAST(name AS text)) <= 65535),
  CONSTRAINT `custom_fields_options_check` CHECK (json_type(options) IN ('array', 'null')),
  CONSTRAINT `custom_fields_type_check` CHECK (CAST(type AS text) IN ('checkbox', 'enum', 'number', 'text', 'textarea', 'title', 'spacer'))
);
-- Create index "customfield_practice_id_updated_at_id" to table: "custom_fields"
CREATE INDEX `customfield_practice_id_updated_at_id` ON `custom_fields` (`practice_id`, `updated_at`, `id`);
-- Create index "customfield_practice_id_created_at_id" to table: "custom_fields"
CREATE INDEX `customfield_practice_id_created_at_id` ON `custom_fields` (`practice_id`, `created_at`, `id`);
-- Create index "customfield_practice_id_position_id" to table: "custom_fields"
CREATE INDEX `customfield_practice_id_position_id` ON `custom_fields` (`practice_id`, `position`, `id`);
-- Create index "custom_fields_practice_id_id" to table: "custom_fields"
CREATE UNIQUE INDEX `custom_fields_practice_id_id` ON `custom_fields` (`practice_id`, `id`);
-- Create "custom_field_answers" table
CREATE TABLE `custom_field_answers` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `value` text NOT NULL,
  `practice_id` uuid NOT NULL,
  `custom_field_id` uuid NOT NULL,
  `patient_id` integer NOT NULL,
  `treatment_plan_item_id` integer NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `custom_field_answers_treatment_plan_items_answers` FOREIGN KEY (`practice_id`, `treatment_plan_item_id`) REFERENCES `treatment_plan_items` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `custom_field_answers_patients_answers` FOREIGN KEY (`practice_id`, `patient_id`) REFERENCES `patients` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `custom_field_answers_custom_fields_custom_field` FOREIGN KEY (`practice_id`, `custom_field_id`) REFERENCES `custom_fields` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `custom_field_answers_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION
);
-- Create index "customfieldanswer_practice_id_updated_at_id" to table: "custom_field_answers"
CREATE INDEX `customfieldanswer_practice_id_updated_at_id` ON `custom_field_answers` (`practice_id`, `updated_at`, `id`);
-- Create index "customfieldanswer_practice_id_created_at_id" to table: "custom_field_answers"
CREATE INDEX `customfieldanswer_practice_id_created_at_id` ON `custom_field_answers` (`practice_id`, `created_at`, `id`);
-- Create index "customfieldanswer_practice_id_patient_id_custom_field_id" to table: "custom_field_answers"
CREATE UNIQUE INDEX `customfieldanswer_practice_id_patient_id_custom_field_id` ON `custom_field_answers` (`practice_id`, `patient_id`, `custom_field_id`) WHERE treatment_plan_item_id IS NULL;
-- Create index "customfieldanswer_practice_id_treatment_plan_item_id_c_09227e75" to table: "custom_field_answers"
CREATE UNIQUE INDEX `customfieldanswer_practice_id_treatment_plan_item_id_c_09227e75` ON `custom_field_answers` (`practice_id`, `treatment_plan_item_id`, `custom_field_id`) WHERE treatment_plan_item_id IS NOT NULL;
-- Create "fees" table
CREATE TABLE `fees` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `multiple_pricing` bool NOT NULL DEFAULT false,
  `duration_one` integer NOT NULL DEFAULT 0,
  `duration_two` integer NOT NULL DEFAULT 0,
  `duration_three` integer NOT NULL DEFAULT 0,
  `duration_four` integer NOT NULL DEFAULT 0,
  `duration_five` integer NOT NULL DEFAULT 0,
  `price_one` integer NOT NULL DEFAULT 0,
  `price_two` integer NOT NULL DEFAULT 0,
  `price_three` integer NOT NULL DEFAULT 0,
  `price_four` integer NOT NULL DEFAULT 0,
  `price_five` integer NOT NULL DEFAULT 0,
  `practice_id` uuid NOT NULL,
  `payment_plan_id` integer NOT NULL,
  `treatment_id` integer NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `fees_treatments_fees` FOREIGN KEY (`practice_id`, `treatment_id`) REFERENCES `treatments` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `fees_payment_plans_fees` FOREIGN KEY (`practice_id`, `payment_plan_id`) REFERENCES `payment_plans` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `fees_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `fees_duration_five_check` CHECK (duration_five >= 0 AND duration_five <= 1440),
  CONSTRAINT `fees_duration_four_check` CHECK (duration_four >= 0 AND duration_four <= 1440),
  CONSTRAINT `fees_duration_one_check` CHECK (duration_one >= 0 AND duration_one <= 1440),
  CONSTRAINT `fees_duration_three_check` CHECK (duration_three >= 0 AND duration_three <= 1440),
  CONSTRAINT `fees_duration_two_check` CHECK (duration_two >= 0 AND duration_two <= 1440),
  CONSTRAINT `fees_price_five_check` CHECK (price_five >= 0),
  CONSTRAINT `fees_price_four_check` CHECK (price_four >= 0),
  CONSTRAINT `fees_price_one_check` CHECK (price_one >= 0),
  CONSTRAINT `fees_price_three_check` CHECK (price_three >= 0),
  CONSTRAINT `fees_price_two_check` CHECK (price_two >= 0)
);
-- Create index "fee_practice_id_updated_at_id" to table: "fees"
CREATE INDEX `fee_practice_id_updated_at_id` ON `fees` (`practice_id`, `updated_at`, `id`);
-- Create index "fee_practice_id_created_at_id" to table: "fees"
CREATE INDEX `fee_practice_id_created_at_id` ON `fees` (`practice_id`, `created_at`, `id`);
-- Create index "fee_practice_id_payment_plan_id_treatment_id" to table: "fees"
CREATE UNIQUE INDEX `fee_practice_id_payment_plan_id_treatment_id` ON `fees` (`practice_id`, `payment_plan_id`, `treatment_id`);
-- Create index "fee_practice_id_treatment_id_id" to table: "fees"
CREATE INDEX `fee_practice_id_treatment_id_id` ON `fees` (`practice_id`, `treatment_id`, `id`);
-- Create "feed_changes" table
CREATE TABLE `feed_changes` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `practice_id` uuid NOT NULL,
  `seq` integer NULL,
  `at` datetime NOT NULL,
  `resource` text NOT NULL,
  `record_id` text NOT NULL,
  `event` text NOT NULL,
  `site_key` text NULL,
  `origin` integer NOT NULL,
  CONSTRAINT `feed_changes_event_check` CHECK (CAST(event AS text) IN ('created', 'updated', 'deleted'))
);
-- Create index "feedchange_practice_id_seq" to table: "feed_changes"
CREATE INDEX `feedchange_practice_id_seq` ON `feed_changes` (`practice_id`, `seq`) WHERE seq IS NOT NULL;
-- Create index "feedchange_unnumbered" to table: "feed_changes"
CREATE INDEX `feedchange_unnumbered` ON `feed_changes` (`id`) WHERE seq IS NULL;
-- Create "feed_state" table
CREATE TABLE `feed_state` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `last_seq` integer NOT NULL,
  `swept_seq` integer NOT NULL,
  `epoch` text NOT NULL
);
-- Create "idempotency_keys" table
CREATE TABLE `idempotency_keys` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `practice_id` uuid NOT NULL,
  `token_id` uuid NOT NULL,
  `key_hash` blob NOT NULL,
  `request_hash` blob NOT NULL,
  `status` integer NOT NULL,
  `response` blob NOT NULL,
  `created_at` datetime NOT NULL,
  CONSTRAINT `idempotency_keys_key_hash_check` CHECK (length(key_hash) <= 32),
  CONSTRAINT `idempotency_keys_request_hash_check` CHECK (length(request_hash) <= 32)
);
-- Create index "idempotencykey_token_id_key_hash" to table: "idempotency_keys"
CREATE UNIQUE INDEX `idempotencykey_token_id_key_hash` ON `idempotency_keys` (`token_id`, `key_hash`);
-- Create index "idempotencykey_created_at" to table: "idempotency_keys"
CREATE INDEX `idempotencykey_created_at` ON `idempotency_keys` (`created_at`);
-- Create "import_runs" table
CREATE TABLE `import_runs` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `digest` text NOT NULL,
  `progress` blob NOT NULL,
  `finished_at` datetime NULL,
  CONSTRAINT `import_runs_digest_check` CHECK (length(CAST(digest AS text)) IN (64) AND trim(CAST(digest AS text), '0123456789abcdef') = '')
);
-- Create index "import_runs_digest_key" to table: "import_runs"
CREATE UNIQUE INDEX `import_runs_digest_key` ON `import_runs` (`digest`);
-- Create "imported_records" table
CREATE TABLE `imported_records` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `practice_id` uuid NOT NULL,
  `source` text NOT NULL,
  `resource` text NOT NULL,
  `legacy_id` text NOT NULL,
  `record_id` text NOT NULL
);
-- Create index "importedrecord_practice_id_resource_legacy_id_source" to table: "imported_records"
CREATE UNIQUE INDEX `importedrecord_practice_id_resource_legacy_id_source` ON `imported_records` (`practice_id`, `resource`, `legacy_id`, `source`);
-- Create "invoices" table
CREATE TABLE `invoices` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `amount` integer NOT NULL DEFAULT 0,
  `amount_outstanding` integer NOT NULL DEFAULT 0,
  `nhs_amount` integer NULL,
  `dated_on` date NOT NULL,
  `due_on` date NOT NULL,
  `footnote` text NULL,
  `paid` bool NOT NULL DEFAULT false,
  `paid_on` date NULL,
  `payment_terms` text NULL,
  `reference` text NULL,
  `sent_at` datetime NULL,
  `status` text NOT NULL DEFAULT 'new',
  `account_id` integer NOT NULL,
  `practice_id` uuid NOT NULL,
  `site_id` uuid NOT NULL,
  `user_id` integer NULL,
  `patient_id` integer NOT NULL,
  CONSTRAINT `invoices_patients_invoices` FOREIGN KEY (`practice_id`, `patient_id`) REFERENCES `patients` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `invoices_users_user` FOREIGN KEY (`practice_id`, `user_id`) REFERENCES `users` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `invoices_sites_site` FOREIGN KEY (`practice_id`, `site_id`) REFERENCES `sites` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `invoices_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `invoices_accounts_invoices` FOREIGN KEY (`practice_id`, `account_id`) REFERENCES `accounts` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `invoices_footnote_check` CHECK (length(CAST(footnote AS text)) <= 65535),
  CONSTRAINT `invoices_paid_agrees` CHECK (paid = (status = 'paid') AND (paid OR paid_on IS NULL)),
  CONSTRAINT `invoices_payment_terms_check` CHECK (length(CAST(payment_terms AS text)) <= 65535),
  CONSTRAINT `invoices_reference_check` CHECK (length(CAST(reference AS text)) <= 65535),
  CONSTRAINT `invoices_status_agrees` CHECK (CASE status WHEN 'void' THEN amount_outstanding = 0 WHEN 'paid' THEN amount_outstanding = 0 AND amount <> 0 WHEN 'part_paid' THEN amount_outstanding < amount AND (amount_outstanding <> 0 OR amount = 0) WHEN 'sent' THEN amount_outstanding >= amount AND (amount_outstanding <> 0 OR amount = 0) AND sent_at IS NOT NULL ELSE amount_outstanding >= amount AND (amount_outstanding <> 0 OR amount = 0) AND sent_at IS NULL END),
  CONSTRAINT `invoices_status_check` CHECK (CAST(status AS text) IN ('new', 'sent', 'part_paid', 'paid', 'void'))
);
-- Create index "invoice_practice_id_updated_at_id" to table: "invoices"
CREATE INDEX `invoice_practice_id_updated_at_id` ON `invoices` (`practice_id`, `updated_at`, `id`);
-- Create index "invoice_practice_id_created_at_id" to table: "invoices"
CREATE INDEX `invoice_practice_id_created_at_id` ON `invoices` (`practice_id`, `created_at`, `id`);
-- Create index "invoice_practice_id_dated_on_id" to table: "invoices"
CREATE INDEX `invoice_practice_id_dated_on_id` ON `invoices` (`practice_id`, `dated_on`, `id`);
-- Create index "invoice_practice_id_due_on_id" to table: "invoices"
CREATE INDEX `invoice_practice_id_due_on_id` ON `invoices` (`practice_id`, `due_on`, `id`);
-- Create index "invoice_practice_id_amount_id" to table: "invoices"
CREATE INDEX `invoice_practice_id_amount_id` ON `invoices` (`practice_id`, `amount`, `id`);
-- Create index "invoice_practice_id_patient_id_dated_on_id" to table: "invoices"
CREATE INDEX `invoice_practice_id_patient_id_dated_on_id` ON `invoices` (`practice_id`, `patient_id`, `dated_on`, `id`);
-- Create index "invoice_practice_id_account_id_dated_on_id" to table: "invoices"
CREATE INDEX `invoice_practice_id_account_id_dated_on_id` ON `invoices` (`practice_id`, `account_id`, `dated_on`, `id`);
-- Create index "invoice_practice_id_site_id_dated_on_id" to table: "invoices"
CREATE INDEX `invoice_practice_id_site_id_dated_on_id` ON `invoices` (`practice_id`, `site_id`, `dated_on`, `id`);
-- Create index "invoice_practice_id_paid_dated_on_id" to table: "invoices"
CREATE INDEX `invoice_practice_id_paid_dated_on_id` ON `invoices` (`practice_id`, `paid`, `dated_on`, `id`);
-- Create index "invoice_practice_id_status_dated_on_id" to table: "invoices"
CREATE INDEX `invoice_practice_id_status_dated_on_id` ON `invoices` (`practice_id`, `status`, `dated_on`, `id`);
-- Create index "invoice_open" to table: "invoices"
CREATE INDEX `invoice_open` ON `invoices` (`practice_id`, `id`) WHERE amount_outstanding <> 0;
-- Create index "invoices_practice_id_id" to table: "invoices"
CREATE UNIQUE INDEX `invoices_practice_id_id` ON `invoices` (`practice_id`, `id`);
-- Create "invoice_items" table
CREATE TABLE `invoice_items` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `name` text NOT NULL,
  `quantity` integer NOT NULL DEFAULT 1,
  `item_price` integer NOT NULL DEFAULT 0,
  `total_price` integer NOT NULL DEFAULT 0,
  `nhs_charge` bool NOT NULL DEFAULT false,
  `invoice_id` integer NOT NULL,
  `practice_id` uuid NOT NULL,
  `practitioner_id` integer NULL,
  `sundry_id` uuid NULL,
  `treatment_plan_id` integer NULL,
  `treatment_plan_item_id` integer NULL,
  `user_id` integer NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `invoice_items_users_user` FOREIGN KEY (`practice_id`, `user_id`) REFERENCES `users` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `invoice_items_treatment_plan_items_treatment_plan_item` FOREIGN KEY (`practice_id`, `treatment_plan_item_id`) REFERENCES `treatment_plan_items` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `invoice_items_treatment_plans_treatment_plan` FOREIGN KEY (`practice_id`, `treatment_plan_id`) REFERENCES `treatment_plans` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `invoice_items_sundries_sundry` FOREIGN KEY (`practice_id`, `sundry_id`) REFERENCES `sundries` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `invoice_items_practitioners_practitioner` FOREIGN KEY (`practice_id`, `practitioner_id`) REFERENCES `practitioners` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `invoice_items_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `invoice_items_invoices_invoice_items` FOREIGN KEY (`practice_id`, `invoice_id`) REFERENCES `invoices` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `invoice_items_name_check` CHECK (trim(CAST(name AS text), ' ') <> '' AND length(CAST(name AS text)) <= 65535),
  CONSTRAINT `invoice_items_quantity_check` CHECK (quantity >= 1 AND quantity <= 100000),
  CONSTRAINT `invoice_items_total_price` CHECK (total_price = quantity * item_price)
);
-- Create index "invoiceitem_practice_id_updated_at_id" to table: "invoice_items"
CREATE INDEX `invoiceitem_practice_id_updated_at_id` ON `invoice_items` (`practice_id`, `updated_at`, `id`);
-- Create index "invoiceitem_practice_id_created_at_id" to table: "invoice_items"
CREATE INDEX `invoiceitem_practice_id_created_at_id` ON `invoice_items` (`practice_id`, `created_at`, `id`);
-- Create index "invoiceitem_practice_id_invoice_id_id" to table: "invoice_items"
CREATE INDEX `invoiceitem_practice_id_invoice_id_id` ON `invoice_items` (`practice_id`, `invoice_id`, `id`);
-- Create index "invoiceitem_practice_id_practitioner_id_id" to table: "invoice_items"
CREATE INDEX `invoiceitem_practice_id_practitioner_id_id` ON `invoice_items` (`practice_id`, `practitioner_id`, `id`);
-- Create "logged_requests" table
CREATE TABLE `logged_requests` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `practice_id` uuid NOT NULL,
  `at` datetime NOT NULL,
  `token_id` uuid NOT NULL,
  `application_id` uuid NULL,
  `user_id` integer NOT NULL,
  `request_id` text NOT NULL,
  `method` text NOT NULL,
  `route` text NOT NULL,
  `status` integer NOT NULL,
  `error_code` text NULL,
  `duration_us` integer NOT NULL,
  `further` integer NOT NULL DEFAULT 0
);
-- Create index "loggedrequest_practice_id_id" to table: "logged_requests"
CREATE INDEX `loggedrequest_practice_id_id` ON `logged_requests` (`practice_id`, `id`);
-- Create index "loggedrequest_at" to table: "logged_requests"
CREATE INDEX `loggedrequest_at` ON `logged_requests` (`at`);
-- Create "nhs_claims" table
CREATE TABLE `nhs_claims` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `claim_status` text NOT NULL DEFAULT 'new',
  `sequence_number` integer NOT NULL,
  `status_comments` text NULL,
  `expected_uda` integer NULL,
  `awarded_uda` integer NULL,
  `uda_band` text NULL,
  `submitted_date` date NULL,
  `approval_date` date NULL,
  `dentist_charge` integer NULL,
  `patient_charge` integer NULL,
  `ni_calculated_dentist_fee` integer NULL,
  `ni_calculated_patient_fee` integer NULL,
  `scot_amount_authorised` integer NULL,
  `scot_amount_expected` integer NULL,
  `ortho` bool NOT NULL DEFAULT false,
  `continuation_part_number` integer NULL,
  `contract_id` uuid NOT NULL,
  `practice_id` uuid NOT NULL,
  `practitioner_id` integer NOT NULL,
  `treatment_plan_id` integer NULL,
  `site_id` uuid NOT NULL,
  `patient_id` integer NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `nhs_claims_patients_claims` FOREIGN KEY (`practice_id`, `patient_id`) REFERENCES `patients` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `nhs_claims_sites_site` FOREIGN KEY (`practice_id`, `site_id`) REFERENCES `sites` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `nhs_claims_treatment_plans_treatment_plan` FOREIGN KEY (`practice_id`, `treatment_plan_id`) REFERENCES `treatment_plans` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `nhs_claims_practitioners_practitioner` FOREIGN KEY (`practice_id`, `practitioner_id`) REFERENCES `practitioners` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `nhs_claims_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `nhs_claims_contracts_claims` FOREIGN KEY (`practice_id`, `contract_id`) REFERENCES `contracts` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `nhs_claims_claim_status_check` CHECK (CAST(claim_status AS text) IN ('new', 'queued', 'submitted', 'completed', 'error', 'invalid', 'received', 'queried', 'withdrawn')),
  CONSTRAINT `nhs_claims_status_comments_check` CHECK (length(CAST(status_comments AS text)) <= 65535),
  CONSTRAINT `nhs_claims_uda_band_check` CHECK (length(CAST(uda_band AS text)) <= 65535)
);
-- Create index "nhsclaim_practice_id_updated_at_id" to table: "nhs_claims"
CREATE INDEX `nhsclaim_practice_id_updated_at_id` ON `nhs_claims` (`practice_id`, `updated_at`, `id`);
-- Create index "nhsclaim_practice_id_created_at_id" to table: "nhs_claims"
CREATE INDEX `nhsclaim_practice_id_created_at_id` ON `nhs_claims` (`practice_id`, `created_at`, `id`);
-- Create index "nhsclaim_practice_id_claim_status_id" to table: "nhs_claims"
CREATE INDEX `nhsclaim_practice_id_claim_status_id` ON `nhs_claims` (`practice_id`, `claim_status`, `id`);
-- Create index "nhsclaim_practice_id_submitted_date_id" to table: "nhs_claims"
CREATE INDEX `nhsclaim_practice_id_submitted_date_id` ON `nhs_claims` (`practice_id`, `submitted_date`, `id`);
-- Create index "nhsclaim_practice_id_patient_id_id" to table: "nhs_claims"
CREATE INDEX `nhsclaim_practice_id_patient_id_id` ON `nhs_claims` (`practice_id`, `patient_id`, `id`);
-- Create index "nhsclaim_practice_id_practitioner_id_id" to table: "nhs_claims"
CREATE INDEX `nhsclaim_practice_id_practitioner_id_id` ON `nhs_claims` (`practice_id`, `practitioner_id`, `id`);
-- Create index "nhsclaim_practice_id_contract_id_id" to table: "nhs_claims"
CREATE INDEX `nhsclaim_practice_id_contract_id_id` ON `nhs_claims` (`practice_id`, `contract_id`, `id`);
-- Create "notes" table
CREATE TABLE `notes` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `body` text NOT NULL,
  `pinned` bool NOT NULL DEFAULT false,
  `kind` text NOT NULL DEFAULT 'clinical',
  `practice_id` uuid NOT NULL,
  `patient_id` integer NOT NULL,
  `user_id` integer NOT NULL,
  CONSTRAINT `notes_users_user` FOREIGN KEY (`practice_id`, `user_id`) REFERENCES `users` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `notes_patients_patient` FOREIGN KEY (`practice_id`, `patient_id`) REFERENCES `patients` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `notes_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `notes_body_check` CHECK (CAST(body AS text) LIKE 'sealed:%'),
  CONSTRAINT `notes_kind_check` CHECK (CAST(kind AS text) IN ('clinical', 'administrative'))
);
-- Create index "note_practice_id_updated_at_id" to table: "notes"
CREATE INDEX `note_practice_id_updated_at_id` ON `notes` (`practice_id`, `updated_at`, `id`);
-- Create index "note_practice_id_created_at_id" to table: "notes"
CREATE INDEX `note_practice_id_created_at_id` ON `notes` (`practice_id`, `created_at`, `id`);
-- Create index "note_practice_id_patient_id_id" to table: "notes"
CREATE INDEX `note_practice_id_patient_id_id` ON `notes` (`practice_id`, `patient_id`, `id`);
-- Create index "note_practice_id_kind_id" to table: "notes"
CREATE INDEX `note_practice_id_kind_id` ON `notes` (`practice_id`, `kind`, `id`);
-- Create "note_versions" table
CREATE TABLE `note_versions` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `note_id` integer NOT NULL,
  `body` text NOT NULL,
  `at` datetime NOT NULL,
  `practice_id` uuid NOT NULL,
  `patient_id` integer NOT NULL,
  `user_id` integer NULL,
  CONSTRAINT `note_versions_users_user` FOREIGN KEY (`practice_id`, `user_id`) REFERENCES `users` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `note_versions_patients_patient` FOREIGN KEY (`practice_id`, `patient_id`) REFERENCES `patients` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `note_versions_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `note_versions_body_check` CHECK (CAST(body AS text) LIKE 'sealed:%')
);
-- Create index "noteversion_practice_id_note_id_id" to table: "note_versions"
CREATE INDEX `noteversion_practice_id_note_id_id` ON `note_versions` (`practice_id`, `note_id`, `id`);
-- Create index "noteversion_practice_id_patient_id_id" to table: "note_versions"
CREATE INDEX `noteversion_practice_id_patient_id_id` ON `note_versions` (`practice_id`, `patient_id`, `id`);
-- Create "passkeys" table
CREATE TABLE `passkeys` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `name` text NOT NULL,
  `host` text NOT NULL,
  `credential_id` blob NOT NULL,
  `public_key` blob NOT NULL,
  `sign_count` integer NOT NULL,
  `transports` json NULL,
  `backup_eligible` bool NOT NULL,
  `backed_up` bool NOT NULL,
  `aaguid` uuid NOT NULL,
  `last_used_at` datetime NULL,
  `practice_id` uuid NOT NULL,
  `user_id` integer NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `passkeys_users_user` FOREIGN KEY (`practice_id`, `user_id`) REFERENCES `users` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `passkeys_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `passkeys_credential_id_check` CHECK (length(credential_id) <= 1023),
  CONSTRAINT `passkeys_transports_check` CHECK (json_type(transports) IN ('array', 'null'))
);
-- Create index "passkeys_credential_id_key" to table: "passkeys"
CREATE UNIQUE INDEX `passkeys_credential_id_key` ON `passkeys` (`credential_id`);
-- Create index "passkey_practice_id_user_id" to table: "passkeys"
CREATE INDEX `passkey_practice_id_user_id` ON `passkeys` (`practice_id`, `user_id`);
-- Create "passkey_challenges" table
CREATE TABLE `passkey_challenges` (
  `id` uuid NOT NULL,
  `token_hash` text NOT NULL,
  `purpose` text NOT NULL,
  `data` blob NOT NULL,
  `address` text NOT NULL,
  `expires_at` datetime NOT NULL,
  PRIMARY KEY (`id`)
);
-- Create index "passkey_challenges_token_hash_key" to table: "passkey_challenges"
CREATE UNIQUE INDEX `passkey_challenges_token_hash_key` ON `passkey_challenges` (`token_hash`);
-- Create index "passkeychallenge_address_expires_at" to table: "passkey_challenges"
CREATE INDEX `passkeychallenge_address_expires_at` ON `passkey_challenges` (`address`, `expires_at`);
-- Create index "passkeychallenge_expires_at" to table: "passkey_challenges"
CREATE INDEX `passkeychallenge_expires_at` ON `passkey_challenges` (`expires_at`);
-- Create "patients" table
CREATE TABLE `patients` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `title` text NOT NULL,
  `first_name` text NOT NULL,
  `middle_name` text NULL,
  `last_name` text NOT NULL,
  `preferred_name` text NULL,
  `first_name_folded` text NOT NULL DEFAULT '',
  `last_name_folded` text NOT NULL DEFAULT '',
  `date_of_birth` date NOT NULL,
  `gender` bool NOT NULL,
  `ethnicity` text NOT NULL,
  `active` bool NOT NULL DEFAULT true,
  `address_line_1` text NOT NULL,
  `address_line_2` text NULL,
  `town` text NULL,
  `county` text NULL,
  `postcode` text NOT NULL,
  `email_address` text NULL,
  `emergency_contact_name` text NULL,
  `emergency_contact_relationship` text NULL,
  `preferred_phone_number` integer NULL,
  `dentist_recall_date` date NULL,
  `dentist_recall_interval` integer NULL,
  `hygienist_recall_date` date NULL,
  `hygienist_recall_interval` integer NULL,
  `recall_method` text NOT NULL DEFAULT 'Letter',
  `doctor_id` integer NULL,
  `family_id` uuid NULL,
  `legacy_id` text NULL,
  `marketing` integer NOT NULL DEFAULT 0,
  `medical_alert` bool NOT NULL DEFAULT false,
  `medical_alert_text` text NULL,
  `nhs_number` text NULL,
  `ni_number` text NULL,
  `occupation` text NULL,
  `use_email` bool NOT NULL DEFAULT true,
  `use_sms` bool NOT NULL DEFAULT true,
  `custom_field_1` text NULL,
  `custom_field_2` text NULL,
  `metadata` json NOT NULL,
  `erased_at` datetime NULL,
  `legal_hold_at` datetime NULL,
  `legal_hold_reason` text NULL,
  `nhs_number_hash` text NULL,
  `search_text` text NOT NULL DEFAULT '',
  `home_phone` text NULL,
  `home_phone_country` text NULL,
  `home_phone_normalized` text NULL,
  `mobile_phone` text NULL,
  `mobile_phone_country` text NULL,
  `mobile_phone_normalized` text NULL,
  `work_phone` text NULL,
  `work_phone_country` text NULL,
  `work_phone_normalized` text NULL,
  `emergency_contact_phone` text NULL,
  `emergency_contact_phone_country` text NULL,
  `emergency_contact_phone_normalized` text NULL,
  `practice_id` uuid NOT NULL,
  `payment_plan_id` integer NOT NULL,
  `site_id` uuid NOT NULL,
  `dentist_id` integer NULL,
  `hygienist_id` integer NULL,
  `acquisition_source_id` uuid NULL,
  CONSTRAINT `patients_acquisition_sources_acquisition_source` FOREIGN KEY (`practice_id`, `acquisition_source_id`) REFERENCES `acquisition_sources` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `patients_practitioners_hygienist` FOREIGN KEY (`practice_id`, `hygienist_id`) REFERENCES `practitioners` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `patients_practitioners_dentist` FOREIGN KEY (`practice_id`, `dentist_id`) REFERENCES `practitioners` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `patients_sites_site` FOREIGN KEY (`practice_id`, `site_id`) REFERENCES `sites` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `patients_payment_plans_payment_plan` FOREIGN KEY (`practice_id`, `payment_plan_id`) REFERENCES `payment_plans` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `patients_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `patients_address_line_1_check` CHECK (trim(CAST(address_line_1 AS text), ' ') <> '' AND length(CAST(address_line_1 AS text)) <= 255),
  CONSTRAINT `patients_address_line_2_check` CHECK (length(CAST(address_line_2 AS text)) <= 255),
  CONSTRAINT `patients_county_check` CHECK (length(CAST(county AS text)) <= 255),
  CONSTRAINT `patients_custom_field_1_check` CHECK (length(CAST(custom_field_1 AS text)) <= 255),
  CONSTRAINT `patients_custom_field_2_check` CHECK (length(CAST(custom_field_2 AS text)) <= 255),
  CONSTRAINT `patients_dentist_recall_interval_check` CHECK (dentist_recall_interval >= 0 AND dentist_recall_interval <= 24),
  CONSTRAINT `patients_email_address_check` CHECK (length(CAST(email_address AS text)) <= 255 AND CAST(email_address AS text) LIKE '%_@_%._%'),
  CONSTRAINT `patients_emergency_contact_name_check` CHECK (length(CAST(emergency_contact_name AS text)) <= 255),
  CONSTRAINT `patients_emergency_contact_phone_check` CHECK (length(CAST(emergency_contact_phone AS text)) <= 255),
  CONSTRAINT `patients_emergency_contact_phone_country_check` CHECK (length(CAST(emergency_contact_phone_country AS text)) IN (2) AND trim(CAST(emergency_contact_phone_country AS text), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') = ''),
  CONSTRAINT `patients_emergency_contact_phone_normalized_check` CHECK (length(CAST(emergency_contact_phone_normalized AS text)) IN (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21) AND substr(CAST(emergency_contact_phone_normalized AS text), 1, 1) = '+' AND trim(substr(CAST(emergency_contact_phone_normalized AS text), 2), '0123456789') = ''),
  CONSTRAINT `patients_emergency_contact_relationship_check` CHECK (length(CAST(emergency_contact_relationship AS text)) <= 255),
  CONSTRAINT `patients_ethnicity_check` CHECK (length(CAST(ethnicity AS text)) IN (1, 2) AND trim(CAST(ethnicity AS text), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') = ''),
  CONSTRAINT `patients_first_name_check` CHECK (trim(CAST(first_name AS text), ' ') <> '' AND length(CAST(first_name AS text)) <= 255),
  CONSTRAINT `patients_home_phone_check` CHECK (length(CAST(home_phone AS text)) <= 255),
  CONSTRAINT `patients_home_phone_country_check` CHECK (length(CAST(home_phone_country AS text)) IN (2) AND trim(CAST(home_phone_country AS text), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') = ''),
  CONSTRAINT `patients_home_phone_normalized_check` CHECK (length(CAST(home_phone_normalized AS text)) IN (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21) AND substr(CAST(home_phone_normalized AS text), 1, 1) = '+' AND trim(substr(CAST(home_phone_normalized AS text), 2), '0123456789') = ''),
  CONSTRAINT `patients_hygienist_recall_interval_check` CHECK (hygienist_recall_interval >= 0 AND hygienist_recall_interval <= 24),
  CONSTRAINT `patients_last_name_check` CHECK (trim(CAST(last_name AS text), ' ') <> '' AND length(CAST(last_name AS text)) <= 255),
  CONSTRAINT `patients_legacy_id_check` CHECK (length(CAST(legacy_id AS text)) <= 255),
  CONSTRAINT `patients_medical_alert_text_check` CHECK (CAST(medical_alert_text AS text) LIKE 'sealed:%'),
  CONSTRAINT `patients_metadata_check` CHECK (json_type(metadata) IN ('object', 'null')),
  CONSTRAINT `patients_middle_name_check` CHECK (length(CAST(middle_name AS text)) <= 255),
  CONSTRAINT `patients_mobile_phone_check` CHECK (length(CAST(mobile_phone AS text)) <= 255),
  CONSTRAINT `patients_mobile_phone_country_check` CHECK (length(CAST(mobile_phone_country AS text)) IN (2) AND trim(CAST(mobile_phone_country AS text), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') = ''),
  CONSTRAINT `patients_mobile_phone_normalized_check` CHECK (length(CAST(mobile_phone_normalized AS text)) IN (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21) AND substr(CAST(mobile_phone_normalized AS text), 1, 1) = '+' AND trim(substr(CAST(mobile_phone_normalized AS text), 2), '0123456789') = ''),
  CONSTRAINT `patients_nhs_number_check` CHECK (CAST(nhs_number AS text) LIKE 'sealed:%'),
  CONSTRAINT `patients_ni_number_check` CHECK (CAST(ni_number AS text) LIKE 'sealed:%'),
  CONSTRAINT `patients_occupation_check` CHECK (length(CAST(occupation AS text)) <= 255),
  CONSTRAINT `patients_postcode_check` CHECK (trim(CAST(postcode AS text), ' ') <> '' AND length(CAST(postcode AS text)) <= 255),
  CONSTRAINT `patients_preferred_name_check` CHECK (length(CAST(preferred_name AS text)) <= 255),
  CONSTRAINT `patients_preferred_phone_number_check` CHECK (preferred_phone_number >= 1 AND preferred_phone_number <= 3),
  CONSTRAINT `patients_recall_method_check` CHECK (CAST(recall_method AS text) IN ('Letter', 'SMS', 'Email', 'Phone')),
  CONSTRAINT `patients_title_check` CHECK (CAST(title AS text) IN ('Mr', 'Mrs', 'Miss', 'Ms', 'Dr', 'Master', 'Prof', 'Hon', 'Rev', 'Sir', 'Lady', 'Lord', 'Earl', 'Judge', 'Dame')),
  CONSTRAINT `patients_town_check` CHECK (length(CAST(town AS text)) <= 255),
  CONSTRAINT `patients_work_phone_check` CHECK (length(CAST(work_phone AS text)) <= 255),
  CONSTRAINT `patients_work_phone_country_check` CHECK (length(CAST(work_phone_country AS text)) IN (2) AND trim(CAST(work_phone_country AS text), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') = ''),
  CONSTRAINT `patients_work_phone_normalized_check` CHECK (length(CAST(work_phone_normalized AS text)) IN (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21) AND substr(CAST(work_phone_normalized AS text), 1, 1) = '+' AND trim(substr(CAST(work_phone_normalized AS text), 2), '0123456789') = '')
);
-- Create index "patient_practice_id_updated_at_id" to table: "patients"
CREATE INDEX `patient_practice_id_updated_at_id` ON `patients` (`practice_id`, `updated_at`, `id`);
-- Create index "patient_practice_id_created_at_id" to table: "patients"
CREATE INDEX `patient_practice_id_created_at_id` ON `patients` (`practice_id`, `created_at`, `id`);
-- Create index "patient_practice_id_last_name_folded_id" to table: "patients"
CREATE INDEX `patient_practice_id_last_name_folded_id` ON `patients` (`practice_id`, `last_name_folded`, `id`);
-- Create index "patient_practice_id_first_name_folded_id" to table: "patients"
CREATE INDEX `patient_practice_id_first_name_folded_id` ON `patients` (`practice_id`, `first_name_folded`, `id`);
-- Create index "patient_practice_id_date_of_birth_id" to table: "patients"
CREATE INDEX `patient_practice_id_date_of_birth_id` ON `patients` (`practice_id`, `date_of_birth`, `id`);
-- Create index "patient_practice_id_site_id_id" to table: "patients"
CREATE INDEX `patient_practice_id_site_id_id` ON `patients` (`practice_id`, `site_id`, `id`);
-- Create index "patient_practice_id_active_id" to table: "patients"
CREATE INDEX `patient_practice_id_active_id` ON `patients` (`practice_id`, `active`, `id`);
-- Create index "patient_practice_id_legacy_id" to table: "patients"
CREATE INDEX `patient_practice_id_legacy_id` ON `patients` (`practice_id`, `legacy_id`);
-- Create index "patients_practice_id_id" to table: "patients"
CREATE UNIQUE INDEX `patients_practice_id_id` ON `patients` (`practice_id`, `id`);
-- Create "patient_referrals" table
CREATE TABLE `patient_referrals` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `referrable_type` text NOT NULL,
  `referrable_attributes` json NOT NULL,
  `status` text NOT NULL DEFAULT 'draft',
  `reference` text NULL,
  `dated_on` date NOT NULL,
  `practice_id` uuid NOT NULL,
  `patient_id` integer NOT NULL,
  CONSTRAINT `patient_referrals_patients_patient` FOREIGN KEY (`practice_id`, `patient_id`) REFERENCES `patients` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `patient_referrals_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `patient_referrals_reference_check` CHECK (length(CAST(reference AS text)) <= 255),
  CONSTRAINT `patient_referrals_referrable_attributes_check` CHECK (json_type(referrable_attributes) IN ('object', 'null')),
  CONSTRAINT `patient_referrals_referrable_type_check` CHECK (trim(CAST(referrable_type AS text), ' ') <> '' AND length(CAST(referrable_type AS text)) <= 255),
  CONSTRAINT `patient_referrals_status_check` CHECK (CAST(status AS text) IN ('draft', 'sent', 'received', 'accepted', 'declined', 'completed'))
);
-- Create index "patientreferral_practice_id_updated_at_id" to table: "patient_referrals"
CREATE INDEX `patientreferral_practice_id_updated_at_id` ON `patient_referrals` (`practice_id`, `updated_at`, `id`);
-- Create index "patientreferral_practice_id_created_at_id" to table: "patient_referrals"
CREATE INDEX `patientreferral_practice_id_created_at_id` ON `patient_referrals` (`practice_id`, `created_at`, `id`);
-- Create index "patientreferral_practice_id_patient_id_id" to table: "patient_referrals"
CREATE INDEX `patientreferral_practice_id_patient_id_id` ON `patient_referrals` (`practice_id`, `patient_id`, `id`);
-- Create index "patientreferral_practice_id_dated_on_id" to table: "patient_referrals"
CREATE INDEX `patientreferral_practice_id_dated_on_id` ON `patient_referrals` (`practice_id`, `dated_on`, `id`);
-- Create "payments" table
CREATE TABLE `payments` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `amount` integer NOT NULL DEFAULT 0,
  `amount_unexplained` integer NOT NULL DEFAULT 0,
  `dated_on` date NOT NULL,
  `deleted` bool NOT NULL DEFAULT false,
  `method` text NOT NULL,
  `patient_id` integer NOT NULL,
  `practice_id` uuid NOT NULL,
  `site_id` uuid NOT NULL,
  CONSTRAINT `payments_sites_site` FOREIGN KEY (`practice_id`, `site_id`) REFERENCES `sites` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `payments_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `payments_patients_payments` FOREIGN KEY (`practice_id`, `patient_id`) REFERENCES `patients` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `payments_method_check` CHECK (trim(CAST(method AS text), ' ') <> '' AND length(CAST(method AS text)) <= 65535)
);
-- Create index "payment_practice_id_updated_at_id" to table: "payments"
CREATE INDEX `payment_practice_id_updated_at_id` ON `payments` (`practice_id`, `updated_at`, `id`);
-- Create index "payment_practice_id_created_at_id" to table: "payments"
CREATE INDEX `payment_practice_id_created_at_id` ON `payments` (`practice_id`, `created_at`, `id`);
-- Create index "payment_dated" to table: "payments"
CREATE INDEX `payment_dated` ON `payments` (`practice_id`, `dated_on`, `id`, `amount`, `deleted`);
-- Create index "payment_practice_id_amount_id" to table: "payments"
CREATE INDEX `payment_practice_id_amount_id` ON `payments` (`practice_id`, `amount`, `id`);
-- Create index "payment_practice_id_patient_id_dated_on_id" to table: "payments"
CREATE INDEX `payment_practice_id_patient_id_dated_on_id` ON `payments` (`practice_id`, `patient_id`, `dated_on`, `id`);
-- Create index "payment_practice_id_site_id_dated_on_id" to table: "payments"
CREATE INDEX `payment_practice_id_site_id_dated_on_id` ON `payments` (`practice_id`, `site_id`, `dated_on`, `id`);
-- Create index "payment_unexplained" to table: "payments"
CREATE INDEX `payment_unexplained` ON `payments` (`practice_id`, `id`) WHERE amount_unexplained <> 0;
-- Create index "payments_practice_id_id" to table: "payments"
CREATE UNIQUE INDEX `payments_practice_id_id` ON `payments` (`practice_id`, `id`);
-- Create "payment_explanations" table
CREATE TABLE `payment_explanations` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `amount` integer NOT NULL DEFAULT 0,
  `invoice_id` integer NOT NULL,
  `payment_id` integer NOT NULL,
  `practice_id` uuid NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `payment_explanations_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `payment_explanations_payments_explanations` FOREIGN KEY (`practice_id`, `payment_id`) REFERENCES `payments` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `payment_explanations_invoices_explanations` FOREIGN KEY (`practice_id`, `invoice_id`) REFERENCES `invoices` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `payment_explanations_amount_check` CHECK (amount >= 1)
);
-- Create index "paymentexplanation_practice_id_updated_at_id" to table: "payment_explanations"
CREATE INDEX `paymentexplanation_practice_id_updated_at_id` ON `payment_explanations` (`practice_id`, `updated_at`, `id`);
-- Create index "paymentexplanation_practice_id_created_at_id" to table: "payment_explanations"
CREATE INDEX `paymentexplanation_practice_id_created_at_id` ON `payment_explanations` (`practice_id`, `created_at`, `id`);
-- Create index "paymentexplanation_practice_id_payment_id" to table: "payment_explanations"
CREATE INDEX `paymentexplanation_practice_id_payment_id` ON `payment_explanations` (`practice_id`, `payment_id`);
-- Create index "paymentexplanation_practice_id_invoice_id" to table: "payment_explanations"
CREATE INDEX `paymentexplanation_practice_id_invoice_id` ON `payment_explanations` (`practice_id`, `invoice_id`);
-- Create "payment_plans" table
CREATE TABLE `payment_plans` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `name` text NOT NULL,
  `active` bool NOT NULL DEFAULT true,
  `nhs` bool NOT NULL DEFAULT false,
  `practice_id` uuid NOT NULL,
  CONSTRAINT `payment_plans_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `payment_plans_name_check` CHECK (trim(CAST(name AS text), ' ') <> '' AND length(CAST(name AS text)) <= 65535)
);
-- Create index "paymentplan_practice_id_updated_at_id" to table: "payment_plans"
CREATE INDEX `paymentplan_practice_id_updated_at_id` ON `payment_plans` (`practice_id`, `updated_at`, `id`);
-- Create index "paymentplan_practice_id_created_at_id" to table: "payment_plans"
CREATE INDEX `paymentplan_practice_id_created_at_id` ON `payment_plans` (`practice_id`, `created_at`, `id`);
-- Create index "payment_plans_practice_id_id" to table: "payment_plans"
CREATE UNIQUE INDEX `payment_plans_practice_id_id` ON `payment_plans` (`practice_id`, `id`);
-- Create "practices" table
CREATE TABLE `practices` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `name` text NOT NULL,
  `slug` text NOT NULL,
  `country` text NOT NULL,
  `phone_number` text NULL,
  `email_address` text NULL,
  `website` text NULL,
  `logo_url` text NULL,
  `time_zone` text NOT NULL,
  `nhs` bool NOT NULL DEFAULT false,
  `minimum_appointment_duration` integer NOT NULL DEFAULT 15,
  `opening_hours` json NOT NULL,
  `record_retention_years` integer NULL,
  `closes_at` datetime NULL,
  `custom_patient_field_label_1` text NULL,
  `custom_patient_field_label_2` text NULL,
  `second_factor_level` integer NOT NULL DEFAULT 0,
  `idle_lock_minutes` integer NOT NULL DEFAULT 30,
  `search_key` text NULL,
  `address_line_1` text NULL,
  `address_line_2` text NULL,
  `town` text NULL,
  `county` text NULL,
  `postcode` text NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `practices_address_line_1_check` CHECK (length(CAST(address_line_1 AS text)) <= 65535),
  CONSTRAINT `practices_address_line_2_check` CHECK (length(CAST(address_line_2 AS text)) <= 65535),
  CONSTRAINT `practices_country_check` CHECK (length(CAST(country AS text)) IN (2) AND trim(CAST(country AS text), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') = ''),
  CONSTRAINT `practices_county_check` CHECK (length(CAST(county AS text)) <= 65535),
  CONSTRAINT `practices_custom_patient_field_label_1_check` CHECK (length(CAST(custom_patient_field_label_1 AS text)) <= 65535),
  CONSTRAINT `practices_custom_patient_field_label_2_check` CHECK (length(CAST(custom_patient_field_label_2 AS text)) <= 65535),
  CONSTRAINT `practices_email_address_check` CHECK (length(CAST(email_address AS text)) <= 65535),
  CONSTRAINT `practices_idle_lock_minutes_check` CHECK (idle_lock_minutes >= 0 AND idle_lock_minutes <= 120),
  CONSTRAINT `practices_logo_url_check` CHECK (length(CAST(logo_url AS text)) <= 65535),
  CONSTRAINT `practices_minimum_appointment_duration_check` CHECK (minimum_appointment_duration >= 1 AND minimum_appointment_duration <= 1440),
  CONSTRAINT `practices_name_check` CHECK (trim(CAST(name AS text), ' ') <> '' AND length(CAST(name AS text)) <= 65535),
  CONSTRAINT `practices_opening_hours_check` CHECK (json_type(opening_hours) IN ('object', 'null')),
  CONSTRAINT `practices_phone_number_check` CHECK (length(CAST(phone_number AS text)) <= 65535),
  CONSTRAINT `practices_postcode_check` CHECK (length(CAST(postcode AS text)) <= 65535),
  CONSTRAINT `practices_record_retention_years_check` CHECK (record_retention_years >= 1 AND record_retention_years <= 100),
  CONSTRAINT `practices_search_key_check` CHECK (CAST(search_key AS text) LIKE 'sealed:%'),
  CONSTRAINT `practices_second_factor_level_check` CHECK (second_factor_level >= 0 AND second_factor_level <= 4),
  CONSTRAINT `practices_slug_check` CHECK (trim(CAST(slug AS text), ' ') <> '' AND length(CAST(slug AS text)) <= 65535),
  CONSTRAINT `practices_time_zone_check` CHECK (trim(CAST(time_zone AS text), ' ') <> '' AND length(CAST(time_zone AS text)) <= 65535),
  CONSTRAINT `practices_town_check` CHECK (length(CAST(town AS text)) <= 65535),
  CONSTRAINT `practices_website_check` CHECK (length(CAST(website AS text)) <= 65535)
);
-- Create index "practices_slug_key" to table: "practices"
CREATE UNIQUE INDEX `practices_slug_key` ON `practices` (`slug`);
-- Create "practice_deletions" table
CREATE TABLE `practice_deletions` (
  `id` uuid NOT NULL,
  `requested_at` datetime NOT NULL,
  `due_at` datetime NOT NULL,
  `kept_elsewhere` text NOT NULL DEFAULT '',
  `deleted_at` datetime NULL,
  PRIMARY KEY (`id`)
);
-- Create "practitioners" table
CREATE TABLE `practitioners` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `active` bool NOT NULL DEFAULT true,
  `gdc_number` text NULL,
  `nhs_number` text NULL,
  `colour` text NULL,
  `uda_target` integer NULL,
  `uoa_target` integer NULL,
  `practice_id` uuid NOT NULL,
  `site_id` uuid NOT NULL,
  `user_id` integer NOT NULL,
  CONSTRAINT `practitioners_users_practitioner` FOREIGN KEY (`practice_id`, `user_id`) REFERENCES `users` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `practitioners_sites_site` FOREIGN KEY (`practice_id`, `site_id`) REFERENCES `sites` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `practitioners_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `practitioners_colour_check` CHECK (length(CAST(colour AS text)) IN (4, 7) AND substr(CAST(colour AS text), 1, 1) = '#' AND trim(substr(CAST(colour AS text), 2), '0123456789abcdefABCDEF') = ''),
  CONSTRAINT `practitioners_gdc_number_check` CHECK (length(CAST(gdc_number AS text)) <= 65535),
  CONSTRAINT `practitioners_nhs_number_check` CHECK (length(CAST(nhs_number AS text)) <= 65535)
);
-- Create index "practitioners_user_id_key" to table: "practitioners"
CREATE UNIQUE INDEX `practitioners_user_id_key` ON `practitioners` (`user_id`);
-- Create index "practitioner_practice_id_updated_at_id" to table: "practitioners"
CREATE INDEX `practitioner_practice_id_updated_at_id` ON `practitioners` (`practice_id`, `updated_at`, `id`);
-- Create index "practitioner_practice_id_created_at_id" to table: "practitioners"
CREATE INDEX `practitioner_practice_id_created_at_id` ON `practitioners` (`practice_id`, `created_at`, `id`);
-- Create index "practitioner_practice_id_site_id_id" to table: "practitioners"
CREATE INDEX `practitioner_practice_id_site_id_id` ON `practitioners` (`practice_id`, `site_id`, `id`);
-- Create index "practitioners_practice_id_id" to table: "practitioners"
CREATE UNIQUE INDEX `practitioners_practice_id_id` ON `practitioners` (`practice_id`, `id`);
-- Create "rate_buckets" table
CREATE TABLE `rate_buckets` (
  `id` uuid NOT NULL,
  `full_at` integer NOT NULL,
  `cost` integer NOT NULL,
  PRIMARY KEY (`id`)
);
-- Create index "ratebucket_full_at" to table: "rate_buckets"
CREATE INDEX `ratebucket_full_at` ON `rate_buckets` (`full_at`);
-- Create "recalls" table
CREATE TABLE `recalls` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `recall_type` text NOT NULL,
  `due_on` date NOT NULL,
  `method` text NULL,
  `status` text NOT NULL DEFAULT 'due',
  `contacted_at` datetime NULL,
  `practice_id` uuid NOT NULL,
  `patient_id` integer NOT NULL,
  `practitioner_id` integer NULL,
  `appointment_id` integer NULL,
  CONSTRAINT `recalls_appointments_appointment` FOREIGN KEY (`practice_id`, `appointment_id`) REFERENCES `appointments` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `recalls_practitioners_practitioner` FOREIGN KEY (`practice_id`, `practitioner_id`) REFERENCES `practitioners` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `recalls_patients_patient` FOREIGN KEY (`practice_id`, `patient_id`) REFERENCES `patients` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `recalls_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `recalls_contacted_has_time` CHECK (status <> 'contacted' OR contacted_at IS NOT NULL),
  CONSTRAINT `recalls_method_check` CHECK (CAST(method AS text) IN ('Letter', 'SMS', 'Email', 'Phone')),
  CONSTRAINT `recalls_recall_type_check` CHECK (CAST(recall_type AS text) IN ('exam', 'hygiene')),
  CONSTRAINT `recalls_status_check` CHECK (CAST(status AS text) IN ('due', 'contacted', 'booked', 'completed', 'cancelled'))
);
-- Create index "recall_practice_id_updated_at_id" to table: "recalls"
CREATE INDEX `recall_practice_id_updated_at_id` ON `recalls` (`practice_id`, `updated_at`, `id`);
-- Create index "recall_practice_id_created_at_id" to table: "recalls"
CREATE INDEX `recall_practice_id_created_at_id` ON `recalls` (`practice_id`, `created_at`, `id`);
-- Create index "recall_practice_id_due_on_id" to table: "recalls"
CREATE INDEX `recall_practice_id_due_on_id` ON `recalls` (`practice_id`, `due_on`, `id`);
-- Create index "recall_practice_id_patient_id_id" to table: "recalls"
CREATE INDEX `recall_practice_id_patient_id_id` ON `recalls` (`practice_id`, `patient_id`, `id`);
-- Create index "recall_practice_id_practitioner_id_id" to table: "recalls"
CREATE INDEX `recall_practice_id_practitioner_id_id` ON `recalls` (`practice_id`, `practitioner_id`, `id`);
-- Create index "recall_practice_id_status_id" to table: "recalls"
CREATE INDEX `recall_practice_id_status_id` ON `recalls` (`practice_id`, `status`, `id`);
-- Create index "recall_practice_id_recall_type_id" to table: "recalls"
CREATE INDEX `recall_practice_id_recall_type_id` ON `recalls` (`practice_id`, `recall_type`, `id`);
-- Create index "recall_appointment_id" to table: "recalls"
CREATE INDEX `recall_appointment_id` ON `recalls` (`appointment_id`) WHERE appointment_id IS NOT NULL;
-- Create "refresh_tokens" table
CREATE TABLE `refresh_tokens` (
  `id` uuid NOT NULL,
  `hash` blob NOT NULL,
  `scopes` text NOT NULL,
  `created_at` datetime NOT NULL,
  `expires_at` datetime NOT NULL,
  `used_at` datetime NULL,
  `practice_id` uuid NOT NULL,
  `token_id` uuid NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `refresh_tokens_access_tokens_token` FOREIGN KEY (`practice_id`, `token_id`) REFERENCES `access_tokens` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `refresh_tokens_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `refresh_tokens_hash_check` CHECK (length(hash) <= 32),
  CONSTRAINT `refresh_tokens_scopes_check` CHECK (CAST(scopes AS text) = '' OR length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' webhook:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' audit:delete ', '')) = length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - 2)
);
-- Create index "refresh_tokens_hash_key" to table: "refresh_tokens"
CREATE UNIQUE INDEX `refresh_tokens_hash_key` ON `refresh_tokens` (`hash`);
-- Create index "refreshtoken_token_id" to table: "refresh_tokens"
CREATE INDEX `refreshtoken_token_id` ON `refresh_tokens` (`token_id`);
-- Create index "refreshtoken_expires_at" to table: "refresh_tokens"
CREATE INDEX `refreshtoken_expires_at` ON `refresh_tokens` (`expires_at`);
-- Create "report_schedules" table
CREATE TABLE `report_schedules` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `report` text NOT NULL,
  `weekday` integer NOT NULL,
  `minute` integer NOT NULL,
  `period` text NOT NULL,
  `format` text NOT NULL,
  `folder` text NOT NULL DEFAULT '',
  `address` text NOT NULL DEFAULT '',
  `created_at` datetime NOT NULL,
  `due_at` datetime NOT NULL,
  `attempt_at` datetime NOT NULL,
  `lease` integer NOT NULL DEFAULT 0,
  `leased_until` datetime NOT NULL,
  `failures` integer NOT NULL DEFAULT 0,
  `refusals` integer NOT NULL DEFAULT 0,
  `last_run_at` datetime NULL,
  `failing_since` datetime NULL,
  `failure` text NOT NULL DEFAULT '',
  `stopped_at` datetime NULL,
  `stopped_reason` text NOT NULL DEFAULT '',
  `practice_id` uuid NOT NULL,
  `user_id` integer NOT NULL,
  CONSTRAINT `report_schedules_users_user` FOREIGN KEY (`practice_id`, `user_id`) REFERENCES `users` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `report_schedules_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `report_schedules_format_check` CHECK (CAST(format AS text) IN ('xlsx', 'csv', 'html')),
  CONSTRAINT `report_schedules_minute_check` CHECK (minute >= 0 AND minute <= 1439),
  CONSTRAINT `report_schedules_one_destination` CHECK ((folder = '') <> (address = '')),
  CONSTRAINT `report_schedules_period_check` CHECK (CAST(period AS text) IN ('default', 'last-week', 'last-month')),
  CONSTRAINT `report_schedules_weekday_check` CHECK (weekday >= 0 AND weekday <= 6)
);
-- Create index "reportschedule_practice_id_user_id" to table: "report_schedules"
CREATE INDEX `reportschedule_practice_id_user_id` ON `report_schedules` (`practice_id`, `user_id`);
-- Create index "reportschedule_attempt_at" to table: "report_schedules"
CREATE INDEX `reportschedule_attempt_at` ON `report_schedules` (`attempt_at`) WHERE stopped_at IS NULL;
-- Create "rooms" table
CREATE TABLE `rooms` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `name` text NOT NULL,
  `active` bool NOT NULL DEFAULT true,
  `practice_id` uuid NOT NULL,
  `site_id` uuid NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `rooms_sites_site` FOREIGN KEY (`practice_id`, `site_id`) REFERENCES `sites` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `rooms_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `rooms_name_check` CHECK (trim(CAST(name AS text), ' ') <> '' AND length(CAST(name AS text)) <= 65535)
);
-- Create index "room_practice_id_updated_at_id" to table: "rooms"
CREATE INDEX `room_practice_id_updated_at_id` ON `rooms` (`practice_id`, `updated_at`, `id`);
-- Create index "room_practice_id_created_at_id" to table: "rooms"
CREATE INDEX `room_practice_id_created_at_id` ON `rooms` (`practice_id`, `created_at`, `id`);
-- Create index "room_practice_id_site_id_id" to table: "rooms"
CREATE INDEX `room_practice_id_site_id_id` ON `rooms` (`practice_id`, `site_id`, `id`);
-- Create index "rooms_practice_id_id" to table: "rooms"
CREATE UNIQUE INDEX `rooms_practice_id_id` ON `rooms` (`practice_id`, `id`);
-- Create "sessions" table
CREATE TABLE `sessions` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `token_hash` text NOT NULL,
  `data` blob NOT NULL,
  `browser` text NOT NULL DEFAULT '',
  `address` text NOT NULL DEFAULT '',
  `last_seen_at` datetime NOT NULL,
  `expires_at` datetime NOT NULL,
  `practice_id` uuid NOT NULL,
  `user_id` integer NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `sessions_users_user` FOREIGN KEY (`practice_id`, `user_id`) REFERENCES `users` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `sessions_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION
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
  `succeeded` bool NOT NULL DEFAULT false,
  CONSTRAINT `sign_in_attempts_account_check` CHECK (length(account) <= 32)
);
-- Create index "signinattempt_account_at" to table: "sign_in_attempts"
CREATE INDEX `signinattempt_account_at` ON `sign_in_attempts` (`account`, `at`);
-- Create index "signinattempt_address_at" to table: "sign_in_attempts"
CREATE INDEX `signinattempt_address_at` ON `sign_in_attempts` (`address`, `at`);
-- Create index "signinattempt_at" to table: "sign_in_attempts"
CREATE INDEX `signinattempt_at` ON `sign_in_attempts` (`at`);
-- Create "sites" table
CREATE TABLE `sites` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `name` text NOT NULL,
  `nickname` text NULL,
  `active` bool NOT NULL DEFAULT true,
  `phone_number` text NULL,
  `email_address` text NULL,
  `opening_hours` json NOT NULL,
  `address_line_1` text NULL,
  `address_line_2` text NULL,
  `town` text NULL,
  `county` text NULL,
  `postcode` text NULL,
  `practice_id` uuid NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `sites_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `sites_address_line_1_check` CHECK (length(CAST(address_line_1 AS text)) <= 65535),
  CONSTRAINT `sites_address_line_2_check` CHECK (length(CAST(address_line_2 AS text)) <= 65535),
  CONSTRAINT `sites_county_check` CHECK (length(CAST(county AS text)) <= 65535),
  CONSTRAINT `sites_email_address_check` CHECK (length(CAST(email_address AS text)) <= 65535),
  CONSTRAINT `sites_name_check` CHECK (trim(CAST(name AS text), ' ') <> '' AND length(CAST(name AS text)) <= 65535),
  CONSTRAINT `sites_nickname_check` CHECK (length(CAST(nickname AS text)) <= 65535),
  CONSTRAINT `sites_opening_hours_check` CHECK (json_type(opening_hours) IN ('object', 'null')),
  CONSTRAINT `sites_phone_number_check` CHECK (length(CAST(phone_number AS text)) <= 65535),
  CONSTRAINT `sites_postcode_check` CHECK (length(CAST(postcode AS text)) <= 65535),
  CONSTRAINT `sites_town_check` CHECK (length(CAST(town AS text)) <= 65535)
);
-- Create index "site_practice_id_updated_at_id" to table: "sites"
CREATE INDEX `site_practice_id_updated_at_id` ON `sites` (`practice_id`, `updated_at`, `id`);
-- Create index "site_practice_id_created_at_id" to table: "sites"
CREATE INDEX `site_practice_id_created_at_id` ON `sites` (`practice_id`, `created_at`, `id`);
-- Create index "sites_practice_id_id" to table: "sites"
CREATE UNIQUE INDEX `sites_practice_id_id` ON `sites` (`practice_id`, `id`);
-- Create "sundries" table
CREATE TABLE `sundries` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `name` text NOT NULL,
  `price` integer NOT NULL DEFAULT 0,
  `active` bool NOT NULL DEFAULT true,
  `practice_id` uuid NOT NULL,
  `site_id` uuid NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `sundries_sites_site` FOREIGN KEY (`practice_id`, `site_id`) REFERENCES `sites` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `sundries_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `sundries_name_check` CHECK (trim(CAST(name AS text), ' ') <> '' AND length(CAST(name AS text)) <= 65535)
);
-- Create index "sundry_practice_id_updated_at_id" to table: "sundries"
CREATE INDEX `sundry_practice_id_updated_at_id` ON `sundries` (`practice_id`, `updated_at`, `id`);
-- Create index "sundry_practice_id_created_at_id" to table: "sundries"
CREATE INDEX `sundry_practice_id_created_at_id` ON `sundries` (`practice_id`, `created_at`, `id`);
-- Create index "sundries_practice_id_id" to table: "sundries"
CREATE UNIQUE INDEX `sundries_practice_id_id` ON `sundries` (`practice_id`, `id`);
-- Create "treatments" table
CREATE TABLE `treatments` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `nomenclature` text NOT NULL,
  `patient_nomenclature` text NULL,
  `nhs_treatment_cat` text NULL,
  `uda_band` text NULL,
  `active` bool NOT NULL DEFAULT true,
  `practice_id` uuid NOT NULL,
  `treatment_category_id` integer NULL,
  CONSTRAINT `treatments_treatment_categories_treatment_category` FOREIGN KEY (`practice_id`, `treatment_category_id`) REFERENCES `treatment_categories` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatments_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatments_nhs_treatment_cat_check` CHECK (length(CAST(nhs_treatment_cat AS text)) <= 65535),
  CONSTRAINT `treatments_nomenclature_check` CHECK (trim(CAST(nomenclature AS text), ' ') <> '' AND length(CAST(nomenclature AS text)) <= 65535),
  CONSTRAINT `treatments_patient_nomenclature_check` CHECK (length(CAST(patient_nomenclature AS text)) <= 65535),
  CONSTRAINT `treatments_uda_band_check` CHECK (length(CAST(uda_band AS text)) <= 65535)
);
-- Create index "treatment_practice_id_updated_at_id" to table: "treatments"
CREATE INDEX `treatment_practice_id_updated_at_id` ON `treatments` (`practice_id`, `updated_at`, `id`);
-- Create index "treatment_practice_id_created_at_id" to table: "treatments"
CREATE INDEX `treatment_practice_id_created_at_id` ON `treatments` (`practice_id`, `created_at`, `id`);
-- Create index "treatments_practice_id_id" to table: "treatments"
CREATE UNIQUE INDEX `treatments_practice_id_id` ON `treatments` (`practice_id`, `id`);
-- Create "treatment_appointments" table
CREATE TABLE `treatment_appointments` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `position` integer NOT NULL,
  `notes` text NULL,
  `bookable` bool NOT NULL DEFAULT true,
  `practice_id` uuid NOT NULL,
  `treatment_plan_id` integer NOT NULL,
  `patient_id` integer NOT NULL,
  `appointment_id` integer NULL,
  CONSTRAINT `treatment_appointments_appointments_appointment` FOREIGN KEY (`practice_id`, `appointment_id`) REFERENCES `appointments` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_appointments_patients_patient` FOREIGN KEY (`practice_id`, `patient_id`) REFERENCES `patients` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_appointments_treatment_plans_treatment_plan` FOREIGN KEY (`practice_id`, `treatment_plan_id`) REFERENCES `treatment_plans` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_appointments_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_appointments_notes_check` CHECK (length(CAST(notes AS text)) <= 65535),
  CONSTRAINT `treatment_appointments_position_check` CHECK (position >= 1)
);
-- Create index "treatmentappointment_practice_id_updated_at_id" to table: "treatment_appointments"
CREATE INDEX `treatmentappointment_practice_id_updated_at_id` ON `treatment_appointments` (`practice_id`, `updated_at`, `id`);
-- Create index "treatmentappointment_practice_id_created_at_id" to table: "treatment_appointments"
CREATE INDEX `treatmentappointment_practice_id_created_at_id` ON `treatment_appointments` (`practice_id`, `created_at`, `id`);
-- Create index "treatmentappointment_practice_id_patient_id_id" to table: "treatment_appointments"
CREATE INDEX `treatmentappointment_practice_id_patient_id_id` ON `treatment_appointments` (`practice_id`, `patient_id`, `id`);
-- Create index "treatmentappointment_practice_id_treatment_plan_id_id" to table: "treatment_appointments"
CREATE INDEX `treatmentappointment_practice_id_treatment_plan_id_id` ON `treatment_appointments` (`practice_id`, `treatment_plan_id`, `id`);
-- Create index "treatmentappointment_appointment_id" to table: "treatment_appointments"
CREATE INDEX `treatmentappointment_appointment_id` ON `treatment_appointments` (`appointment_id`) WHERE appointment_id IS NOT NULL;
-- Create "treatment_categories" table
CREATE TABLE `treatment_categories` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `name` text NOT NULL,
  `practice_id` uuid NOT NULL,
  CONSTRAINT `treatment_categories_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_categories_name_check` CHECK (trim(CAST(name AS text), ' ') <> '' AND length(CAST(name AS text)) <= 65535)
);
-- Create index "treatmentcategory_practice_id_updated_at_id" to table: "treatment_categories"
CREATE INDEX `treatmentcategory_practice_id_updated_at_id` ON `treatment_categories` (`practice_id`, `updated_at`, `id`);
-- Create index "treatmentcategory_practice_id_created_at_id" to table: "treatment_categories"
CREATE INDEX `treatmentcategory_practice_id_created_at_id` ON `treatment_categories` (`practice_id`, `created_at`, `id`);
-- Create index "treatment_categories_practice_id_id" to table: "treatment_categories"
CREATE UNIQUE INDEX `treatment_categories_practice_id_id` ON `treatment_categories` (`practice_id`, `id`);
-- Create "treatment_plans" table
CREATE TABLE `treatment_plans` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `nickname` text NULL,
  `completed` bool NOT NULL DEFAULT false,
  `completed_at` datetime NULL,
  `start_date` date NULL,
  `end_date` date NULL,
  `private_treatment_value` integer NOT NULL DEFAULT 0,
  `nhs_uda_value` integer NOT NULL DEFAULT 0,
  `patient_id` integer NOT NULL,
  `practice_id` uuid NOT NULL,
  `practitioner_id` integer NOT NULL,
  `payment_plan_id` integer NOT NULL,
  CONSTRAINT `treatment_plans_payment_plans_payment_plan` FOREIGN KEY (`practice_id`, `payment_plan_id`) REFERENCES `payment_plans` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_plans_practitioners_practitioner` FOREIGN KEY (`practice_id`, `practitioner_id`) REFERENCES `practitioners` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_plans_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_plans_patients_treatment_plans` FOREIGN KEY (`practice_id`, `patient_id`) REFERENCES `patients` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_plans_completion` CHECK (completed = (completed_at IS NOT NULL)),
  CONSTRAINT `treatment_plans_nickname_check` CHECK (length(CAST(nickname AS text)) <= 65535)
);
-- Create index "treatmentplan_practice_id_updated_at_id" to table: "treatment_plans"
CREATE INDEX `treatmentplan_practice_id_updated_at_id` ON `treatment_plans` (`practice_id`, `updated_at`, `id`);
-- Create index "treatmentplan_practice_id_created_at_id" to table: "treatment_plans"
CREATE INDEX `treatmentplan_practice_id_created_at_id` ON `treatment_plans` (`practice_id`, `created_at`, `id`);
-- Create index "treatmentplan_practice_id_patient_id_id" to table: "treatment_plans"
CREATE INDEX `treatmentplan_practice_id_patient_id_id` ON `treatment_plans` (`practice_id`, `patient_id`, `id`);
-- Create index "treatmentplan_practice_id_practitioner_id_id" to table: "treatment_plans"
CREATE INDEX `treatmentplan_practice_id_practitioner_id_id` ON `treatment_plans` (`practice_id`, `practitioner_id`, `id`);
-- Create index "treatmentplan_practice_id_completed_id" to table: "treatment_plans"
CREATE INDEX `treatmentplan_practice_id_completed_id` ON `treatment_plans` (`practice_id`, `completed`, `id`);
-- Create index "treatment_plans_practice_id_id" to table: "treatment_plans"
CREATE UNIQUE INDEX `treatment_plans_practice_id_id` ON `treatment_plans` (`practice_id`, `id`);
-- Create "treatment_plan_items" table
CREATE TABLE `treatment_plan_items` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `teeth` json NOT NULL,
  `surfaces` json NOT NULL,
  `price` integer NOT NULL DEFAULT 0,
  `duration` integer NOT NULL DEFAULT 0,
  `completed` bool NOT NULL DEFAULT false,
  `completed_at` datetime NULL,
  `charged` bool NOT NULL DEFAULT false,
  `uda_band` text NULL,
  `nomenclature` text NOT NULL,
  `notes` text NULL,
  `treatment_plan_id` integer NOT NULL,
  `practice_id` uuid NOT NULL,
  `treatment_id` integer NOT NULL,
  `patient_id` integer NOT NULL,
  `practitioner_id` integer NOT NULL,
  `payment_plan_id` integer NOT NULL,
  `invoice_id` integer NULL,
  CONSTRAINT `treatment_plan_items_invoices_invoice` FOREIGN KEY (`practice_id`, `invoice_id`) REFERENCES `invoices` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_plan_items_payment_plans_payment_plan` FOREIGN KEY (`practice_id`, `payment_plan_id`) REFERENCES `payment_plans` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_plan_items_practitioners_practitioner` FOREIGN KEY (`practice_id`, `practitioner_id`) REFERENCES `practitioners` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_plan_items_patients_patient` FOREIGN KEY (`practice_id`, `patient_id`) REFERENCES `patients` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_plan_items_treatments_treatment` FOREIGN KEY (`practice_id`, `treatment_id`) REFERENCES `treatments` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_plan_items_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_plan_items_treatment_plans_items` FOREIGN KEY (`practice_id`, `treatment_plan_id`) REFERENCES `treatment_plans` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `treatment_plan_items_charged` CHECK (charged = (invoice_id IS NOT NULL)),
  CONSTRAINT `treatment_plan_items_completion` CHECK (completed = (completed_at IS NOT NULL)),
  CONSTRAINT `treatment_plan_items_duration_check` CHECK (duration >= 0),
  CONSTRAINT `treatment_plan_items_nomenclature_check` CHECK (trim(CAST(nomenclature AS text), ' ') <> '' AND length(CAST(nomenclature AS text)) <= 65535),
  CONSTRAINT `treatment_plan_items_notes_check` CHECK (length(CAST(notes AS text)) <= 65535),
  CONSTRAINT `treatment_plan_items_surfaces_check` CHECK (json_type(surfaces) IN ('array', 'null')),
  CONSTRAINT `treatment_plan_items_teeth_check` CHECK (json_type(teeth) IN ('array', 'null')),
  CONSTRAINT `treatment_plan_items_uda_band_check` CHECK (length(CAST(uda_band AS text)) <= 65535)
);
-- Create index "treatmentplanitem_practice_id_updated_at_id" to table: "treatment_plan_items"
CREATE INDEX `treatmentplanitem_practice_id_updated_at_id` ON `treatment_plan_items` (`practice_id`, `updated_at`, `id`);
-- Create index "treatmentplanitem_practice_id_created_at_id" to table: "treatment_plan_items"
CREATE INDEX `treatmentplanitem_practice_id_created_at_id` ON `treatment_plan_items` (`practice_id`, `created_at`, `id`);
-- Create index "treatmentplanitem_practice_id_patient_id_id" to table: "treatment_plan_items"
CREATE INDEX `treatmentplanitem_practice_id_patient_id_id` ON `treatment_plan_items` (`practice_id`, `patient_id`, `id`);
-- Create index "treatmentplanitem_practice_id_treatment_plan_id_id" to table: "treatment_plan_items"
CREATE INDEX `treatmentplanitem_practice_id_treatment_plan_id_id` ON `treatment_plan_items` (`practice_id`, `treatment_plan_id`, `id`);
-- Create index "treatmentplanitem_practice_id_practitioner_id_id" to table: "treatment_plan_items"
CREATE INDEX `treatmentplanitem_practice_id_practitioner_id_id` ON `treatment_plan_items` (`practice_id`, `practitioner_id`, `id`);
-- Create index "treatmentplanitem_practice_id_invoice_id_id" to table: "treatment_plan_items"
CREATE INDEX `treatmentplanitem_practice_id_invoice_id_id` ON `treatment_plan_items` (`practice_id`, `invoice_id`, `id`);
-- Create index "treatmentplanitem_practice_id_completed_id" to table: "treatment_plan_items"
CREATE INDEX `treatmentplanitem_practice_id_completed_id` ON `treatment_plan_items` (`practice_id`, `completed`, `id`);
-- Create index "treatment_plan_items_practice_id_id" to table: "treatment_plan_items"
CREATE UNIQUE INDEX `treatment_plan_items_practice_id_id` ON `treatment_plan_items` (`practice_id`, `id`);
-- Create "users" table
CREATE TABLE `users` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `title` text NULL,
  `first_name` text NOT NULL,
  `last_name` text NOT NULL,
  `last_name_folded` text NOT NULL DEFAULT '',
  `email` text NOT NULL,
  `mobile_phone` text NULL,
  `role` text NOT NULL,
  `active` bool NOT NULL DEFAULT true,
  `last_login` datetime NULL,
  `password_hash` text NOT NULL DEFAULT '',
  `totp_secret` text NULL,
  `totp_step` integer NOT NULL DEFAULT 0,
  `known_browsers` json NULL,
  `recovery_codes` json NULL,
  `practice_id` uuid NOT NULL,
  `site_id` uuid NULL,
  CONSTRAINT `users_sites_site` FOREIGN KEY (`practice_id`, `site_id`) REFERENCES `sites` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `users_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `users_email_check` CHECK (length(CAST(email AS text)) <= 65535 AND CAST(email AS text) LIKE '%_@_%._%'),
  CONSTRAINT `users_first_name_check` CHECK (trim(CAST(first_name AS text), ' ') <> '' AND length(CAST(first_name AS text)) <= 65535),
  CONSTRAINT `users_known_browsers_check` CHECK (json_type(known_browsers) IN ('array', 'null')),
  CONSTRAINT `users_last_name_check` CHECK (trim(CAST(last_name AS text), ' ') <> '' AND length(CAST(last_name AS text)) <= 65535),
  CONSTRAINT `users_mobile_phone_check` CHECK (length(CAST(mobile_phone AS text)) <= 65535),
  CONSTRAINT `users_recovery_codes_check` CHECK (json_type(recovery_codes) IN ('array', 'null')),
  CONSTRAINT `users_role_check` CHECK (CAST(role AS text) IN ('receptionist', 'dentist', 'hygienist', 'therapist', 'nurse', 'manager', 'administrator')),
  CONSTRAINT `users_title_check` CHECK (CAST(title AS text) IN ('Mr', 'Mrs', 'Miss', 'Ms', 'Dr', 'Master', 'Prof', 'Hon', 'Rev', 'Sir', 'Lady', 'Lord', 'Earl', 'Judge', 'Dame')),
  CONSTRAINT `users_totp_secret_check` CHECK (CAST(totp_secret AS text) LIKE 'sealed:%')
);
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
-- Create "waiting_lists" table
CREATE TABLE `waiting_lists` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `appointment_reason` text NULL,
  `duration` integer NULL,
  `from_date` date NULL,
  `to_date` date NULL,
  `days` json NOT NULL,
  `mornings` bool NOT NULL DEFAULT true,
  `afternoons` bool NOT NULL DEFAULT true,
  `notes` text NULL,
  `priority` integer NOT NULL DEFAULT 0,
  `removed_at` datetime NULL,
  `practice_id` uuid NOT NULL,
  `patient_id` integer NOT NULL,
  `practitioner_id` integer NULL,
  `appointment_id` integer NULL,
  CONSTRAINT `waiting_lists_appointments_appointment` FOREIGN KEY (`practice_id`, `appointment_id`) REFERENCES `appointments` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `waiting_lists_practitioners_practitioner` FOREIGN KEY (`practice_id`, `practitioner_id`) REFERENCES `practitioners` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `waiting_lists_patients_patient` FOREIGN KEY (`practice_id`, `patient_id`) REFERENCES `patients` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `waiting_lists_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `waiting_lists_appointment_reason_check` CHECK (length(CAST(appointment_reason AS text)) <= 255),
  CONSTRAINT `waiting_lists_days_check` CHECK (json_type(days) IN ('array', 'null') AND trim(replace(replace(replace(replace(replace(replace(replace(CAST(days AS text), '"Monday"', ''), '"Tuesday"', ''), '"Wednesday"', ''), '"Thursday"', ''), '"Friday"', ''), '"Saturday"', ''), '"Sunday"', ''), '[null], ') = ''),
  CONSTRAINT `waiting_lists_duration_check` CHECK (duration >= 1 AND duration <= 1440),
  CONSTRAINT `waiting_lists_ends_after_start` CHECK (to_date IS NULL OR from_date IS NULL OR to_date >= from_date),
  CONSTRAINT `waiting_lists_notes_check` CHECK (length(CAST(notes AS text)) <= 65535),
  CONSTRAINT `waiting_lists_priority_check` CHECK (priority >= 0 AND priority <= 9)
);
-- Create index "waitinglist_practice_id_updated_at_id" to table: "waiting_lists"
CREATE INDEX `waitinglist_practice_id_updated_at_id` ON `waiting_lists` (`practice_id`, `updated_at`, `id`);
-- Create index "waitinglist_practice_id_created_at_id" to table: "waiting_lists"
CREATE INDEX `waitinglist_practice_id_created_at_id` ON `waiting_lists` (`practice_id`, `created_at`, `id`);
-- Create index "waitinglist_practice_id_patient_id_id" to table: "waiting_lists"
CREATE INDEX `waitinglist_practice_id_patient_id_id` ON `waiting_lists` (`practice_id`, `patient_id`, `id`);
-- Create index "waitinglist_practice_id_practitioner_id_id" to table: "waiting_lists"
CREATE INDEX `waitinglist_practice_id_practitioner_id_id` ON `waiting_lists` (`practice_id`, `practitioner_id`, `id`);
-- Create index "waitinglist_practice_id_priority_id" to table: "waiting_lists"
CREATE INDEX `waitinglist_practice_id_priority_id` ON `waiting_lists` (`practice_id`, `priority`, `id`);
-- Create index "waitinglist_appointment_id" to table: "waiting_lists"
CREATE INDEX `waitinglist_appointment_id` ON `waiting_lists` (`appointment_id`) WHERE appointment_id IS NOT NULL;
-- Create "webhooks" table
CREATE TABLE `webhooks` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `url` text NOT NULL,
  `active` bool NOT NULL DEFAULT true,
  `events` json NOT NULL,
  `failed_deliveries` integer NOT NULL DEFAULT 0,
  `successful_deliveries` integer NOT NULL DEFAULT 0,
  `last_delivered_at` datetime NULL,
  `disabled_at` datetime NULL,
  `disabled_reason` text NULL,
  `secret` text NOT NULL,
  `previous_secret` text NULL,
  `previous_until` datetime NULL,
  `failures_in_row` integer NOT NULL DEFAULT 0,
  `held_until` datetime NULL,
  `feed_cursor` text NOT NULL DEFAULT '',
  `practice_id` uuid NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `webhooks_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `webhooks_disabled_reason_check` CHECK (length(CAST(disabled_reason AS text)) <= 65535),
  CONSTRAINT `webhooks_events_check` CHECK (json_type(events) IN ('array', 'null')),
  CONSTRAINT `webhooks_previous_secret_check` CHECK (CAST(previous_secret AS text) LIKE 'sealed:%'),
  CONSTRAINT `webhooks_secret_check` CHECK (CAST(secret AS text) LIKE 'sealed:%'),
  CONSTRAINT `webhooks_url_check` CHECK (trim(CAST(url AS text), ' ') <> '' AND length(CAST(url AS text)) <= 2000)
);
-- Create index "webhook_practice_id_updated_at_id" to table: "webhooks"
CREATE INDEX `webhook_practice_id_updated_at_id` ON `webhooks` (`practice_id`, `updated_at`, `id`);
-- Create index "webhook_practice_id_created_at_id" to table: "webhooks"
CREATE INDEX `webhook_practice_id_created_at_id` ON `webhooks` (`practice_id`, `created_at`, `id`);
-- Create "webhook_attempts" table
CREATE TABLE `webhook_attempts` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `delivery_id` integer NOT NULL,
  `at` datetime NOT NULL,
  `headers` json NOT NULL,
  `body` text NOT NULL,
  `records` blob NOT NULL,
  `status` integer NOT NULL,
  `error` text NOT NULL DEFAULT '',
  `response` text NULL,
  `duration_ms` integer NOT NULL,
  `practice_id` uuid NOT NULL,
  CONSTRAINT `webhook_attempts_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `webhook_attempts_body_check` CHECK (CAST(body AS text) LIKE 'sealed:%'),
  CONSTRAINT `webhook_attempts_headers_check` CHECK (json_type(headers) IN ('object', 'null')),
  CONSTRAINT `webhook_attempts_response_check` CHECK (CAST(response AS text) LIKE 'sealed:%')
);
-- Create index "webhookattempt_delivery_id_id" to table: "webhook_attempts"
CREATE INDEX `webhookattempt_delivery_id_id` ON `webhook_attempts` (`delivery_id`, `id`);
-- Create "webhook_deliveries" table
CREATE TABLE `webhook_deliveries` (
  `id` integer NOT NULL PRIMARY KEY AUTOINCREMENT,
  `webhook_id` uuid NOT NULL,
  `event_id` text NOT NULL,
  `event` text NOT NULL,
  `resource` text NOT NULL,
  `record_id` text NOT NULL,
  `user_id` integer NULL,
  `changed_at` datetime NOT NULL,
  `due_at` datetime NOT NULL,
  `leased_until` datetime NOT NULL,
  `attempt` integer NOT NULL DEFAULT 0,
  `settled_at` datetime NULL,
  `succeeded` bool NOT NULL DEFAULT false,
  `practice_id` uuid NOT NULL,
  CONSTRAINT `webhook_deliveries_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION
);
-- Create index "webhookdelivery_webhook_id_id" to table: "webhook_deliveries"
CREATE INDEX `webhookdelivery_webhook_id_id` ON `webhook_deliveries` (`webhook_id`, `id`);
-- Create index "webhookdelivery_webhook_id_due_at_id" to table: "webhook_deliveries"
CREATE INDEX `webhookdelivery_webhook_id_due_at_id` ON `webhook_deliveries` (`webhook_id`, `due_at`, `id`) WHERE settled_at IS NULL;
-- Create index "webhookdelivery_webhook_id_resource_record_id_id" to table: "webhook_deliveries"
CREATE INDEX `webhookdelivery_webhook_id_resource_record_id_id` ON `webhook_deliveries` (`webhook_id`, `resource`, `record_id`, `id`) WHERE settled_at IS NULL;
-- Create index "webhookdelivery_settled_at" to table: "webhook_deliveries"
CREATE INDEX `webhookdelivery_settled_at` ON `webhook_deliveries` (`settled_at`);
-- Create "working_sessions" table
CREATE TABLE `working_sessions` (
  `id` uuid NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `weekday` integer NOT NULL,
  `start_minute` integer NOT NULL,
  `finish_minute` integer NOT NULL,
  `practitioner_id` integer NOT NULL,
  `practice_id` uuid NOT NULL,
  `site_id` uuid NOT NULL,
  PRIMARY KEY (`id`),
  CONSTRAINT `working_sessions_sites_site` FOREIGN KEY (`practice_id`, `site_id`) REFERENCES `sites` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `working_sessions_practices_practice` FOREIGN KEY (`practice_id`) REFERENCES `practices` (`id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `working_sessions_practitioners_working_sessions` FOREIGN KEY (`practice_id`, `practitioner_id`) REFERENCES `practitioners` (`practice_id`, `id`) ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT `working_sessions_finish_minute_check` CHECK (finish_minute >= 0 AND finish_minute <= 1440),
  CONSTRAINT `working_sessions_finishes_after_start` CHECK (finish_minute > start_minute),
  CONSTRAINT `working_sessions_start_minute_check` CHECK (start_minute >= 0 AND start_minute <= 1440),
  CONSTRAINT `working_sessions_weekday_check` CHECK (weekday >= 0 AND weekday <= 6)
);
-- Create index "workingsession_practice_id_practitioner_id_weekday_start_minute" to table: "working_sessions"
CREATE INDEX `workingsession_practice_id_practitioner_id_weekday_start_minute` ON `working_sessions` (`practice_id`, `practitioner_id`, `weekday`, `start_minute`);
-- Create "counters" table
CREATE TABLE `counters` (
  `counter` text NOT NULL,
  `practice_id` uuid NOT NULL,
  `key` integer NOT NULL,
  `n` integer NOT NULL,
  PRIMARY KEY (`counter`, `practice_id`, `key`)
);
CREATE TRIGGER keep_appointments_insert AFTER INSERT ON appointments BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.listed', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id, NEW.cancelled_at AS cancelled_at, NEW.did_not_attend_at AS did_not_attend_at) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.practitioner', practice_id, practitioner_id, 1 FROM (SELECT NEW.practice_id AS practice_id, NEW.cancelled_at AS cancelled_at, NEW.did_not_attend_at AS did_not_attend_at, NEW.practitioner_id AS practitioner_id) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.day', practice_id, (start_time - (start_time % 86400000000 + 86400000000) % 86400000000) / 86400000000, 1 FROM (SELECT NEW.practice_id AS practice_id, NEW.cancelled_at AS cancelled_at, NEW.did_not_attend_at AS did_not_attend_at, NEW.start_time AS start_time) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_appointments_delete AFTER DELETE ON appointments BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.listed', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id, OLD.cancelled_at AS cancelled_at, OLD.did_not_attend_at AS did_not_attend_at) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.practitioner', practice_id, practitioner_id, -1 FROM (SELECT OLD.practice_id AS practice_id, OLD.cancelled_at AS cancelled_at, OLD.did_not_attend_at AS did_not_attend_at, OLD.practitioner_id AS practitioner_id) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.day', practice_id, (start_time - (start_time % 86400000000 + 86400000000) % 86400000000) / 86400000000, -1 FROM (SELECT OLD.practice_id AS practice_id, OLD.cancelled_at AS cancelled_at, OLD.did_not_attend_at AS did_not_attend_at, OLD.start_time AS start_time) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_appointments_update AFTER UPDATE ON appointments WHEN (OLD.practice_id, OLD.cancelled_at, OLD.did_not_attend_at, OLD.practitioner_id, OLD.start_time) IS NOT (NEW.practice_id, NEW.cancelled_at, NEW.did_not_attend_at, NEW.practitioner_id, NEW.start_time) BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.listed', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id, OLD.cancelled_at AS cancelled_at, OLD.did_not_attend_at AS did_not_attend_at) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.practitioner', practice_id, practitioner_id, -1 FROM (SELECT OLD.practice_id AS practice_id, OLD.cancelled_at AS cancelled_at, OLD.did_not_attend_at AS did_not_attend_at, OLD.practitioner_id AS practitioner_id) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.day', practice_id, (start_time - (start_time % 86400000000 + 86400000000) % 86400000000) / 86400000000, -1 FROM (SELECT OLD.practice_id AS practice_id, OLD.cancelled_at AS cancelled_at, OLD.did_not_attend_at AS did_not_attend_at, OLD.start_time AS start_time) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.listed', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id, NEW.cancelled_at AS cancelled_at, NEW.did_not_attend_at AS did_not_attend_at) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.practitioner', practice_id, practitioner_id, 1 FROM (SELECT NEW.practice_id AS practice_id, NEW.cancelled_at AS cancelled_at, NEW.did_not_attend_at AS did_not_attend_at, NEW.practitioner_id AS practitioner_id) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.day', practice_id, (start_time - (start_time % 86400000000 + 86400000000) % 86400000000) / 86400000000, 1 FROM (SELECT NEW.practice_id AS practice_id, NEW.cancelled_at AS cancelled_at, NEW.did_not_attend_at AS did_not_attend_at, NEW.start_time AS start_time) WHERE cancelled_at IS NULL AND did_not_attend_at IS NULL
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'appointments.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_invoices_insert AFTER INSERT ON invoices BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'invoices.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_invoices_delete AFTER DELETE ON invoices BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'invoices.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_invoices_update AFTER UPDATE ON invoices WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'invoices.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'invoices.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_invoice_items_insert AFTER INSERT ON invoice_items BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'invoice_items.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_invoice_items_delete AFTER DELETE ON invoice_items BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'invoice_items.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_invoice_items_update AFTER UPDATE ON invoice_items WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'invoice_items.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'invoice_items.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_nhs_claims_insert AFTER INSERT ON nhs_claims BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'nhs_claims.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_nhs_claims_delete AFTER DELETE ON nhs_claims BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'nhs_claims.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_nhs_claims_update AFTER UPDATE ON nhs_claims WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'nhs_claims.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'nhs_claims.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_notes_insert AFTER INSERT ON notes BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'notes.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_notes_delete AFTER DELETE ON notes BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'notes.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_notes_update AFTER UPDATE ON notes WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'notes.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'notes.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_patients_insert AFTER INSERT ON patients BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'patients.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_patients_delete AFTER DELETE ON patients BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'patients.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_patients_update AFTER UPDATE ON patients WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'patients.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'patients.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_payments_insert AFTER INSERT ON payments BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'payments.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_payments_delete AFTER DELETE ON payments BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'payments.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_payments_update AFTER UPDATE ON payments WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'payments.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'payments.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_recalls_insert AFTER INSERT ON recalls BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'recalls.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_recalls_delete AFTER DELETE ON recalls BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'recalls.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_recalls_update AFTER UPDATE ON recalls WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'recalls.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'recalls.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_treatment_appointments_insert AFTER INSERT ON treatment_appointments BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_appointments.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_treatment_appointments_delete AFTER DELETE ON treatment_appointments BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_appointments.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_treatment_appointments_update AFTER UPDATE ON treatment_appointments WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_appointments.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_appointments.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_treatment_plans_insert AFTER INSERT ON treatment_plans BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_plans.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_treatment_plans_delete AFTER DELETE ON treatment_plans BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_plans.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_treatment_plans_update AFTER UPDATE ON treatment_plans WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_plans.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_plans.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_treatment_plan_items_insert AFTER INSERT ON treatment_plan_items BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_plan_items.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_treatment_plan_items_delete AFTER DELETE ON treatment_plan_items BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_plan_items.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_treatment_plan_items_update AFTER UPDATE ON treatment_plan_items WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_plan_items.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'treatment_plan_items.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_waiting_lists_insert AFTER INSERT ON waiting_lists BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'waiting_lists.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_waiting_lists_delete AFTER DELETE ON waiting_lists BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'waiting_lists.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER keep_waiting_lists_update AFTER UPDATE ON waiting_lists WHEN (OLD.practice_id) IS NOT (NEW.practice_id) BEGIN
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'waiting_lists.all', practice_id, 0, -1 FROM (SELECT OLD.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
  INSERT INTO counters (counter, practice_id, key, n)
  SELECT 'waiting_lists.all', practice_id, 0, 1 FROM (SELECT NEW.practice_id AS practice_id) WHERE true
  ON CONFLICT (counter, practice_id, key) DO UPDATE SET n = n + excluded.n;
END;
INSERT INTO feed_state (id, last_seq, swept_seq, epoch) VALUES (1, 0, 0, lower(hex(randomblob(16)))) ON CONFLICT DO NOTHING;
CREATE TRIGGER feed_accounts_insert AFTER INSERT ON accounts BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'accounts', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_accounts_update AFTER UPDATE ON accounts BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'accounts', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.patient_id AS text), CAST(NEW.patient_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_accounts_delete AFTER DELETE ON accounts BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'accounts', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.patient_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_acquisition_sources_insert AFTER INSERT ON acquisition_sources BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'acquisition_sources', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_acquisition_sources_update AFTER UPDATE ON acquisition_sources BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'acquisition_sources', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_acquisition_sources_delete AFTER DELETE ON acquisition_sources BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'acquisition_sources', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_appointments_insert AFTER INSERT ON appointments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'appointments', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_appointments_update AFTER UPDATE ON appointments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'appointments', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.practitioner_id AS text), CAST(NEW.practitioner_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_appointments_delete AFTER DELETE ON appointments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'appointments', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.practitioner_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_appointment_cancellation_reasons_insert AFTER INSERT ON appointment_cancellation_reasons BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'appointment_cancellation_reasons', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_appointment_cancellation_reasons_update AFTER UPDATE ON appointment_cancellation_reasons BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'appointment_cancellation_reasons', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_appointment_cancellation_reasons_delete AFTER DELETE ON appointment_cancellation_reasons BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'appointment_cancellation_reasons', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_appointment_reasons_insert AFTER INSERT ON appointment_reasons BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'appointment_reasons', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_appointment_reasons_update AFTER UPDATE ON appointment_reasons BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'appointment_reasons', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_appointment_reasons_delete AFTER DELETE ON appointment_reasons BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'appointment_reasons', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_contracts_insert AFTER INSERT ON contracts BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'contracts', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_contracts_update AFTER UPDATE ON contracts BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'contracts', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.site_id AS text), CAST(NEW.site_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_contracts_delete AFTER DELETE ON contracts BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'contracts', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_custom_fields_insert AFTER INSERT ON custom_fields BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'custom_fields', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_custom_fields_update AFTER UPDATE ON custom_fields BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'custom_fields', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_custom_fields_delete AFTER DELETE ON custom_fields BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'custom_fields', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_custom_field_answers_insert AFTER INSERT ON custom_field_answers BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE NEW.patient_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'patients', CAST(NEW.patient_id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state WHERE NEW.patient_id IS NOT NULL;
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE NEW.treatment_plan_item_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_plan_items', CAST(NEW.treatment_plan_item_id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state WHERE NEW.treatment_plan_item_id IS NOT NULL;
END;
CREATE TRIGGER feed_custom_field_answers_update AFTER UPDATE ON custom_field_answers BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE NEW.patient_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'patients', CAST(NEW.patient_id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state WHERE NEW.patient_id IS NOT NULL;
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE OLD.patient_id IS NOT NULL AND OLD.patient_id IS NOT NEW.patient_id;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'patients', CAST(OLD.patient_id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state WHERE OLD.patient_id IS NOT NULL AND OLD.patient_id IS NOT NEW.patient_id;
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE NEW.treatment_plan_item_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_plan_items', CAST(NEW.treatment_plan_item_id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state WHERE NEW.treatment_plan_item_id IS NOT NULL;
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE OLD.treatment_plan_item_id IS NOT NULL AND OLD.treatment_plan_item_id IS NOT NEW.treatment_plan_item_id;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'treatment_plan_items', CAST(OLD.treatment_plan_item_id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state WHERE OLD.treatment_plan_item_id IS NOT NULL AND OLD.treatment_plan_item_id IS NOT NEW.treatment_plan_item_id;
END;
CREATE TRIGGER feed_custom_field_answers_delete AFTER DELETE ON custom_field_answers BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE OLD.patient_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'patients', CAST(OLD.patient_id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state WHERE OLD.patient_id IS NOT NULL;
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE OLD.treatment_plan_item_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'treatment_plan_items', CAST(OLD.treatment_plan_item_id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state WHERE OLD.treatment_plan_item_id IS NOT NULL;
END;
CREATE TRIGGER feed_fees_insert AFTER INSERT ON fees BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'fees', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_fees_update AFTER UPDATE ON fees BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'fees', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_fees_delete AFTER DELETE ON fees BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'fees', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_invoices_insert AFTER INSERT ON invoices BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'invoices', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_invoices_update AFTER UPDATE ON invoices BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'invoices', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.site_id AS text), CAST(NEW.site_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_invoices_delete AFTER DELETE ON invoices BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'invoices', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_invoice_items_insert AFTER INSERT ON invoice_items BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'invoice_items', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_invoice_items_update AFTER UPDATE ON invoice_items BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'invoice_items', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.invoice_id AS text), CAST(NEW.invoice_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_invoice_items_delete AFTER DELETE ON invoice_items BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'invoice_items', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.invoice_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_nhs_claims_insert AFTER INSERT ON nhs_claims BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'nhs_claims', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_nhs_claims_update AFTER UPDATE ON nhs_claims BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'nhs_claims', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.practitioner_id AS text), CAST(NEW.practitioner_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_nhs_claims_delete AFTER DELETE ON nhs_claims BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'nhs_claims', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.practitioner_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_notes_insert AFTER INSERT ON notes BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'notes', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_notes_update AFTER UPDATE ON notes WHEN (OLD.created_at, OLD.updated_at, OLD.patient_id, OLD.user_id, OLD.pinned, OLD.kind) IS NOT (NEW.created_at, NEW.updated_at, NEW.patient_id, NEW.user_id, NEW.pinned, NEW.kind) OR OLD.body IS NOT NEW.body AND coalesce(substr(OLD.body, 8, 8) = substr(NEW.body, 8, 8), true) BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'notes', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.patient_id AS text), CAST(NEW.patient_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_notes_delete AFTER DELETE ON notes BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'notes', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.patient_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_patients_insert AFTER INSERT ON patients BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'patients', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_patients_update AFTER UPDATE ON patients WHEN (OLD.created_at, OLD.updated_at, OLD.title, OLD.first_name, OLD.middle_name, OLD.last_name, OLD.preferred_name, OLD.date_of_birth, OLD.gender, OLD.ethnicity, OLD.active, OLD.address_line_1, OLD.address_line_2, OLD.town, OLD.county, OLD.postcode, OLD.email_address, OLD.emergency_contact_name, OLD.emergency_contact_relationship, OLD.preferred_phone_number, OLD.payment_plan_id, OLD.site_id, OLD.dentist_id, OLD.dentist_recall_date, OLD.dentist_recall_interval, OLD.hygienist_id, OLD.hygienist_recall_date, OLD.hygienist_recall_interval, OLD.recall_method, OLD.acquisition_source_id, OLD.doctor_id, OLD.family_id, OLD.legacy_id, OLD.marketing, OLD.medical_alert, OLD.occupation, OLD.use_email, OLD.use_sms, OLD.custom_field_1, OLD.custom_field_2, OLD.metadata, OLD.erased_at, OLD.home_phone, OLD.home_phone_country, OLD.home_phone_normalized, OLD.mobile_phone, OLD.mobile_phone_country, OLD.mobile_phone_normalized, OLD.work_phone, OLD.work_phone_country, OLD.work_phone_normalized, OLD.emergency_contact_phone, OLD.emergency_contact_phone_country, OLD.emergency_contact_phone_normalized) IS NOT (NEW.created_at, NEW.updated_at, NEW.title, NEW.first_name, NEW.middle_name, NEW.last_name, NEW.preferred_name, NEW.date_of_birth, NEW.gender, NEW.ethnicity, NEW.active, NEW.address_line_1, NEW.address_line_2, NEW.town, NEW.county, NEW.postcode, NEW.email_address, NEW.emergency_contact_name, NEW.emergency_contact_relationship, NEW.preferred_phone_number, NEW.payment_plan_id, NEW.site_id, NEW.dentist_id, NEW.dentist_recall_date, NEW.dentist_recall_interval, NEW.hygienist_id, NEW.hygienist_recall_date, NEW.hygienist_recall_interval, NEW.recall_method, NEW.acquisition_source_id, NEW.doctor_id, NEW.family_id, NEW.legacy_id, NEW.marketing, NEW.medical_alert, NEW.occupation, NEW.use_email, NEW.use_sms, NEW.custom_field_1, NEW.custom_field_2, NEW.metadata, NEW.erased_at, NEW.home_phone, NEW.home_phone_country, NEW.home_phone_normalized, NEW.mobile_phone, NEW.mobile_phone_country, NEW.mobile_phone_normalized, NEW.work_phone, NEW.work_phone_country, NEW.work_phone_normalized, NEW.emergency_contact_phone, NEW.emergency_contact_phone_country, NEW.emergency_contact_phone_normalized) OR OLD.medical_alert_text IS NOT NEW.medical_alert_text AND coalesce(substr(OLD.medical_alert_text, 8, 8) = substr(NEW.medical_alert_text, 8, 8), true) OR OLD.nhs_number IS NOT NEW.nhs_number AND coalesce(substr(OLD.nhs_number, 8, 8) = substr(NEW.nhs_number, 8, 8), true) OR OLD.ni_number IS NOT NEW.ni_number AND coalesce(substr(OLD.ni_number, 8, 8) = substr(NEW.ni_number, 8, 8), true) BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'patients', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.site_id AS text), CAST(NEW.site_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_patients_delete AFTER DELETE ON patients BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'patients', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_patient_referrals_insert AFTER INSERT ON patient_referrals BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'patient_referrals', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_patient_referrals_update AFTER UPDATE ON patient_referrals BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'patient_referrals', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.patient_id AS text), CAST(NEW.patient_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_patient_referrals_delete AFTER DELETE ON patient_referrals BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'patient_referrals', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.patient_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_payments_insert AFTER INSERT ON payments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'payments', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_payments_update AFTER UPDATE ON payments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'payments', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.site_id AS text), CAST(NEW.site_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_payments_delete AFTER DELETE ON payments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'payments', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_payment_explanations_insert AFTER INSERT ON payment_explanations BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE NEW.payment_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'payments', CAST(NEW.payment_id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state WHERE NEW.payment_id IS NOT NULL;
END;
CREATE TRIGGER feed_payment_explanations_update AFTER UPDATE ON payment_explanations BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE NEW.payment_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'payments', CAST(NEW.payment_id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state WHERE NEW.payment_id IS NOT NULL;
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE OLD.payment_id IS NOT NULL AND OLD.payment_id IS NOT NEW.payment_id;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'payments', CAST(OLD.payment_id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state WHERE OLD.payment_id IS NOT NULL AND OLD.payment_id IS NOT NEW.payment_id;
END;
CREATE TRIGGER feed_payment_explanations_delete AFTER DELETE ON payment_explanations BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1 WHERE OLD.payment_id IS NOT NULL;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'payments', CAST(OLD.payment_id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state WHERE OLD.payment_id IS NOT NULL;
END;
CREATE TRIGGER feed_payment_plans_insert AFTER INSERT ON payment_plans BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'payment_plans', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_payment_plans_update AFTER UPDATE ON payment_plans BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'payment_plans', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_payment_plans_delete AFTER DELETE ON payment_plans BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'payment_plans', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_practitioners_insert AFTER INSERT ON practitioners BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'practitioners', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_practitioners_update AFTER UPDATE ON practitioners BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'practitioners', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.site_id AS text), CAST(NEW.site_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_practitioners_delete AFTER DELETE ON practitioners BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'practitioners', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_recalls_insert AFTER INSERT ON recalls BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'recalls', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_recalls_update AFTER UPDATE ON recalls BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'recalls', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.patient_id AS text), CAST(NEW.patient_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_recalls_delete AFTER DELETE ON recalls BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'recalls', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.patient_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_rooms_insert AFTER INSERT ON rooms BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'rooms', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_rooms_update AFTER UPDATE ON rooms BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'rooms', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.site_id AS text), CAST(NEW.site_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_rooms_delete AFTER DELETE ON rooms BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'rooms', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_sites_insert AFTER INSERT ON sites BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'sites', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_sites_update AFTER UPDATE ON sites BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'sites', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_sites_delete AFTER DELETE ON sites BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'sites', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_sundries_insert AFTER INSERT ON sundries BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'sundries', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_sundries_update AFTER UPDATE ON sundries BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'sundries', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.site_id AS text), CAST(NEW.site_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_sundries_delete AFTER DELETE ON sundries BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'sundries', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatments_insert AFTER INSERT ON treatments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatments', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatments_update AFTER UPDATE ON treatments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatments', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatments_delete AFTER DELETE ON treatments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'treatments', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_appointments_insert AFTER INSERT ON treatment_appointments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_appointments', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_appointments_update AFTER UPDATE ON treatment_appointments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_appointments', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.patient_id AS text), CAST(NEW.patient_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_appointments_delete AFTER DELETE ON treatment_appointments BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'treatment_appointments', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.patient_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_categories_insert AFTER INSERT ON treatment_categories BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_categories', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_categories_update AFTER UPDATE ON treatment_categories BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_categories', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_categories_delete AFTER DELETE ON treatment_categories BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'treatment_categories', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_plans_insert AFTER INSERT ON treatment_plans BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_plans', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_plans_update AFTER UPDATE ON treatment_plans BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_plans', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.patient_id AS text), CAST(NEW.patient_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_plans_delete AFTER DELETE ON treatment_plans BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'treatment_plans', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.patient_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_plan_items_insert AFTER INSERT ON treatment_plan_items BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_plan_items', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_plan_items_update AFTER UPDATE ON treatment_plan_items BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'treatment_plan_items', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.patient_id AS text), CAST(NEW.patient_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_treatment_plan_items_delete AFTER DELETE ON treatment_plan_items BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'treatment_plan_items', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.patient_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_users_insert AFTER INSERT ON users BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'users', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_users_update AFTER UPDATE ON users WHEN (OLD.created_at, OLD.title, OLD.first_name, OLD.last_name, OLD.email, OLD.mobile_phone, OLD.role, OLD.site_id, OLD.active) IS NOT (NEW.created_at, NEW.title, NEW.first_name, NEW.last_name, NEW.email, NEW.mobile_phone, NEW.role, NEW.site_id, NEW.active) BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'users', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.site_id AS text), CAST(NEW.site_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_users_delete AFTER DELETE ON users BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'users', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.site_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_waiting_lists_insert AFTER INSERT ON waiting_lists BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'waiting_lists', CAST(NEW.id AS text), 'created', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, NULL, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_waiting_lists_update AFTER UPDATE ON waiting_lists BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, NEW.practice_id, 'waiting_lists', CAST(NEW.id AS text), 'updated', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, nullif(CAST(OLD.patient_id AS text), CAST(NEW.patient_id AS text)), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
CREATE TRIGGER feed_waiting_lists_delete AFTER DELETE ON waiting_lists BEGIN
  UPDATE feed_state SET last_seq = last_seq + 1;
  INSERT INTO feed_changes (seq, practice_id, resource, record_id, event, at, site_key, origin)
  SELECT last_seq, OLD.practice_id, 'waiting_lists', CAST(OLD.id AS text), 'deleted', CAST(round((julianday('now') - 2440587.5) * 86400000) AS integer) * 1000, CAST(OLD.patient_id AS text), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0) FROM feed_state;
END;
