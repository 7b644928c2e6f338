-- Add column "began_at" to table: "practice_deletions"
ALTER TABLE `practice_deletions` ADD COLUMN `began_at` datetime NULL;
