-- Treatment proposed and accepted by month, by practitioner and by payment plan.
WITH made AS MATERIALIZED (
	SELECT t.id, t.practitioner_id, t.payment_plan_id, date_trunc('month', t.created_at)::date AS month,
		EXISTS (
			SELECT FROM treatment_appointments v
			JOIN appointments a ON a.id = v.appointment_id
			WHERE v.practice_id = @practice AND v.treatment_plan_id = t.id AND a.state NOT IN ('Cancelled', 'Did not attend')
		) AS booked
	FROM treatment_plans t
	WHERE t.practice_id = @practice AND t.created_at >= @from::date AND t.created_at < @to::date + 1
), plans AS (
	SELECT m.id, m.practitioner_id, m.payment_plan_id, m.month,
		sum(i.price) AS proposed,
		coalesce(sum(i.price) FILTER (WHERE i.completed), 0) AS carried_out,
		coalesce(sum(i.price) FILTER (WHERE i.completed OR i.charged OR m.booked), 0) AS accepted,
		bool_or(i.completed OR i.charged OR m.booked) AS is_accepted
	FROM made m
	JOIN treatment_plan_items i ON i.practice_id = @practice AND i.treatment_plan_id = m.id
	WHERE NOT i.completed OR i.created_at::date < i.completed_at::date
	GROUP BY 1, 2, 3, 4
)
SELECT
	CASE WHEN grouping(p.month) = 0 THEN 'months' WHEN grouping(p.practitioner_id) = 0 THEN 'practitioners' ELSE 'payment_plans' END AS "table",
	to_char(p.month, 'YYYY-MM') AS month, p.practitioner_id, u.first_name || ' ' || u.last_name AS practitioner, p.payment_plan_id, l.name AS payment_plan,
	count(*) AS plans, count(*) FILTER (WHERE p.is_accepted) AS plans_accepted, round(100.0 * count(*) FILTER (WHERE p.is_accepted) / count(*), 2) AS plans_rate,
	sum(p.proposed) * 0.01 AS proposed, sum(p.accepted) * 0.01 AS accepted, sum(p.carried_out) * 0.01 AS carried_out,
	sum(p.proposed - p.accepted) * 0.01 AS not_accepted, round(100.0 * sum(p.accepted) / nullif(sum(p.proposed), 0), 2) AS value_rate
FROM plans p
JOIN practitioners w ON w.id = p.practitioner_id
JOIN users u ON u.id = w.user_id
JOIN payment_plans l ON l.id = p.payment_plan_id
GROUP BY GROUPING SETS ((p.month), (p.practitioner_id, u.first_name, u.last_name), (p.payment_plan_id, l.name))
ORDER BY 1, 2, 4, 6;
