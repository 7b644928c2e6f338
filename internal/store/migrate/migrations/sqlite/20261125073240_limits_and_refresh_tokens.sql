-- Create "rate_buckets" table
CREATE TABLE `rate_buckets` (
  `id` uuid NOT NULL,
  `full_at` integer NOT NULL,
  `cost` integer NOT NULL,
  PRIMARY KEY (`id`)
);
-- Create index "ratebucket_full_at" to table: "rate_buckets"
CREATE INDEX `ratebucket_full_at` ON `rate_buckets` (`full_at`);
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
  CONSTRAINT `refresh_tokens_scopes_check` CHECK (CAST(scopes AS text) = '' OR length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' appointment:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' patient:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' practice:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' financials:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' treatments:delete ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:read ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:create ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:update ', '')) + length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - length(replace(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  '), ' user:delete ', '')) = length(replace(' ' || CAST(scopes AS text) || ' ', ' ', '  ')) - 2)
);
-- Create index "refresh_tokens_hash_key" to table: "refresh_tokens"
CREATE UNIQUE INDEX `refresh_tokens_hash_key` ON `refresh_tokens` (`hash`);
-- Create index "refreshtoken_token_id" to table: "refresh_tokens"
CREATE INDEX `refreshtoken_token_id` ON `refresh_tokens` (`token_id`);
-- Create index "refreshtoken_expires_at" to table: "refresh_tokens"
CREATE INDEX `refreshtoken_expires_at` ON `refresh_tokens` (`expires_at`);
-- Add column "refreshable_until" to table: "access_tokens"
ALTER TABLE `access_tokens` ADD COLUMN `refreshable_until` datetime NULL;
-- Add column "refresh_tokens" to table: "applications"
ALTER TABLE `applications` ADD COLUMN `refresh_tokens` bool NOT NULL DEFAULT false;
