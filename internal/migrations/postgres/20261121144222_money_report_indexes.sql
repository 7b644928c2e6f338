-- Create index "invoice_open" to table: "invoices"
CREATE INDEX "invoice_open" ON "invoices" ("practice_id", "id") WHERE (amount_outstanding <> 0);
-- Create index "payment_unexplained" to table: "payments"
CREATE INDEX "payment_unexplained" ON "payments" ("practice_id", "id") WHERE (amount_unexplained <> 0);
