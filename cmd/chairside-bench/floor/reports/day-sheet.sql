-- The day's appointments and the free time in sessions, by site, practitioner and time.
-- Not selected: alert, whose text is sealed.
WITH hours AS MATERIALIZED (
	SELECT practitioner_id, site_id, weekday, start_minute, finish_minute
	FROM working_sessions
	WHERE practice_id = @practice
	UNION ALL
	SELECT w.id, w.site_id, d.weekday, extract(epoch FROM (c.opening_hours -> d.name ->> 'open')::time) / 60, extract(epoch FROM (c.opening_hours -> d.name ->> 'close')::time) / 60
	FROM practitioners w
	JOIN practices c ON c.id = w.practice_id
	CROSS JOIN (VALUES ('Sunday', 0), ('Monday', 1), ('Tuesday', 2), ('Wednesday', 3), ('Thursday', 4), ('Friday', 5), ('Saturday', 6)) AS d(name, weekday)
	WHERE w.practice_id = @practice AND c.opening_hours ? d.name AND NOT EXISTS (SELECT FROM working_sessions s WHERE s.practitioner_id = w.id)
), elsewhere AS MATERIALIZED ( -- sessions at another site than the practitioner's own
	SELECT h.* FROM hours h
	JOIN practitioners w ON w.id = h.practitioner_id
	WHERE h.site_id <> w.site_id
), booked AS MATERIALIZED (
	SELECT a.*, coalesce(e.site_id, p.site_id) AS site_id
	FROM appointments a
	JOIN practitioners p ON p.id = a.practitioner_id
	LEFT JOIN elsewhere e ON e.practitioner_id = a.practitioner_id AND e.weekday = extract(dow FROM a.start_time)
		AND e.start_minute <= extract(hour FROM a.start_time) * 60 + extract(minute FROM a.start_time) AND e.finish_minute > extract(hour FROM a.start_time) * 60 + extract(minute FROM a.start_time)
		AND a.start_time >= @to::date
	WHERE a.practice_id = @practice AND a.start_time > @to::date - interval '1 day' AND a.start_time < @to::date + 1 AND a.finish_time > @to::date
	AND a.state NOT IN ('Cancelled', 'Did not attend')
), busy AS (
	SELECT practitioner_id, range_agg(tstzrange(start_time, finish_time)) AS busy FROM booked GROUP BY 1
), entries AS (
	SELECT practitioner_id, site_id, CASE WHEN patient_id IS NULL THEN 'Other' ELSE 'Visit' END AS entry, start_time, finish_time, patient_id, reason, state, arrived_at, notes, room_id, id
	FROM booked
	UNION ALL
	SELECT h.practitioner_id, h.site_id, 'Free', lower(r), upper(r), NULL, '', '', NULL, NULL, NULL, NULL
	FROM (SELECT @to::date::timestamp AS day) d
	JOIN hours h ON h.weekday = extract(dow FROM d.day)
	JOIN practitioners w ON w.id = h.practitioner_id AND w.active
	LEFT JOIN busy b ON b.practitioner_id = h.practitioner_id
	CROSS JOIN unnest(tstzmultirange(tstzrange((d.day + h.start_minute * interval '1 minute')::timestamptz, (d.day + h.finish_minute * interval '1 minute')::timestamptz)) - coalesce(b.busy, '{}')) AS r
	WHERE upper(r) - lower(r) >= interval '1 minute'
)
SELECT 'entries' AS "table", s.name AS site, u.first_name || ' ' || u.last_name AS practitioner,
	replace(to_char(n.start_time, 'YYYY-MM-DD"T"HH24:MI:SSTZH:TZM'), '+00:00', 'Z') AS start, replace(to_char(n.finish_time, 'YYYY-MM-DD"T"HH24:MI:SSTZH:TZM'), '+00:00', 'Z') AS finish,
	(extract(epoch FROM n.finish_time - n.start_time) / 60)::bigint AS minutes, n.entry, n.patient_id, coalesce(x.first_name || ' ' || x.last_name, '') AS patient,
	n.reason, n.state, replace(to_char(n.arrived_at, 'YYYY-MM-DD"T"HH24:MI:SSTZH:TZM'), '+00:00', 'Z') AS arrived, coalesce(n.notes, '') AS notes, coalesce(m.name, '') AS room, n.id AS appointment_id
FROM entries n
JOIN sites s ON s.id = n.site_id
JOIN practitioners w ON w.id = n.practitioner_id
JOIN users u ON u.id = w.user_id
LEFT JOIN patients x ON x.id = n.patient_id
LEFT JOIN rooms m ON m.id = n.room_id
ORDER BY s.name, u.last_name_folded, n.practitioner_id, n.start_time;
