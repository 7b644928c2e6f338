-- Session time, booked and free, and patients booked: by week, by practitioner, site and week, and by practitioner.
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
), spans AS MATERIALIZED (
	SELECT m.week, tstzrange(greatest(m.week, @from::date::timestamp)::timestamptz, least(m.week + interval '1 week', (@to::date + 1)::timestamp)::timestamptz) AS span
	FROM generate_series(date_trunc('week', @from::date::timestamp), @to::date::timestamp, interval '1 week') AS m(week)
), busy AS MATERIALIZED (
	SELECT a.practitioner_id, s.week, range_agg(tstzrange(a.start_time, a.finish_time) * s.span) FILTER (WHERE a.patient_id IS NOT NULL) AS busy,
		range_agg(tstzrange(a.start_time, a.finish_time) * s.span) FILTER (WHERE a.patient_id IS NULL) AS blocked
	FROM spans s
	JOIN appointments a ON a.practice_id = @practice AND a.start_time > lower(s.span) - interval '24 hours' AND a.start_time < upper(s.span) AND a.finish_time > lower(s.span)
	WHERE a.state NOT IN ('Cancelled', 'Did not attend')
	GROUP BY 1, 2
), rota AS MATERIALIZED (
	SELECT h.practitioner_id, h.site_id, date_trunc('week', d.day) AS week,
		range_agg(tstzrange((d.day + h.start_minute * interval '1 minute')::timestamptz, (d.day + h.finish_minute * interval '1 minute')::timestamptz)) AS worked
	FROM generate_series(@from::date::timestamp, @to::date::timestamp, interval '1 day') AS d(day)
	JOIN hours h ON h.weekday = extract(dow FROM d.day)
	JOIN practitioners w ON w.id = h.practitioner_id
	WHERE w.active
	GROUP BY 1, 2, 3
), work AS MATERIALIZED ( -- the rota less blocked time
	SELECT r.practitioner_id, r.site_id, r.week, CASE WHEN b.blocked IS NULL THEN r.worked ELSE r.worked - b.blocked END AS worked,
		(SELECT coalesce(sum(extract(epoch FROM upper(x) - lower(x))), 0) / 60 FROM unnest(r.worked * b.blocked) AS x) AS blocked
	FROM rota r
	LEFT JOIN busy b ON b.practitioner_id = r.practitioner_id AND b.week = r.week
), work_anywhere AS (
	SELECT practitioner_id, week, range_agg(r) AS worked FROM work CROSS JOIN unnest(worked) AS r GROUP BY 1, 2
), visits AS MATERIALIZED (
	SELECT a.practitioner_id, coalesce(e.site_id, p.site_id) AS site_id, s.week, count(*) AS booked
	FROM spans s
	JOIN appointments a ON a.practice_id = @practice AND a.start_time >= lower(s.span) AND a.start_time < upper(s.span)
	JOIN practitioners p ON p.id = a.practitioner_id
	LEFT JOIN elsewhere e ON e.practitioner_id = a.practitioner_id AND e.weekday = extract(dow FROM a.start_time)
		AND e.start_minute <= extract(hour FROM a.start_time) * 60 + extract(minute FROM a.start_time) AND e.finish_minute > extract(hour FROM a.start_time) * 60 + extract(minute FROM a.start_time)
	WHERE a.patient_id IS NOT NULL AND a.state NOT IN ('Cancelled', 'Did not attend')
	GROUP BY 1, 2, 3
), times AS (
	SELECT k.practitioner_id, k.site_id, k.week,
		(SELECT coalesce(sum(extract(epoch FROM upper(r) - lower(r))), 0) / 60 FROM unnest(w.worked) AS r) AS session, (SELECT coalesce(sum(extract(epoch FROM upper(r) - lower(r))), 0) / 60 FROM unnest(w.worked * b.busy) AS r) AS booked,
		CASE WHEN k.site_id = p.site_id THEN (SELECT coalesce(sum(extract(epoch FROM upper(r) - lower(r))), 0) / 60 FROM unnest(CASE WHEN x.worked IS NULL THEN b.busy ELSE b.busy - x.worked END) AS r) ELSE 0 END AS outside, coalesce(w.blocked, 0) AS blocked,
		coalesce(v.booked, 0) AS patients
	FROM (
		SELECT practitioner_id, site_id, week FROM work
		UNION SELECT practitioner_id, site_id, week FROM visits
		UNION SELECT b.practitioner_id, p.site_id, b.week FROM busy b JOIN practitioners p ON p.id = b.practitioner_id
	) k
	JOIN practitioners p ON p.id = k.practitioner_id
	LEFT JOIN work w ON w.practitioner_id = k.practitioner_id AND w.site_id = k.site_id AND w.week = k.week
	LEFT JOIN work_anywhere x ON x.practitioner_id = k.practitioner_id AND x.week = k.week
	LEFT JOIN busy b ON b.practitioner_id = k.practitioner_id AND b.week = k.week
	LEFT JOIN visits v ON v.practitioner_id = k.practitioner_id AND v.site_id = k.site_id AND v.week = k.week
)
SELECT
	CASE WHEN grouping(t.week) = 1 THEN 'practitioners' WHEN grouping(t.practitioner_id) = 1 THEN 'weeks' ELSE 'practitioner_weeks' END AS "table",
	t.practitioner_id, u.first_name || ' ' || u.last_name AS practitioner, t.site_id, s.name AS site, t.week::date AS week,
	sum(t.session)::bigint AS session_minutes, sum(t.booked)::bigint AS booked_minutes, sum(t.session - t.booked)::bigint AS free_minutes,
	round(100.0 * sum(t.booked) / nullif(sum(t.session), 0), 2) AS utilisation, sum(t.outside)::bigint AS outside_minutes, sum(t.blocked)::bigint AS blocked_minutes, sum(t.patients) AS appointments
FROM times t
JOIN practitioners w ON w.id = t.practitioner_id
JOIN users u ON u.id = w.user_id
JOIN sites s ON s.id = t.site_id
WHERE t.session + t.blocked + t.outside + t.patients > 0
GROUP BY GROUPING SETS ((t.week), (t.practitioner_id, u.first_name, u.last_name, t.site_id, s.name, t.week), (t.practitioner_id, u.first_name, u.last_name))
ORDER BY 1, 3, 5, 6;
