-- Payments by day, site and method, by method, and by day.
-- Not selected: share, whose rounding makes the parts add up to 100.
SELECT
	CASE WHEN grouping(p.site_id) = 0 THEN 'days' WHEN grouping(p.method) = 0 THEN 'methods' ELSE 'totals' END AS "table",
	p.dated_on AS day, p.site_id, s.name AS site, p.method,
	count(*) FILTER (WHERE NOT p.deleted) AS payments,
	coalesce(sum(p.amount) FILTER (WHERE NOT p.deleted AND p.amount > 0), 0) * 0.01 AS received,
	coalesce(sum(p.amount) FILTER (WHERE NOT p.deleted AND p.amount < 0), 0) * 0.01 AS refunded,
	coalesce(sum(p.amount) FILTER (WHERE NOT p.deleted), 0) * 0.01 AS taken,
	coalesce(sum(p.amount) FILTER (WHERE p.deleted), 0) * 0.01 AS deleted
FROM payments p
JOIN sites s ON s.id = p.site_id
WHERE p.practice_id = @practice AND p.dated_on BETWEEN @from::date AND @to::date
GROUP BY GROUPING SETS ((p.dated_on, p.site_id, s.name, p.method), (p.method), (p.dated_on))
ORDER BY 1, 2, 4, 5;
