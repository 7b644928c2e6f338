INSERT INTO counter_changes (counter, practice_id, key, n)
SELECT counter, practice_id, key, sum(n) FROM (
  SELECT 'treatment_appointments.all' AS counter, practice_id, key, count(*) AS n FROM (SELECT practice_id, 0 AS key FROM treatment_appointments WHERE true) AS counted GROUP BY practice_id, key
  UNION ALL SELECT counter, practice_id, key, -n FROM counters WHERE counter IN ('treatment_appointments.all')
  UNION ALL SELECT counter, practice_id, key, -n FROM counter_changes WHERE counter IN ('treatment_appointments.all')
) AS missing GROUP BY counter, practice_id, key HAVING sum(n) <> 0;
