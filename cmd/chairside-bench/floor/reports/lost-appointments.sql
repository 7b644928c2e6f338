-- Appointments missed or cancelled at short notice, the time filled again and its value, by month, and by practitioner and site.
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
), lost AS MATERIALIZED (
	SELECT a.id, a.practitioner_id, coalesce(e.site_id, p.site_id) AS site_id, a.start_time, a.finish_time, a.state = 'Did not attend' AS missed
	FROM appointments a
	JOIN practitioners p ON p.id = a.practitioner_id
	LEFT JOIN elsewhere e ON e.practitioner_id = a.practitioner_id AND e.weekday = extract(dow FROM a.start_time)
		AND e.start_minute <= extract(hour FROM a.start_time) * 60 + extract(minute FROM a.start_time) AND e.finish_minute > extract(hour FROM a.start_time) * 60 + extract(minute FROM a.start_time)
	WHERE a.practice_id = @practice AND a.patient_id IS NOT NULL AND a.start_time >= @from::date AND a.start_time < @to::date + 1
	AND (a.state = 'Did not attend' OR a.state = 'Cancelled' AND a.cancelled_at > a.start_time - interval '24 hours')
), filled AS ( -- the time of each that other appointments, or earlier lost ones, take
	SELECT l.id, (SELECT coalesce(sum(extract(epoch FROM upper(r) - lower(r))), 0) / 60 FROM unnest(t.times * tstzmultirange(tstzrange(l.start_time, l.finish_time))) AS r) AS minutes
	FROM lost l
	CROSS JOIN LATERAL (
		SELECT range_agg(tstzrange(o.start_time, o.finish_time)) AS times
		FROM appointments o
		WHERE o.practice_id = @practice AND o.practitioner_id = l.practitioner_id
		AND o.start_time > l.start_time - interval '24 hours' AND o.start_time < l.finish_time AND o.finish_time > l.start_time
		AND (o.state NOT IN ('Cancelled', 'Did not attend') OR o.patient_id IS NOT NULL AND o.start_time >= @from::date AND (o.start_time, o.id) < (l.start_time, l.id)
			AND (o.state = 'Did not attend' OR o.cancelled_at > o.start_time - interval '24 hours'))
	) t
), invoiced AS (
	SELECT it.practitioner_id, sum(it.total_price) AS amount
	FROM invoices i
	JOIN invoice_items it ON it.practice_id = @practice AND it.invoice_id = i.id
	WHERE i.practice_id = @practice AND i.status <> 'void' AND i.dated_on BETWEEN (@to::date + 1 - interval '1 year')::date AND @to::date AND it.practitioner_id IS NOT NULL
	GROUP BY 1
), attended AS (
	SELECT practitioner_id, sum(duration) AS minutes
	FROM appointments
	WHERE practice_id = @practice AND patient_id IS NOT NULL AND state NOT IN ('Cancelled', 'Did not attend')
	AND start_time >= (@to::date + 1 - interval '1 year')::date AND start_time < least(@to::date + 1, @now::timestamptz)
	GROUP BY 1
), valued AS (
	SELECT l.practitioner_id, l.site_id, date_trunc('month', l.start_time) AS month, l.missed,
		extract(epoch FROM l.finish_time - l.start_time) / 60 AS minutes, coalesce(f.minutes, 0) AS filled,
		round(coalesce(i.amount, 0) * (extract(epoch FROM l.finish_time - l.start_time) / 60 - coalesce(f.minutes, 0)) / t.minutes) AS value,
		round(coalesce(i.amount, 0) * 60 / t.minutes) AS rate
	FROM lost l
	LEFT JOIN filled f ON f.id = l.id
	LEFT JOIN invoiced i ON i.practitioner_id = l.practitioner_id
	LEFT JOIN attended t ON t.practitioner_id = l.practitioner_id
)
SELECT
	CASE WHEN grouping(v.month) = 0 THEN 'months' ELSE 'practitioners' END AS "table",
	to_char(v.month, 'YYYY-MM') AS month, v.practitioner_id, u.first_name || ' ' || u.last_name AS practitioner, v.site_id, s.name AS site, v.rate * 0.01 AS rate,
	count(*) AS lost, count(*) FILTER (WHERE v.missed) AS did_not_attend, count(*) FILTER (WHERE NOT v.missed) AS short_notice_cancellations,
	sum(v.minutes)::bigint AS lost_minutes, sum(v.filled)::bigint AS filled_minutes, sum(v.minutes - v.filled)::bigint AS empty_minutes, coalesce(sum(v.value), 0) * 0.01 AS value
FROM valued v
JOIN practitioners w ON w.id = v.practitioner_id
JOIN users u ON u.id = w.user_id
JOIN sites s ON s.id = v.site_id
GROUP BY GROUPING SETS ((v.month), (v.practitioner_id, u.first_name, u.last_name, v.site_id, s.name, v.rate))
ORDER BY 1, 2, 4, 6;
