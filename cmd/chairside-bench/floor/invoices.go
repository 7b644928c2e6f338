package floor

import (
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

type invoice struct {
	id, account, patient int64
	site                 pgtype.UUID
	user                 *int64
	amount, outstanding  int64 // hundredths
	nhs                  *int64
	dated, due           pgtype.Date
	footnote             *string
	paid                 bool
	paidOn               pgtype.Date
	terms, reference     *string
	sent                 *time.Time
	status               string
	created, updated     time.Time
}

type invoiceItem struct {
	id                     pgtype.UUID
	invoice                int64
	name                   string
	quantity, price, total int64
	nhs                    bool
	practitioner           *int64
	sundry                 pgtype.UUID
	plan, planItem, user   *int64
	created, updated       time.Time
}

const (
	oneInvoice = `SELECT id, account_id, patient_id, site_id, user_id, amount, amount_outstanding, nhs_amount, dated_on, due_on, footnote, paid, paid_on,
		payment_terms, reference, sent_at, status, created_at, updated_at
		FROM invoices WHERE practice_id = $1 AND id = $2`
	itemsOfInvoice = `SELECT id, invoice_id, name, quantity, item_price, total_price, nhs_charge, practitioner_id, sundry_id, treatment_plan_id,
		treatment_plan_item_id, user_id, created_at, updated_at
		FROM invoice_items WHERE practice_id = $1 AND invoice_id = $2 ORDER BY id`
)

func (s *Server) getInvoice(r *http.Request, c *caller, e *encoder) (int, error) {
	id, err := pathID(r)
	if err != nil {
		return 0, err
	}
	var i invoice
	err = s.db.QueryRow(r.Context(), oneInvoice, c.practice, id).Scan(&i.id, &i.account, &i.patient, &i.site, &i.user, &i.amount, &i.outstanding, &i.nhs,
		&i.dated, &i.due, &i.footnote, &i.paid, &i.paidOn, &i.terms, &i.reference, &i.sent, &i.status, &i.created, &i.updated)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, notFound
	}
	if err != nil {
		return 0, err
	}
	e.open('{').key("invoice").open('{').key("id").int(i.id).key("account_id").int(i.account).key("patient_id").int(i.patient).key("site_id").uuid(i.site)
	e.key("user_id").optionalInt(i.user).key("amount").money(i.amount).key("amount_outstanding").money(i.outstanding).key("nhs_amount").optionalMoney(i.nhs)
	e.key("dated_on").date(i.dated).key("due_on").date(i.due).key("footnote").optionalText(i.footnote).key("paid").bool(i.paid).key("paid_on").date(i.paidOn)
	e.key("payment_terms").optionalText(i.terms).key("reference").optionalText(i.reference).key("sent_at").optionalTime(i.sent).key("status").text(i.status)
	e.key("created_at").time(i.created).key("updated_at").time(i.updated).key("invoice_items").open('[')
	rows, err := s.db.Query(r.Context(), itemsOfInvoice, c.practice, id)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var t invoiceItem
		if err := rows.Scan(&t.id, &t.invoice, &t.name, &t.quantity, &t.price, &t.total, &t.nhs, &t.practitioner, &t.sundry, &t.plan,
			&t.planItem, &t.user, &t.created, &t.updated); err != nil {
			return 0, err
		}
		e.open('{').key("id").uuid(t.id).key("invoice_id").int(t.invoice).key("name").text(t.name).key("quantity").int(t.quantity)
		e.key("item_price").money(t.price).key("total_price").money(t.total).key("nhs_charge").bool(t.nhs).key("practitioner_id").optionalInt(t.practitioner)
		e.key("sundry_id").uuid(t.sundry).key("treatment_plan_id").optionalInt(t.plan).key("treatment_plan_item_id").optionalInt(t.planItem)
		e.key("user_id").optionalInt(t.user).key("created_at").time(t.created).key("updated_at").time(t.updated).close('}')
	}
	e.close(']').close('}').close('}')
	return http.StatusOK, rows.Err()
}
