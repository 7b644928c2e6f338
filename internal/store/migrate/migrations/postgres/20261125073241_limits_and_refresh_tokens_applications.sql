-- Modify "applications" table
ALTER TABLE "applications" ADD COLUMN "refresh_tokens" boolean NOT NULL DEFAULT false;
