-- Appointments due and missed by month, by source, and by both.
WITH counted AS (
	SELECT x.acquisition_source_id AS source_id, date_trunc('month', a.start_time) AS month,
		count(*) AS due, count(*) FILTER (WHERE a.state = 'Did not attend') AS missed
	FROM appointments a
	JOIN patients x ON x.id = a.patient_id
	WHERE a.practice_id = @practice AND a.state <> 'Cancelled' AND a.start_time >= @from::date AND a.start_time < @to::date + 1
	GROUP BY 1, 2
)
SELECT
	CASE WHEN grouping(c.month) = 1 THEN 'sources' WHEN grouping(c.source_id) = 1 THEN 'months' ELSE 'sources_by_month' END AS "table",
	to_char(c.month, 'YYYY-MM') AS month, c.source_id, coalesce(s.name, 'Not recorded') AS source,
	sum(c.due) AS due, sum(c.missed) AS did_not_attend, round(100.0 * sum(c.missed) / sum(c.due), 2) AS no_show_rate
FROM counted c
LEFT JOIN acquisition_sources s ON s.id = c.source_id
GROUP BY GROUPING SETS ((c.month), (c.source_id, s.name), (c.source_id, s.name, c.month))
ORDER BY 1, 4, 2;
