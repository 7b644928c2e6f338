-- Nobody else needs these changes, but a publication of all tables would have their removal refused without an identity, and they would pile up.
ALTER TABLE "total_changes" REPLICA IDENTITY FULL;
