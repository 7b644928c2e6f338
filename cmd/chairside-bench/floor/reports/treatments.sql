-- Completed treatment by treatment and payment plan, and by category.
-- Not selected: share, whose rounding makes the parts add up to 100.
WITH done AS (
	SELECT i.treatment_id, i.payment_plan_id, count(*) AS n, sum(i.price) AS value
	FROM treatment_plan_items i
	WHERE i.practice_id = @practice AND i.completed AND i.completed_at >= @from::date AND i.completed_at < @to::date + 1
	GROUP BY 1, 2
)
SELECT 'treatments' AS "table", coalesce(c.name, '') AS category, d.treatment_id, t.nomenclature AS treatment, d.payment_plan_id, p.name AS payment_plan,
	d.n AS count, d.value * 0.01 AS value, round(d.value * 0.01 / d.n, 2) AS average_price,
	f.price_one * 0.01 AS fee, round(d.value * 0.01 / d.n, 2) - f.price_one * 0.01 AS difference
FROM done d
JOIN treatments t ON t.id = d.treatment_id
JOIN payment_plans p ON p.id = d.payment_plan_id
LEFT JOIN treatment_categories c ON c.id = t.treatment_category_id
LEFT JOIN fees f ON f.practice_id = @practice AND f.treatment_id = d.treatment_id AND f.payment_plan_id = d.payment_plan_id
UNION ALL
SELECT 'categories', coalesce(c.name, 'No category'), NULL, NULL, NULL, NULL, sum(d.n), sum(d.value) * 0.01, round(sum(d.value) * 0.01 / sum(d.n), 2), NULL, NULL
FROM done d
JOIN treatments t ON t.id = d.treatment_id
LEFT JOIN treatment_categories c ON c.id = t.treatment_category_id
GROUP BY c.name
ORDER BY 1, 2, 4, 6;
