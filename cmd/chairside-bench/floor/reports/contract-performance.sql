-- The contract year's units by contract and practitioner, and by contract, with targets and projections.
WITH claims AS (
	SELECT c.contract_id, c.practitioner_id, c.ortho, c.claim_status NOT IN ('withdrawn', 'invalid') AS payable,
		coalesce(c.expected_uda, 0) AS expected, c.awarded_uda AS awarded,
		NOT c.ortho AND t.completed_at IS NOT NULL AND c.awarded_uda IS NULL
			AND coalesce(c.submitted_date, @now::timestamptz::date) > t.completed_at::date + interval '2 months' AS late
	FROM nhs_claims c
	LEFT JOIN treatment_plans t ON t.id = c.treatment_plan_id
	WHERE c.practice_id = @practice
	AND coalesce(CASE WHEN c.ortho THEN t.start_date ELSE coalesce(t.completed_at::date, t.end_date) END, c.submitted_date, c.created_at::date) BETWEEN @from::date AND @to::date
), claimed AS (
	SELECT contract_id, practitioner_id, ortho,
		coalesce(sum(expected) FILTER (WHERE payable), 0) AS expected, coalesce(sum(awarded) FILTER (WHERE payable), 0) AS awarded,
		coalesce(sum(expected) FILTER (WHERE NOT payable), 0) AS refused, coalesce(sum(expected) FILTER (WHERE payable AND late), 0) AS late,
		coalesce(sum(coalesce(awarded, expected)) FILTER (WHERE payable AND NOT late), 0) AS delivered
	FROM claims
	GROUP BY 1, 2, 3
), units AS (
	SELECT k.*, o.ortho, CASE WHEN o.ortho THEN k.uoa_target ELSE k.target END AS own_target, CASE WHEN o.ortho THEN k.uoa_value ELSE k.uda_value END AS unit_value,
		k.start_date <= @to::date AND (k.end_date IS NULL OR k.end_date >= @from::date) AS in_force,
		greatest(@from::date, k.start_date) AS first, least((@from::date + interval '1 year')::date - 1, k.end_date) AS last
	FROM contracts k
	CROSS JOIN (VALUES (false), (true)) AS o(ortho)
	WHERE k.practice_id = @practice
), chosen AS (
	SELECT DISTINCT ON (site_id, ortho) site_id, ortho, id
	FROM units
	WHERE in_force
	ORDER BY site_id, ortho, (coalesce(own_target, 0) <> 0) DESC, (end_date IS NULL OR end_date >= @to::date) DESC, start_date DESC, name_folded, contract_number, id
), targets AS (
	SELECT h.id AS contract_id, w.id AS practitioner_id, h.ortho, w.active, CASE WHEN h.ortho THEN w.uoa_target ELSE w.uda_target END AS target
	FROM practitioners w
	JOIN chosen h ON h.site_id = w.site_id
	WHERE w.practice_id = @practice AND CASE WHEN h.ortho THEN w.uoa_target ELSE w.uda_target END <> 0
), people AS (
	SELECT contract_id, practitioner_id, n.ortho, t.target, coalesce(c.expected, 0) AS expected, coalesce(c.awarded, 0) AS awarded, coalesce(c.refused, 0) AS refused,
		coalesce(c.late, 0) AS late, coalesce(c.delivered, 0) AS delivered, round(coalesce(c.awarded, 0) * n.unit_value / 100.0) AS value
	FROM claimed c
	FULL JOIN targets t USING (contract_id, practitioner_id, ortho)
	JOIN units n ON n.id = contract_id AND n.ortho = coalesce(c.ortho, t.ortho)
	WHERE c.contract_id IS NOT NULL OR t.active
), lines AS (
	SELECT * FROM people
	UNION ALL
	SELECT n.id, NULL, n.ortho, CASE WHEN n.in_force THEN nullif(n.own_target, 0) END,
		coalesce(sum(p.expected), 0), coalesce(sum(p.awarded), 0), coalesce(sum(p.refused), 0), coalesce(sum(p.late), 0), coalesce(sum(p.delivered), 0),
		CASE WHEN n.unit_value IS NOT NULL THEN coalesce(sum(p.value), 0) END
	FROM units n
	LEFT JOIN people p ON p.contract_id = n.id AND p.ortho = n.ortho
	GROUP BY n.id, n.ortho, n.in_force, n.own_target, n.unit_value
	HAVING count(p.contract_id) > 0 OR n.in_force AND n.own_target <> 0
), projected AS (
	SELECT l.*, n.name, n.contract_number, n.start_date, n.unit_value,
		CASE WHEN n.in_force THEN least(n.last, @to::date) - n.first + 1 END AS elapsed, n.last - n.first + 1 AS days,
		CASE WHEN n.in_force THEN round(l.delivered * (n.last - n.first + 1) / (least(n.last, @to::date) - n.first + 1)::numeric) END AS projected
	FROM lines l
	JOIN units n ON n.id = l.contract_id AND n.ortho = l.ortho
), settled AS (
	SELECT *, CASE WHEN projected * 100 < target * 96 THEN target - projected ELSE 0 END AS shortfall,
		CASE WHEN projected * 100 < target * 96 THEN 0 ELSE least(projected, round(target * 1.02)) - target END AS carried
	FROM projected
)
SELECT CASE WHEN s.practitioner_id IS NULL THEN 'contracts' ELSE 'practitioners' END AS "table",
	s.name AS contract, s.contract_number, s.practitioner_id, u.first_name || ' ' || u.last_name AS practitioner, CASE WHEN s.ortho THEN 'UOA' ELSE 'UDA' END AS unit,
	s.target * 0.01 AS target, s.expected * 0.01 AS expected, s.awarded * 0.01 AS awarded, s.refused * 0.01 AS refused, s.late * 0.01 AS late, s.delivered * 0.01 AS delivered,
	s.value * 0.01 AS value, round(100.0 * s.delivered * s.days / (s.target * s.elapsed), 2) AS pace, s.projected * 0.01 AS projected,
	CASE WHEN s.target IS NOT NULL THEN s.shortfall * 0.01 END AS shortfall,
	CASE WHEN s.target IS NOT NULL THEN round(s.shortfall * s.unit_value / 100.0) * 0.01 END AS shortfall_value,
	CASE WHEN s.target IS NOT NULL THEN s.carried * 0.01 END AS carried_forward
FROM settled s
LEFT JOIN practitioners w ON w.id = s.practitioner_id
LEFT JOIN users u ON u.id = w.user_id
ORDER BY 1, s.start_date DESC, 2, 3, 6, 5;
