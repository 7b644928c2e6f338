-- What a patient can be found by: the first 2, 3 and 5 characters of each word, an address up to its @, each 5 digits in a row and the last 4 and 3.
CREATE FUNCTION search_keys(search_text text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  keys text[] := '{}';
  word text;
BEGIN
  -- Each key is a statement of its own: "keys || a || b" would copy all of them.
  FOREACH word IN ARRAY string_to_array(search_text, ' ') LOOP
    IF ascii(word) NOT BETWEEN ascii('a') AND ascii('z') THEN -- 李 is a name, "07700 1" a number
      keys := keys || left(word, 1);
    END IF;
    keys := keys || left(word, 2);
    keys := keys || left(word, 3);
    keys := keys || left(word, 5);
    IF strpos(word, '@') > 1 THEN
      keys := keys || left(word, strpos(word, '@'));
    END IF;
  END LOOP;
  FOREACH word IN ARRAY string_to_array(regexp_replace(search_text, '[^0-9]+', ' ', 'g'), ' ') LOOP
    FOR i IN 1 .. length(word) - 2 LOOP
      keys := keys || substr(word, i, 5);
    END LOOP;
  END LOOP;
  RETURN keys;
END
$$;
-- Create index "patient_search_keys" to table: "patients"
-- A search reads all that waits to be sorted into the index: 1 ms at 512 kB, 10 ms at the usual 4 MB.
CREATE INDEX "patient_search_keys" ON "patients" USING GIN ((search_keys((search_text)::text))) WITH (gin_pending_list_limit = 512);
-- Drop index "patient_search_text" from table: "patients"
DROP INDEX "patient_search_text";
