CREATE SCHEMA IF NOT EXISTS chairside_bench;

-- Books, unless the practitioner is booked at that time. The outcome is 'booked', 'taken',
-- or 'unknown' for an unknown practitioner or patient. With a token it also writes
-- Chairside's audit row.
CREATE OR REPLACE FUNCTION chairside_bench.book(
  practice uuid, booker bigint, starts timestamptz, finishes timestamptz, dentist bigint, visitor bigint, why varchar, now timestamptz, audited_token uuid,
  OUT outcome text, OUT id bigint, OUT first_name varchar, OUT last_name varchar, OUT payment_plan_id bigint
) LANGUAGE plpgsql AS $$
BEGIN
  outcome := 'unknown';
  IF NOT EXISTS (SELECT FROM practitioners p WHERE p.id = dentist AND p.practice_id = practice AND p.active) THEN
    RETURN;
  END IF;
  SELECT p.first_name, p.last_name, p.payment_plan_id INTO book.first_name, book.last_name, book.payment_plan_id
    FROM patients p WHERE p.id = visitor AND p.practice_id = practice;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(dentist);
  IF EXISTS (
    SELECT FROM appointments a WHERE a.practice_id = practice AND a.practitioner_id = dentist AND a.state NOT IN ('Cancelled', 'Did not attend')
      AND a.start_time > starts - interval '24 hours' AND a.start_time < finishes AND a.finish_time > starts
  ) THEN
    outcome := 'taken';
    RETURN;
  END IF;
  INSERT INTO appointments AS a (created_at, updated_at, start_time, finish_time, duration, reason, state, booked_via_api, metadata, pending_at, practice_id, user_id, patient_id, practitioner_id)
    VALUES (now, now, starts, finishes, extract(epoch FROM finishes - starts) / 60, why, 'Pending', true, '{}', now, practice, booker, visitor, dentist)
    RETURNING a.id INTO book.id;
  IF audited_token IS NOT NULL THEN
    INSERT INTO audit_events (practice_id, at, user_id, token_id, resource, record_id, action, fields, details)
      VALUES (practice, now, booker, audited_token, 'Appointment', book.id::text, 'create',
        '["booked_via_api","created_at","duration","finish_time","metadata","patient_id","pending_at","practitioner_id","reason","start_time","state","updated_at","user_id"]', '{}');
  END IF;
  outcome := 'booked';
END $$;
