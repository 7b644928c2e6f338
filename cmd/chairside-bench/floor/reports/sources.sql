-- New patients and the money of their first year, by source and month, and by source.
-- Not selected: share, whose rounding makes the parts add up to 100.
WITH added AS MATERIALIZED (
	SELECT id, acquisition_source_id AS source_id, created_at::date AS day, date_trunc('month', created_at)::date AS month
	FROM patients
	WHERE practice_id = @practice AND created_at >= @from::date AND created_at < @to::date + 1
), parts AS (
	SELECT source_id, month, count(*) AS patients, 0 AS invoiced, 0 AS paid FROM added GROUP BY 1, 2
	UNION ALL
	SELECT a.source_id, a.month, 0, sum(i.amount), 0
	FROM added a
	JOIN invoices i ON i.practice_id = @practice AND i.patient_id = a.id AND i.dated_on >= a.day AND i.dated_on < a.day + 365 AND i.status <> 'void'
	GROUP BY 1, 2
	UNION ALL
	SELECT a.source_id, a.month, 0, 0, sum(p.amount)
	FROM added a
	JOIN payments p ON p.practice_id = @practice AND p.patient_id = a.id AND p.dated_on >= a.day AND p.dated_on < a.day + 365 AND NOT p.deleted
	GROUP BY 1, 2
)
SELECT
	CASE WHEN grouping(x.month) = 1 THEN 'sources' ELSE 'months' END AS "table",
	x.source_id, coalesce(s.name, 'Not recorded') AS source, to_char(x.month, 'YYYY-MM') AS month,
	sum(x.patients) AS patients, sum(x.invoiced) * 0.01 AS invoiced, sum(x.paid) * 0.01 AS paid,
	round(sum(x.paid) * 0.01 / sum(x.patients), 2) AS paid_per_patient
FROM parts x
LEFT JOIN acquisition_sources s ON s.id = x.source_id
GROUP BY GROUPING SETS ((x.source_id, s.name, x.month), (x.source_id, s.name))
ORDER BY 1, 3, 4;
