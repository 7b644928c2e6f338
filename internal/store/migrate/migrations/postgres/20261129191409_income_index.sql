-- atlas:txmode none

-- Create index "invoiceitem_invoice" to table: "invoice_items"
CREATE INDEX CONCURRENTLY "invoiceitem_invoice" ON "invoice_items" ("practice_id", "invoice_id", "id") INCLUDE ("practitioner_id", "nhs_charge", "total_price", "treatment_plan_item_id");
-- Drop index "invoiceitem_practice_id_invoice_id_id" of table "invoice_items"
DROP INDEX CONCURRENTLY IF EXISTS "invoiceitem_practice_id_invoice_id_id";
-- Create index "paymentexplanation_payment" to table: "payment_explanations"
CREATE INDEX CONCURRENTLY "paymentexplanation_payment" ON "payment_explanations" ("practice_id", "payment_id", "id") INCLUDE ("invoice_id", "amount");
-- Drop index "paymentexplanation_practice_id_payment_id" of table "payment_explanations"
DROP INDEX CONCURRENTLY IF EXISTS "paymentexplanation_practice_id_payment_id";
-- Create index "payment_deleted" to table: "payments"
CREATE INDEX CONCURRENTLY "payment_deleted" ON "payments" ("practice_id", "id") WHERE deleted;
