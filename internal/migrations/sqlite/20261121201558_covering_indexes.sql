-- Written by hand: to change an index of the same name, the tool would rebuild its table.
DROP INDEX `appointment_diary`;
CREATE INDEX `appointment_diary` ON `appointments` (`practice_id`, `practitioner_id`, `start_time`, `id`, `finish_time`, `state`, `patient_id`, `cancelled_at`);
DROP INDEX `payment_dated`;
CREATE INDEX `payment_dated` ON `payments` (`practice_id`, `dated_on`, `id`, `amount`, `deleted`);
DROP INDEX `customfieldanswer_practice_id_treatment_plan_item_id`;
CREATE INDEX `customfieldanswer_practice_id_treatment_plan_item_id` ON `custom_field_answers` (`practice_id`, `treatment_plan_item_id`) WHERE treatment_plan_item_id IS NOT NULL;
-- Measure the new indexes, and all others, without samples (sqlitePlanOnce of package store).
ANALYZE;
DELETE FROM sqlite_stat4;
UPDATE sqlite_stat1
  SET stat = CAST(stat AS integer) || ' ' || CAST(stat AS integer) ||
    substr(stat, length(CAST(stat AS integer) || ' ' || CAST(substr(stat, instr(stat, ' ')) AS integer)) + 1)
  WHERE (SELECT name FROM pragma_index_info(idx) WHERE seqno = 0) = 'practice_id';
