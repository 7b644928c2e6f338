ALTER INDEX "payment_dated" RENAME TO "payment_days";
