package rowsecurity

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"chairside/ent/practicedeletion"
)

// DeleteFunction is the function by which the system role deletes rows of append-only tables: those
// of a practice whose deletion is due (package closure). It belongs to the tables' owner and has the
// owner's rights. Given began_at or deleted_at, it notes the time in that column of practice_deletions,
// once. It returns the number of rows.
const DeleteFunction = "chairside_delete_rows"

const deleteSignature = DeleteFunction + "(uuid, text, integer)"

// deleteFunction creates the function. Its condition is a table that neither role may write. Rows of
// several partitions may have the same ctid, hence the practice beside it.
const deleteFunction = `CREATE OR REPLACE FUNCTION ` + DeleteFunction + `(practice uuid, rows_of text, batch integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = ` + deletePath + ` AS $$` + deleteBody + `$$`

// deletePath is where the function looks for names: a caller cannot put its own before them.
const deletePath = "pg_catalog, public, pg_temp"

const deleteBody = `
DECLARE
	n bigint;
BEGIN
	IF NOT EXISTS (SELECT FROM public.%[1]s WHERE id = practice AND due_at <= now()) THEN
		RAISE EXCEPTION 'the deletion of practice %% is not due', practice;
	END IF;
	IF rows_of IN ('began_at', 'deleted_at') THEN
		EXECUTE format('UPDATE public.%[1]s SET %%1$I = now() WHERE id = $1 AND %%1$I IS NULL', rows_of) USING practice;
	ELSIF rows_of IN (%[2]s) THEN
		EXECUTE format('DELETE FROM public.%%1$I WHERE practice_id = $1 AND ctid = ANY (ARRAY(SELECT ctid FROM public.%%1$I WHERE practice_id = $1 LIMIT $2))', rows_of) USING practice, batch;
	ELSE
		RAISE EXCEPTION '%% is not append-only', rows_of;
	END IF;
	GET DIAGNOSTICS n = ROW_COUNT;
	RETURN n;
END
`

// filled returns a text of this file with the tables' names.
func filled(text string) string {
	return fmt.Sprintf(text, practicedeletion.Table, "'"+strings.Join(appendOnly, "', '")+"'")
}

// giveFunction gives the function, which a superuser may have created, to the tables' owner. It
// would have a superuser's rights otherwise, and the owner could not replace it.
const giveFunction = `DO $$ BEGIN
	EXECUTE format('ALTER FUNCTION %s OWNER TO %%I', (SELECT tableowner FROM pg_tables WHERE schemaname = 'public' AND tablename = '%s'));
END $$`

// deletion returns the statements that create the function, in one transaction.
func (r Roles) deletion() string {
	return filled(deleteFunction) + ";\n" +
		fmt.Sprintf(giveFunction, deleteSignature, practicedeletion.Table) + ";\n" +
		"REVOKE ALL ON FUNCTION " + deleteSignature + " FROM PUBLIC, " + r.Serving + ";\n" +
		"GRANT EXECUTE ON FUNCTION " + deleteSignature + " TO " + r.System
}

// readFunction checks the function's text, its search path, its rights, its owner and who may call it.
func (s *State) readFunction(ctx context.Context, pool *sql.DB, _ []Table) error {
	if s.Roles.Serving == "" || s.Roles.System == "" {
		return nil
	}
	var right bool
	err := pool.QueryRowContext(ctx, `SELECT coalesce((SELECT prosecdef AND has_function_privilege($2, oid, 'EXECUTE') AND NOT has_function_privilege($3, oid, 'EXECUTE')
		AND proowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass($4)) AND prosrc = $5
		AND proconfig = ARRAY[$6]
		FROM pg_proc WHERE oid = to_regprocedure($1)), false)`, deleteSignature, s.Roles.System, s.Roles.Serving, "public."+practicedeletion.Table, filled(deleteBody), "search_path="+deletePath).Scan(&right)
	if err == nil && !right {
		s.problem("the function %s is missing, not ours or an earlier version's", DeleteFunction)
	}
	return err
}
