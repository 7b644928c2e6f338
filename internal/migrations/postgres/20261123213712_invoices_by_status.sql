-- Create index "invoice_practice_id_status_dated_on_id" to table: "invoices"
CREATE INDEX "invoice_practice_id_status_dated_on_id" ON "invoices" ("practice_id", "status", "dated_on", "id");
