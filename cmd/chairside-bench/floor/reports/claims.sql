-- Claims by status and age, those that need action, and awards by month.
-- Not selected: what_to_do, a text of the program.
WITH dated AS MATERIALIZED (
	SELECT c.id, c.sequence_number, c.claim_status, c.status_comments, c.ortho, c.patient_id, c.practitioner_id, c.expected_uda AS expected, c.awarded_uda AS awarded,
		coalesce(c.submitted_date, c.created_at::date) AS date
	FROM nhs_claims c
	WHERE c.practice_id = @practice
	AND (c.submitted_date BETWEEN @from::date AND @to::date OR c.submitted_date IS NULL AND c.created_at >= @from::date AND c.created_at < @to::date + 1)
)
SELECT 'statuses' AS "table", claim_status AS status, count(*) AS claims,
	count(*) FILTER (WHERE @to::date - date <= 30) AS days_0_30, count(*) FILTER (WHERE @to::date - date BETWEEN 31 AND 60) AS days_31_60,
	count(*) FILTER (WHERE @to::date - date BETWEEN 61 AND 90) AS days_61_90, count(*) FILTER (WHERE @to::date - date > 90) AS over_90,
	min(date) AS oldest,
	coalesce(sum(expected) FILTER (WHERE NOT ortho), 0) * 0.01 AS expected_uda, coalesce(sum(awarded) FILTER (WHERE NOT ortho), 0) * 0.01 AS awarded_uda,
	coalesce(sum(expected) FILTER (WHERE ortho), 0) * 0.01 AS expected_uoa, coalesce(sum(awarded) FILTER (WHERE ortho), 0) * 0.01 AS awarded_uoa,
	NULL AS month, NULL AS unit, NULL::numeric AS expected, NULL::numeric AS awarded, NULL::numeric AS awaited, NULL::numeric AS lost,
	NULL::bigint AS claim, NULL::date AS date, NULL::integer AS age, NULL::bigint AS patient_id, NULL AS patient, NULL AS practitioner, NULL AS comment
FROM dated
GROUP BY claim_status
UNION ALL
SELECT 'awards', NULL, count(*), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
	to_char(date_trunc('month', date), 'YYYY-MM'), CASE WHEN ortho THEN 'UOA' ELSE 'UDA' END,
	coalesce(sum(expected), 0) * 0.01, coalesce(sum(awarded), 0) * 0.01,
	coalesce(sum(expected) FILTER (WHERE awarded IS NULL), 0) * 0.01, coalesce(sum(expected - awarded) FILTER (WHERE awarded < expected), 0) * 0.01,
	NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM dated
WHERE claim_status NOT IN ('withdrawn', 'invalid')
GROUP BY date_trunc('month', date), ortho
UNION ALL
SELECT 'attention', d.claim_status, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
	NULL, CASE WHEN d.ortho THEN 'UOA' ELSE 'UDA' END, d.expected * 0.01, NULL, NULL, NULL,
	d.sequence_number, d.date, @to::date - d.date, d.patient_id, p.first_name || ' ' || p.last_name, u.first_name || ' ' || u.last_name, coalesce(d.status_comments, '')
FROM dated d
JOIN patients p ON p.id = d.patient_id
JOIN practitioners w ON w.id = d.practitioner_id
JOIN users u ON u.id = w.user_id
WHERE d.claim_status IN ('error', 'invalid', 'queried')
ORDER BY 1, date, claim;
