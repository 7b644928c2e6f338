-- Session time, booked and free, and appointments by practitioner, site and month, and by practitioner.
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
	SELECT m.month, tstzrange(greatest(m.month, @from::date::timestamp)::timestamptz, least(m.month + interval '1 month', (@to::date + 1)::timestamp)::timestamptz) AS span
	FROM generate_series(date_trunc('month', @from::date::timestamp), @to::date::timestamp, interval '1 month') AS m(month)
), busy AS MATERIALIZED (
	SELECT a.practitioner_id, s.month, range_agg(tstzrange(a.start_time, a.finish_time) * s.span) FILTER (WHERE a.patient_id IS NOT NULL) AS busy,
		range_agg(tstzrange(a.start_time, a.finish_time) * s.span) FILTER (WHERE a.patient_id IS NULL) AS blocked
	FROM spans s
	JOIN appointments a ON a.practice_id = @practice AND a.start_time > lower(s.span) - interval '24 hours' AND a.start_time < upper(s.span) AND a.finish_time > lower(s.span)
	WHERE a.state NOT IN ('Cancelled', 'Did not attend')
	GROUP BY 1, 2
), rota AS MATERIALIZED (
	SELECT h.practitioner_id, h.site_id, date_trunc('month', d.day) AS month,
		range_agg(tstzrange((d.day + h.start_minute * interval '1 minute')::timestamptz, (d.day + h.finish_minute * interval '1 minute')::timestamptz)) AS worked
	FROM generate_series(@from::date::timestamp, @to::date::timestamp, interval '1 day') AS d(day)
	JOIN hours h ON h.weekday = extract(dow FROM d.day)
	JOIN practitioners w ON w.id = h.practitioner_id
	LEFT JOIN busy b ON b.practitioner_id = h.practitioner_id AND b.month = date_trunc('month', d.day)
	WHERE w.active OR b.practitioner_id IS NOT NULL
	GROUP BY 1, 2, 3
), work AS MATERIALIZED ( -- the rota less blocked time
	SELECT r.practitioner_id, r.site_id, r.month, CASE WHEN b.blocked IS NULL THEN r.worked ELSE r.worked - b.blocked END AS worked,
		(SELECT coalesce(sum(extract(epoch FROM upper(x) - lower(x))), 0) / 60 FROM unnest(r.worked * b.blocked) AS x) AS blocked
	FROM rota r
	LEFT JOIN busy b ON b.practitioner_id = r.practitioner_id AND b.month = r.month
), work_anywhere AS (
	SELECT practitioner_id, month, range_agg(r) AS worked FROM work CROSS JOIN unnest(worked) AS r GROUP BY 1, 2
), visits AS MATERIALIZED (
	SELECT a.practitioner_id, coalesce(e.site_id, p.site_id) AS site_id, s.month,
		count(*) FILTER (WHERE a.state <> 'Cancelled') AS due, count(*) FILTER (WHERE a.state = 'Cancelled') AS cancelled,
		count(*) FILTER (WHERE a.state = 'Cancelled' AND a.cancelled_at > a.start_time - interval '24 hours') AS short_notice,
		count(*) FILTER (WHERE a.state = 'Did not attend') AS missed,
		coalesce(sum(extract(epoch FROM a.finish_time - a.start_time) / 60) FILTER (WHERE a.state = 'Did not attend' OR a.state = 'Cancelled' AND a.cancelled_at > a.start_time - interval '24 hours'), 0) AS lost
	FROM spans s
	JOIN appointments a ON a.practice_id = @practice AND a.start_time >= lower(s.span) AND a.start_time < upper(s.span)
	JOIN practitioners p ON p.id = a.practitioner_id
	LEFT JOIN elsewhere e ON e.practitioner_id = a.practitioner_id AND e.weekday = extract(dow FROM a.start_time)
		AND e.start_minute <= extract(hour FROM a.start_time) * 60 + extract(minute FROM a.start_time) AND e.finish_minute > extract(hour FROM a.start_time) * 60 + extract(minute FROM a.start_time)
	WHERE a.patient_id IS NOT NULL
	GROUP BY 1, 2, 3
), times AS (
	SELECT k.practitioner_id, k.site_id, k.month,
		(SELECT coalesce(sum(extract(epoch FROM upper(r) - lower(r))), 0) / 60 FROM unnest(w.worked) AS r) AS session, (SELECT coalesce(sum(extract(epoch FROM upper(r) - lower(r))), 0) / 60 FROM unnest(w.worked * b.busy) AS r) AS booked,
		CASE WHEN k.site_id = p.site_id THEN (SELECT coalesce(sum(extract(epoch FROM upper(r) - lower(r))), 0) / 60 FROM unnest(CASE WHEN x.worked IS NULL THEN b.busy ELSE b.busy - x.worked END) AS r) ELSE 0 END AS outside, coalesce(w.blocked, 0) AS blocked,
		coalesce(v.due, 0) AS due, coalesce(v.cancelled, 0) AS cancelled, coalesce(v.short_notice, 0) AS short_notice, coalesce(v.missed, 0) AS missed, coalesce(v.lost, 0) AS lost
	FROM (
		SELECT practitioner_id, site_id, month FROM work
		UNION SELECT practitioner_id, site_id, month FROM visits
		UNION SELECT b.practitioner_id, p.site_id, b.month FROM busy b JOIN practitioners p ON p.id = b.practitioner_id
	) k
	JOIN practitioners p ON p.id = k.practitioner_id
	LEFT JOIN work w ON w.practitioner_id = k.practitioner_id AND w.site_id = k.site_id AND w.month = k.month
	LEFT JOIN work_anywhere x ON x.practitioner_id = k.practitioner_id AND x.month = k.month
	LEFT JOIN busy b ON b.practitioner_id = k.practitioner_id AND b.month = k.month
	LEFT JOIN visits v ON v.practitioner_id = k.practitioner_id AND v.site_id = k.site_id AND v.month = k.month
)
SELECT
	CASE WHEN grouping(t.month) = 0 THEN 'months' ELSE 'practitioners' END AS "table",
	t.practitioner_id, u.first_name || ' ' || u.last_name AS practitioner, t.site_id, s.name AS site, to_char(t.month, 'YYYY-MM') AS month,
	sum(t.session)::bigint AS session_minutes, sum(t.booked)::bigint AS booked_minutes, sum(t.session - t.booked)::bigint AS free_minutes,
	round(100.0 * sum(t.booked) / nullif(sum(t.session), 0), 2) AS utilisation, sum(t.outside)::bigint AS outside_minutes, sum(t.blocked)::bigint AS blocked_minutes,
	sum(t.due) AS appointments, sum(t.cancelled) AS cancellations, sum(t.short_notice) AS short_notice_cancellations, sum(t.missed) AS did_not_attend,
	round(100.0 * sum(t.missed) / nullif(sum(t.due), 0), 2) AS did_not_attend_rate, sum(t.lost)::bigint AS lost_minutes
FROM times t
JOIN practitioners w ON w.id = t.practitioner_id
JOIN users u ON u.id = w.user_id
JOIN sites s ON s.id = t.site_id
WHERE t.session + t.blocked + t.outside + t.due + t.cancelled > 0
GROUP BY GROUPING SETS ((t.practitioner_id, u.first_name, u.last_name, t.site_id, s.name, t.month), (t.practitioner_id, u.first_name, u.last_name))
ORDER BY 1, 3, 5, 6;
