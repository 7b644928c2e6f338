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
