-- Drop index "invoiceitem_practice_id_invoice_id_id" from table: "invoice_items"
DROP INDEX `invoiceitem_practice_id_invoice_id_id`;
-- Create index "invoiceitem_invoice" to table: "invoice_items"
CREATE INDEX `invoiceitem_invoice` ON `invoice_items` (`practice_id`, `invoice_id`, `id`, `practitioner_id`, `nhs_charge`, `total_price`, `treatment_plan_item_id`);
-- Create index "payment_deleted" to table: "payments"
CREATE INDEX `payment_deleted` ON `payments` (`practice_id`, `id`) WHERE deleted;
-- Drop index "paymentexplanation_practice_id_payment_id" from table: "payment_explanations"
DROP INDEX `paymentexplanation_practice_id_payment_id`;
-- Create index "paymentexplanation_payment" to table: "payment_explanations"
CREATE INDEX `paymentexplanation_payment` ON `payment_explanations` (`practice_id`, `payment_id`, `id`, `invoice_id`, `amount`);
