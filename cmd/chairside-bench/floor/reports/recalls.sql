-- The recalls of patients without an appointment from today on, and how to reach them.
WITH people AS MATERIALIZED (
	SELECT p.*
	FROM patients p
	WHERE p.practice_id = @practice AND p.active
	AND (
		p.dentist_recall_date BETWEEN @from::date AND @to::date OR p.hygienist_recall_date BETWEEN @from::date AND @to::date
		OR EXISTS (
			SELECT FROM recalls r
			WHERE r.practice_id = @practice AND r.patient_id = p.id AND r.status NOT IN ('completed', 'cancelled') AND r.due_on BETWEEN @from::date AND @to::date
		)
	)
	AND NOT EXISTS (
		SELECT FROM appointments a
		WHERE a.practice_id = @practice AND a.patient_id = p.id AND a.start_time >= date_trunc('day', @now::timestamptz) AND a.state NOT IN ('Cancelled', 'Did not attend')
	)
), records AS MATERIALIZED (
	SELECT r.*, r.status NOT IN ('completed', 'cancelled') AS open FROM people p JOIN recalls r ON r.practice_id = @practice AND r.patient_id = p.id
), dated AS (
	SELECT id, 'exam' AS type, dentist_recall_date AS due, dentist_id AS practitioner_id FROM people
	UNION ALL
	SELECT id, 'hygiene', hygienist_recall_date, hygienist_id FROM people
), due AS (
	SELECT d.id, d.type, r.due_on AS due, coalesce(r.practitioner_id, d.practitioner_id) AS practitioner_id, r.method
	FROM dated d
	JOIN records r ON r.patient_id = d.id AND r.recall_type = d.type AND r.open
	WHERE r.due_on BETWEEN @from::date AND @to::date
	UNION ALL
	SELECT d.id, d.type, d.due, d.practitioner_id, NULL
	FROM dated d
	WHERE d.due BETWEEN @from::date AND @to::date
	AND NOT EXISTS (SELECT FROM records r WHERE r.patient_id = d.id AND r.recall_type = d.type AND (r.open OR r.due_on >= d.due))
), listed AS (
	SELECT d.due, d.type, d.practitioner_id, coalesce(d.method, p.recall_method) AS way, p.*,
		coalesce(nullif(CASE p.preferred_phone_number WHEN 1 THEN p.home_phone WHEN 2 THEN p.work_phone WHEN 3 THEN p.mobile_phone END, ''),
			nullif(p.mobile_phone, ''), nullif(p.home_phone, ''), nullif(p.work_phone, ''), '') AS phone
	FROM due d
	JOIN people p ON p.id = d.id
)
SELECT 'recalls' AS "table", l.due, greatest(@now::timestamptz::date - l.due, 0) AS days_overdue, CASE l.type WHEN 'exam' THEN 'Dental' ELSE 'Hygiene' END AS recall,
	l.id AS patient_id, l.first_name || ' ' || l.last_name AS patient, l.way AS method,
	CASE l.way
		WHEN 'SMS' THEN coalesce(l.mobile_phone, '')
		WHEN 'Email' THEN coalesce(l.email_address, '')
		WHEN 'Phone' THEN l.phone
		ELSE concat_ws(', ', nullif(btrim(l.address_line_1), ''), nullif(btrim(l.address_line_2), ''), nullif(btrim(l.town), ''), nullif(btrim(l.county), ''), nullif(btrim(l.postcode), ''))
	END AS contact,
	CASE
		WHEN l.way = 'SMS' AND coalesce(l.mobile_phone, '') = '' THEN 'no mobile number'
		WHEN l.way = 'SMS' AND NOT l.use_sms THEN 'does not want text messages'
		WHEN l.way = 'Email' AND coalesce(l.email_address, '') = '' THEN 'no e-mail address'
		WHEN l.way = 'Email' AND NOT l.use_email THEN 'does not want e-mail'
		WHEN l.way = 'Phone' AND l.phone = '' THEN 'no telephone number'
		ELSE ''
	END AS note,
	coalesce(u.first_name || ' ' || u.last_name, '') AS practitioner, s.name AS site,
	(SELECT max(a.start_time)::date FROM appointments a WHERE a.practice_id = @practice AND a.patient_id = l.id AND a.state = 'Completed' AND a.start_time <= @now::timestamptz) AS last_seen
FROM listed l
JOIN sites s ON s.id = l.site_id
LEFT JOIN practitioners w ON w.id = l.practitioner_id
LEFT JOIN users u ON u.id = w.user_id
ORDER BY l.due, l.last_name_folded, l.id, recall;
