-- Monthly payments and patients' charges by month, by contract and month, and the claims by band.
WITH claims AS (
	SELECT c.contract_id, coalesce(nullif(c.uda_band, ''), 'No band') AS band,
		date_trunc('month', coalesce(c.submitted_date, c.created_at::date)::timestamp) AS month,
		coalesce(c.patient_charge, c.ni_calculated_patient_fee, 0) AS charge,
		round(coalesce(c.awarded_uda, c.expected_uda, 0) * coalesce(CASE WHEN c.ortho THEN k.uoa_value ELSE k.uda_value END, 0) / 100.0) AS value
	FROM nhs_claims c
	JOIN contracts k ON k.id = c.contract_id
	WHERE c.practice_id = @practice AND c.claim_status NOT IN ('withdrawn', 'invalid')
	AND (c.submitted_date BETWEEN @from::date AND @to::date OR c.submitted_date IS NULL AND c.created_at >= @from::date AND c.created_at < @to::date + 1)
), counted AS MATERIALIZED (
	SELECT contract_id, band, month, count(*) AS claims, count(*) FILTER (WHERE charge = 0) AS exempt, sum(value) AS activity, sum(charge) AS charges
	FROM claims
	GROUP BY 1, 2, 3
), contract_months AS (
	SELECT k.id, m.month,
		coalesce(k.target, 0)::numeric * coalesce(k.uda_value, 0) + coalesce(k.uoa_target, 0)::numeric * coalesce(k.uoa_value, 0) AS year,
		(extract(year FROM m.month) - extract(year FROM k.start_date)) * 12 + extract(month FROM m.month) - extract(month FROM k.start_date) AS past,
		least(12, coalesce((extract(year FROM k.end_date) - extract(year FROM k.start_date)) * 12 + extract(month FROM k.end_date) - extract(month FROM k.start_date) + 1, 12)) AS length
	FROM contracts k
	JOIN generate_series(date_trunc('month', @from::date::timestamp), @to::date::timestamp, interval '1 month') AS m(month)
		ON m.month >= date_trunc('month', k.start_date::timestamp) AND (k.end_date IS NULL OR k.end_date >= m.month)
	WHERE k.practice_id = @practice
), lines AS (
	SELECT contract_id, band, month, claims, exempt, activity, 0 AS payment, charges FROM counted
	UNION ALL
	SELECT id, NULL, month, 0, 0, 0, round(year * (past % length + 1) / (length * 100)) - round(year * (past % length) / (length * 100)), 0
	FROM contract_months
	WHERE round(year * (past % length + 1) / (length * 100)) <> round(year * (past % length) / (length * 100))
)
SELECT
	CASE WHEN grouping(l.month) = 1 THEN 'bands' WHEN grouping(l.contract_id) = 1 THEN 'months' ELSE 'contracts' END AS "table",
	l.contract_id, k.name AS contract, to_char(l.month, 'YYYY-MM') AS month, l.band,
	sum(l.claims) AS claims, sum(l.exempt) AS exempt, sum(l.activity) * 0.01 AS activity, sum(l.payment) * 0.01 AS monthly_payment,
	sum(l.charges) * 0.01 AS charges, sum(l.payment - l.charges) * 0.01 AS after_charges
FROM lines l
JOIN contracts k ON k.id = l.contract_id
GROUP BY GROUPING SETS ((l.month), (l.contract_id, k.name, l.month), (l.band))
HAVING grouping(l.band) = 1 OR l.band IS NOT NULL
ORDER BY 1, 3, 4, 5;
