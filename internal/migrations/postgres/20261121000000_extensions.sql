-- Trigram indexes serve the patient search (names in any order, parts of a phone number).
CREATE EXTENSION IF NOT EXISTS pg_trgm;
