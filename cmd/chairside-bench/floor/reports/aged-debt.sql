-- What each patient owed at the end of a day, by age, and each patient's credit. Only invoices and
-- payments that are open today, or were settled by something later or void, can have been open.
WITH open_invoices AS (
	SELECT i.patient_id, i.due_on, i.amount - coalesce((
			SELECT sum(e.amount) FROM payment_explanations e
			JOIN payments p ON p.id = e.payment_id
			WHERE e.practice_id = @practice AND e.invoice_id = i.id AND NOT p.deleted AND p.dated_on <= @to::date
		), 0) AS owed
	FROM (
		SELECT id FROM invoices WHERE practice_id = @practice AND amount_outstanding <> 0
		UNION
		SELECT e.invoice_id FROM payments p
		JOIN payment_explanations e ON e.practice_id = @practice AND e.payment_id = p.id
		WHERE p.practice_id = @practice AND (p.deleted OR p.dated_on > @to::date)
	) maybe
	JOIN invoices i ON i.id = maybe.id
	WHERE i.status <> 'void' AND i.dated_on <= @to::date
), debts AS (
	SELECT patient_id, sum(owed) AS total, min(due_on) AS oldest,
		coalesce(sum(owed) FILTER (WHERE @to::date - due_on <= 30), 0) AS current,
		coalesce(sum(owed) FILTER (WHERE @to::date - due_on BETWEEN 31 AND 60), 0) AS to_60,
		coalesce(sum(owed) FILTER (WHERE @to::date - due_on BETWEEN 61 AND 90), 0) AS to_90,
		coalesce(sum(owed) FILTER (WHERE @to::date - due_on > 90), 0) AS older
	FROM open_invoices
	WHERE owed <> 0
	GROUP BY 1
), open_payments AS (
	SELECT p.patient_id, p.dated_on, p.amount - coalesce((
			SELECT sum(e.amount) FROM payment_explanations e
			JOIN invoices i ON i.id = e.invoice_id
			WHERE e.practice_id = @practice AND e.payment_id = p.id AND i.status <> 'void' AND i.dated_on <= @to::date
		), 0) AS unused
	FROM (
		SELECT id FROM payments WHERE practice_id = @practice AND amount_unexplained <> 0
		UNION
		SELECT e.payment_id FROM invoices i
		JOIN payment_explanations e ON e.practice_id = @practice AND e.invoice_id = i.id
		WHERE i.practice_id = @practice AND (i.status = 'void' OR i.dated_on > @to::date)
	) maybe
	JOIN payments p ON p.id = maybe.id
	WHERE NOT p.deleted AND p.dated_on <= @to::date
), credits AS (
	SELECT patient_id, sum(unused) AS credit, min(dated_on) AS since FROM open_payments WHERE unused <> 0 GROUP BY 1
)
SELECT 'patients' AS "table", p.first_name || ' ' || p.last_name AS patient, d.patient_id, d.current * 0.01 AS current, d.to_60 * 0.01 AS days_31_60,
	d.to_90 * 0.01 AS days_61_90, d.older * 0.01 AS over_90, d.total * 0.01 AS total, coalesce(c.credit, 0) * 0.01 AS credit, d.oldest AS oldest_due_on, NULL AS since
FROM debts d
JOIN patients p ON p.id = d.patient_id
LEFT JOIN credits c ON c.patient_id = d.patient_id
UNION ALL
SELECT 'credit', p.first_name || ' ' || p.last_name, c.patient_id, NULL, NULL, NULL, NULL, NULL, c.credit * 0.01, NULL, c.since
FROM credits c
JOIN patients p ON p.id = c.patient_id
ORDER BY 1, total DESC, credit DESC, 2;
