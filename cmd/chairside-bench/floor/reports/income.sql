-- Invoiced, paid and outstanding amounts by month, by practitioner, by payment plan, NHS and private.
-- Only the items of invoices that are open, or paid in parts, share an amount to the penny.
-- Not selected: share, whose rounding makes the parts add up to 100.
WITH owed AS (
	SELECT i.dated_on, it.practitioner_id, it.treatment_plan_item_id, it.nhs_charge, it.total_price, i.amount_outstanding AS amount,
		sum(it.total_price) OVER (PARTITION BY i.id ORDER BY it.id) AS running, sum(it.total_price) OVER (PARTITION BY i.id) AS whole
	FROM invoices i
	JOIN invoice_items it ON it.practice_id = @practice AND it.invoice_id = i.id
	WHERE i.practice_id = @practice AND i.status <> 'void' AND i.dated_on BETWEEN @from::date AND @to::date AND i.amount_outstanding <> 0
), paid_in_part AS (
	SELECT p.dated_on, it.practitioner_id, it.treatment_plan_item_id, it.nhs_charge, it.total_price, e.amount,
		sum(it.total_price) OVER (PARTITION BY e.id ORDER BY it.id) AS running, sum(it.total_price) OVER (PARTITION BY e.id) AS whole
	FROM payments p
	JOIN payment_explanations e ON e.practice_id = @practice AND e.payment_id = p.id
	JOIN invoices i ON i.id = e.invoice_id AND i.status <> 'void' AND i.amount <> e.amount
	JOIN invoice_items it ON it.practice_id = @practice AND it.invoice_id = i.id
	WHERE p.practice_id = @practice AND NOT p.deleted AND p.dated_on BETWEEN @from::date AND @to::date
), parts AS (
	SELECT date_trunc('month', i.dated_on::timestamp) AS month, it.practitioner_id, t.payment_plan_id, it.nhs_charge, sum(it.total_price) AS invoiced, 0 AS paid, 0 AS outstanding
	FROM invoices i
	JOIN invoice_items it ON it.practice_id = @practice AND it.invoice_id = i.id
	LEFT JOIN treatment_plan_items t ON t.id = it.treatment_plan_item_id
	WHERE i.practice_id = @practice AND i.status <> 'void' AND i.dated_on BETWEEN @from::date AND @to::date
	GROUP BY 1, 2, 3, 4
	UNION ALL
	SELECT date_trunc('month', o.dated_on::timestamp), o.practitioner_id, t.payment_plan_id, o.nhs_charge, 0, 0,
		round(o.amount * o.running / nullif(o.whole, 0)) - round(o.amount * (o.running - o.total_price) / nullif(o.whole, 0))
	FROM owed o
	LEFT JOIN treatment_plan_items t ON t.id = o.treatment_plan_item_id
	UNION ALL
	SELECT date_trunc('month', p.dated_on::timestamp), it.practitioner_id, t.payment_plan_id, it.nhs_charge, 0, sum(it.total_price), 0
	FROM payments p
	JOIN payment_explanations e ON e.practice_id = @practice AND e.payment_id = p.id
	JOIN invoices i ON i.id = e.invoice_id AND i.status <> 'void' AND i.amount = e.amount
	JOIN invoice_items it ON it.practice_id = @practice AND it.invoice_id = i.id
	LEFT JOIN treatment_plan_items t ON t.id = it.treatment_plan_item_id
	WHERE p.practice_id = @practice AND NOT p.deleted AND p.dated_on BETWEEN @from::date AND @to::date
	GROUP BY 1, 2, 3, 4
	UNION ALL
	SELECT date_trunc('month', o.dated_on::timestamp), o.practitioner_id, t.payment_plan_id, o.nhs_charge, 0,
		round(o.amount * o.running / nullif(o.whole, 0)) - round(o.amount * (o.running - o.total_price) / nullif(o.whole, 0)), 0
	FROM paid_in_part o
	LEFT JOIN treatment_plan_items t ON t.id = o.treatment_plan_item_id
), matched AS MATERIALIZED (
	SELECT month, practitioner_id, payment_plan_id, CASE WHEN nhs_charge THEN 'NHS' ELSE 'Private' END AS kind,
		sum(invoiced) AS invoiced, coalesce(sum(paid), 0) AS paid, coalesce(sum(outstanding), 0) AS outstanding
	FROM parts
	GROUP BY 1, 2, 3, 4
	HAVING sum(invoiced) <> 0 OR sum(paid) <> 0 OR sum(outstanding) <> 0
), documents AS (
	SELECT date_trunc('month', dated_on::timestamp) AS month, sum(amount) AS invoiced, 0 AS paid, sum(amount_outstanding) AS outstanding
	FROM invoices
	WHERE practice_id = @practice AND status <> 'void' AND dated_on BETWEEN @from::date AND @to::date
	GROUP BY 1
	UNION ALL
	SELECT date_trunc('month', dated_on::timestamp), 0, sum(amount), 0
	FROM payments
	WHERE practice_id = @practice AND NOT deleted AND dated_on BETWEEN @from::date AND @to::date
	GROUP BY 1
	UNION ALL
	SELECT month, -invoiced, -paid, -outstanding FROM matched
), lines AS (
	SELECT m.*, coalesce(u.first_name || ' ' || u.last_name, 'No practitioner') AS practitioner, coalesce(l.name, 'No plan') AS payment_plan
	FROM matched m
	LEFT JOIN practitioners w ON w.id = m.practitioner_id
	LEFT JOIN users u ON u.id = w.user_id
	LEFT JOIN payment_plans l ON l.id = m.payment_plan_id
	UNION ALL
	SELECT month, NULL, NULL, 'Not matched', sum(invoiced), sum(paid), sum(outstanding), 'Not matched', 'Not matched'
	FROM documents
	GROUP BY 1
	HAVING sum(invoiced) <> 0 OR sum(paid) <> 0 OR sum(outstanding) <> 0
)
SELECT
	CASE WHEN grouping(practitioner) = 0 THEN 'practitioners' WHEN grouping(payment_plan) = 0 THEN 'payment_plans' ELSE 'nhs_and_private' END AS "table",
	NULL AS month, practitioner_id, practitioner, payment_plan_id, payment_plan, kind,
	sum(invoiced) * 0.01 AS invoiced, sum(paid) * 0.01 AS paid, sum(outstanding) * 0.01 AS outstanding
FROM lines
GROUP BY GROUPING SETS ((practitioner_id, practitioner), (payment_plan_id, payment_plan), (kind))
UNION ALL
SELECT 'months', to_char(m.month, 'YYYY-MM'), NULL, NULL, NULL, NULL, NULL,
	coalesce(sum(l.invoiced), 0) * 0.01, coalesce(sum(l.paid), 0) * 0.01, coalesce(sum(l.outstanding), 0) * 0.01
FROM generate_series(date_trunc('month', @from::date::timestamp), @to::date::timestamp, interval '1 month') AS m(month)
LEFT JOIN lines l ON l.month = m.month
GROUP BY m.month
ORDER BY 1, 2, invoiced DESC;
