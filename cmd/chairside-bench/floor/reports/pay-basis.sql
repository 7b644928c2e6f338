-- Private income and NHS activity by practitioner, and by practitioner and month.
-- Only the items of invoices that are paid in parts share an amount to the penny.
WITH paid_in_part AS (
	SELECT p.dated_on, it.practitioner_id, it.nhs_charge, it.total_price, e.amount,
		sum(it.total_price) OVER (PARTITION BY e.id ORDER BY it.id) AS running, sum(it.total_price) OVER (PARTITION BY e.id) AS whole
	FROM payments p
	JOIN payment_explanations e ON e.practice_id = @practice AND e.payment_id = p.id
	JOIN invoices i ON i.id = e.invoice_id AND i.status <> 'void' AND i.amount <> e.amount
	JOIN invoice_items it ON it.practice_id = @practice AND it.invoice_id = i.id
	WHERE p.practice_id = @practice AND NOT p.deleted AND p.dated_on BETWEEN @from::date AND @to::date
), parts AS (
	SELECT date_trunc('month', i.dated_on::timestamp) AS month, it.practitioner_id, it.nhs_charge, sum(it.total_price) AS invoiced, 0 AS paid
	FROM invoices i
	JOIN invoice_items it ON it.practice_id = @practice AND it.invoice_id = i.id
	WHERE i.practice_id = @practice AND i.status <> 'void' AND i.dated_on BETWEEN @from::date AND @to::date
	GROUP BY 1, 2, 3
	UNION ALL
	SELECT date_trunc('month', p.dated_on::timestamp), it.practitioner_id, it.nhs_charge, 0, sum(it.total_price)
	FROM payments p
	JOIN payment_explanations e ON e.practice_id = @practice AND e.payment_id = p.id
	JOIN invoices i ON i.id = e.invoice_id AND i.status <> 'void' AND i.amount = e.amount
	JOIN invoice_items it ON it.practice_id = @practice AND it.invoice_id = i.id
	WHERE p.practice_id = @practice AND NOT p.deleted AND p.dated_on BETWEEN @from::date AND @to::date
	GROUP BY 1, 2, 3
	UNION ALL
	SELECT date_trunc('month', dated_on::timestamp), practitioner_id, nhs_charge, 0,
		round(amount * running / nullif(whole, 0)) - round(amount * (running - total_price) / nullif(whole, 0))
	FROM paid_in_part
), claims AS (
	SELECT date_trunc('month', coalesce(c.submitted_date, c.created_at::date)::timestamp) AS month, c.practitioner_id, c.ortho,
		coalesce(c.awarded_uda, c.expected_uda, 0) AS units,
		round(coalesce(c.awarded_uda, c.expected_uda, 0) * coalesce(CASE WHEN c.ortho THEN k.uoa_value ELSE k.uda_value END, 0) / 100.0) AS value
	FROM nhs_claims c
	JOIN contracts k ON k.id = c.contract_id
	WHERE c.practice_id = @practice AND c.claim_status NOT IN ('withdrawn', 'invalid')
	AND (c.submitted_date BETWEEN @from::date AND @to::date OR c.submitted_date IS NULL AND c.created_at >= @from::date AND c.created_at < @to::date + 1)
), lines AS (
	SELECT practitioner_id, month, sum(CASE WHEN nhs_charge THEN 0 ELSE invoiced END) AS private_invoiced,
		coalesce(sum(CASE WHEN nhs_charge THEN 0 ELSE paid END), 0) AS private_paid, coalesce(sum(CASE WHEN nhs_charge THEN paid ELSE 0 END), 0) AS nhs_paid,
		0 AS uda, 0 AS uoa, 0 AS units_value
	FROM parts
	WHERE practitioner_id IS NOT NULL
	GROUP BY practitioner_id, month, nhs_charge
	HAVING sum(invoiced) <> 0 OR sum(paid) <> 0
	UNION ALL
	SELECT practitioner_id, month, 0, 0, 0, sum(CASE WHEN ortho THEN 0 ELSE units END), sum(CASE WHEN ortho THEN units ELSE 0 END), sum(value)
	FROM claims
	GROUP BY 1, 2
)
SELECT
	CASE WHEN grouping(l.month) = 1 THEN 'practitioners' ELSE 'months' END AS "table",
	l.practitioner_id, u.first_name || ' ' || u.last_name AS practitioner, to_char(l.month, 'YYYY-MM') AS month,
	sum(l.private_invoiced) * 0.01 AS private_invoiced, sum(l.private_paid) * 0.01 AS private_paid, sum(l.nhs_paid) * 0.01 AS nhs_paid,
	sum(l.uda) * 0.01 AS uda, sum(l.uoa) * 0.01 AS uoa, sum(l.units_value) * 0.01 AS units_value, sum(l.private_paid + l.units_value) * 0.01 AS basis
FROM lines l
JOIN practitioners w ON w.id = l.practitioner_id
JOIN users u ON u.id = w.user_id
GROUP BY GROUPING SETS ((l.practitioner_id, u.first_name, u.last_name), (l.practitioner_id, u.first_name, u.last_name, l.month))
ORDER BY 1, 3, 4;
