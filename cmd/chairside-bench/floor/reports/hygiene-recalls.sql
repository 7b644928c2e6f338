-- Hygiene visits due by outcome: by month, by practitioner and by site.
WITH due AS (
	SELECT coalesce(r.practitioner_id, p.hygienist_id) AS practitioner_id, p.site_id, r.due_on, p.active,
		CASE
			WHEN r.status = 'completed' OR a.state = 'Completed' THEN 'attended'
			WHEN a.state NOT IN ('Cancelled', 'Did not attend') OR a.state IS NULL AND r.status = 'booked' THEN 'booked'
			WHEN r.contacted_at IS NOT NULL THEN 'contacted'
			ELSE 'not contacted'
		END AS outcome
	FROM recalls r
	JOIN patients p ON p.id = r.patient_id
	LEFT JOIN appointments a ON a.id = r.appointment_id
	WHERE r.practice_id = @practice AND r.recall_type = 'hygiene' AND r.status <> 'cancelled' AND r.due_on BETWEEN @from::date AND @to::date
	UNION ALL
	SELECT p.hygienist_id, p.site_id, p.hygienist_recall_date, p.active,
		CASE WHEN EXISTS (
			SELECT FROM appointments a
			WHERE a.practice_id = @practice AND a.patient_id = p.id AND a.start_time >= date_trunc('day', @now::timestamptz) AND a.state NOT IN ('Cancelled', 'Did not attend')
		) THEN 'booked' ELSE 'not contacted' END
	FROM patients p
	WHERE p.practice_id = @practice AND p.active AND p.hygienist_recall_date BETWEEN @from::date AND @to::date
	AND NOT EXISTS (
		SELECT FROM recalls r
		WHERE r.practice_id = @practice AND r.patient_id = p.id AND r.recall_type = 'hygiene'
		AND (r.status NOT IN ('completed', 'cancelled') OR r.due_on >= p.hygienist_recall_date)
	)
), counted AS (
	SELECT practitioner_id, site_id, date_trunc('month', due_on) AS month, count(*) AS due,
		count(*) FILTER (WHERE outcome = 'attended') AS attended, count(*) FILTER (WHERE outcome = 'booked') AS booked,
		count(*) FILTER (WHERE outcome = 'contacted') AS contacted, count(*) FILTER (WHERE outcome = 'not contacted') AS not_contacted
	FROM due
	WHERE active OR outcome = 'attended'
	GROUP BY 1, 2, 3
)
SELECT
	CASE WHEN grouping(c.month) = 0 THEN 'months' WHEN grouping(c.site_id) = 0 THEN 'sites' ELSE 'practitioners' END AS "table",
	to_char(c.month, 'YYYY-MM') AS month, c.practitioner_id, coalesce(u.first_name || ' ' || u.last_name, 'No hygienist') AS practitioner, c.site_id, s.name AS site,
	sum(c.due) AS due, sum(c.attended) AS attended, sum(c.booked) AS booked, sum(c.contacted) AS contacted, sum(c.not_contacted) AS not_contacted,
	round(100.0 * sum(c.attended) / sum(c.due), 2) AS recall_rate, round(100.0 * sum(c.attended + c.booked) / sum(c.due), 2) AS attended_or_booked_rate
FROM counted c
JOIN sites s ON s.id = c.site_id
LEFT JOIN practitioners w ON w.id = c.practitioner_id
LEFT JOIN users u ON u.id = w.user_id
GROUP BY GROUPING SETS ((c.month), (c.practitioner_id, u.first_name, u.last_name), (c.site_id, s.name))
ORDER BY 1, 2, 4, 6;
