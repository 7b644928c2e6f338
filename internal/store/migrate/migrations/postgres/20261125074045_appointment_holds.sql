-- Create "appointment_holds" table
CREATE TABLE "appointment_holds" (
  "id" uuid NOT NULL,
  "start_time" timestamptz NOT NULL,
  "finish_time" timestamptz NOT NULL,
  "expires_at" timestamptz NOT NULL,
  "token_id" uuid NOT NULL,
  "practice_id" uuid NOT NULL,
  "practitioner_id" bigint NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "appointment_holds_practices_practice" FOREIGN KEY ("practice_id") REFERENCES "practices" ("id") ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT "appointment_holds_practitioners_practitioner" FOREIGN KEY ("practice_id", "practitioner_id") REFERENCES "practitioners" ("practice_id", "id") ON UPDATE NO ACTION ON DELETE NO ACTION,
  CONSTRAINT "appointment_holds_finishes_after_start" CHECK (finish_time > start_time),
  CONSTRAINT "appointment_holds_lasts_a_day_at_most" CHECK (floor(((EXTRACT(epoch FROM (finish_time - start_time)) * (1000000)::numeric) / (1000)::numeric)) <= (86400000)::numeric)
);
-- Create index "appointmenthold_practice_id_practitioner_id_start_time" to table: "appointment_holds"
CREATE INDEX "appointmenthold_practice_id_practitioner_id_start_time" ON "appointment_holds" ("practice_id", "practitioner_id", "start_time");
