-- Modify "practice_deletions" table
ALTER TABLE "practice_deletions" ADD COLUMN "began_at" timestamptz NULL;
