package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"chairside/internal/clock"
	"chairside/internal/store"
	"chairside/internal/store/backup"
	"chairside/internal/store/migrate"
	"chairside/internal/store/sealing"
	"chairside/internal/web"
)

// Installation is what Diagnose checks: a database as a server uses it, and how clients reach the
// server.
type Installation struct {
	DB *store.DB // opened with store.OpenServing, with its keys
	// SecretFiles hold keys: only their owner and group may open them and the file of the database.
	SecretFiles []string
	// KeysError is why the keys cannot be read; nil if they are read.
	KeysError error
	// ReplicasError is why the replicas cannot be used; nil if they can, or there are none.
	ReplicasError error
	// Backups are the copies that a server makes of an embedded database; nil for none.
	Backups *backup.Schedule
	Network
}

// clockLimit is how far the clocks of this machine and of the database server may differ. Codes of
// authenticators, leases of deliveries and the order of the audit log allow for less than a few seconds.
const clockLimit = 2 * time.Second

// examination is a check. It returns an outcome, or one for each problem.
type examination struct {
	name string
	run  func(*Installation, context.Context) ([]web.Check, error)
	// alone is whether it means something without the database.
	alone bool
}

// examinations are the checks, in the order in which they are shown.
var examinations = []examination{
	{"Migrations", (*Installation).CheckMigrations, false},
	{"Keys", (*Installation).checkKeys, false},
	{"File permissions", (*Installation).checkFiles, true},
	{"Totals of lists", (*Installation).checkTotals, false},
	{"Audit log", (*Installation).checkMonths, false},
	{"Row-level security", (*Installation).checkRoles, false},
	{"Time limits", (*Installation).checkLimits, false},
	{"Replicas", (*Installation).checkReplicas, false},
	{"Backups", (*Installation).checkBackups, false},
	{"Clock", (*Installation).checkClock, false},
	{"Certificate", func(i *Installation, ctx context.Context) ([]web.Check, error) { return i.checkCertificate(ctx) }, true},
	{"Address and proxies", func(i *Installation, _ context.Context) ([]web.Check, error) { return i.checkAddress() }, true},
}

// Diagnose makes all checks, each within limit unless it is 0. The outcome of one that failed to be made has the
// error.
func (i *Installation) Diagnose(ctx context.Context, limit time.Duration) []web.Check {
	outcomes := make([][]web.Check, len(examinations))
	var running sync.WaitGroup
	for n, x := range examinations {
		running.Go(func() {
			ctx := ctx
			if limit > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, limit)
				defer cancel()
			}
			outcomes[n] = x.examine(ctx, i, limit)
		})
	}
	running.Wait()
	return slices.Concat(outcomes...)
}

func (x *examination) examine(ctx context.Context, i *Installation, limit time.Duration) []web.Check {
	found, err := x.run(i, ctx)
	if err != nil {
		found = append(found, notRun(ctx, err, limit))
	}
	for k := range found {
		found[k].Name = x.name
	}
	return found
}

// notRun is the outcome of a check that could not be run.
func notRun(ctx context.Context, err error, limit time.Duration) web.Check {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return web.Check{State: web.NotChecked, Text: fmt.Sprintf("the check did not end within %s", limit), Mend: `run "chairside doctor", which has no limit`, Err: err}
	}
	return web.Check{State: web.NotChecked, Text: "the check could not be run; the server’s log has the reason", Err: err}
}

func passed(format string, args ...any) ([]web.Check, error) {
	return []web.Check{{State: web.Passed, Text: fmt.Sprintf(format, args...)}}, nil
}

func notChecked(format string, args ...any) ([]web.Check, error) {
	return []web.Check{{State: web.NotChecked, Text: fmt.Sprintf(format, args...)}}, nil
}

// problem is the outcome of a failed check.
func problem(mend, format string, args ...any) web.Check {
	return web.Check{State: web.Failed, Text: fmt.Sprintf(format, args...), Mend: mend}
}

// CheckMigrations makes the check without which the others mean nothing.
func (i *Installation) CheckMigrations(ctx context.Context) ([]web.Check, error) {
	err := migrate.Check(ctx, i.DB)
	switch {
	case err == nil:
		return passed("the database has exactly the migrations of this program")
	case errors.Is(err, migrate.ErrPending):
		return []web.Check{problem(`run "chairside migrate up"`, "%v", err)}, nil
	}
	for _, known := range []error{migrate.ErrChanged, migrate.ErrNewer, migrate.ErrHalfApplied, migrate.ErrForeign, migrate.ErrOrder} {
		if errors.Is(err, known) {
			return []web.Check{problem("", "%v", err)}, nil
		}
	}
	return nil, err
}

// NotMigrated makes the check without which most others mean nothing. It returns nil if the check passed, and otherwise
// the outcomes of all checks.
func (i *Installation) NotMigrated(ctx context.Context) []web.Check {
	found, err := i.CheckMigrations(ctx)
	switch {
	case err != nil:
		found = []web.Check{notRun(ctx, err, 0)}
	case found[0].State == web.Passed:
		return nil
	}
	found[0].Name = examinations[0].name
	return i.DiagnoseWithout(ctx, found[0])
}

// DiagnoseWithout makes the checks that need no database, after one that says why the others are not made.
func (i *Installation) DiagnoseWithout(ctx context.Context, failed web.Check) []web.Check {
	all := []web.Check{failed}
	for _, x := range examinations {
		if x.name == failed.Name {
			continue
		}
		if x.alone {
			all = append(all, x.examine(ctx, i, 0)...)
			continue
		}
		all = append(all, web.Check{Name: x.name, State: web.NotChecked, Text: "means nothing while this fails: " + strings.ToLower(failed.Name)})
	}
	return all
}

func (i *Installation) checkKeys(ctx context.Context) ([]web.Check, error) {
	if i.KeysError != nil {
		return []web.Check{problem("", "%v", i.KeysError)}, nil
	}
	err := sealing.Check(ctx, i.DB)
	var lost sealing.LostKeysError
	switch {
	case errors.As(err, &lost):
		return []web.Check{problem("", "%s", string(lost))}, nil
	case err != nil:
		return nil, err
	}
	return passed("the keys of all sealed values are there; \"chairside restore-check\" opens each value")
}

// checkFiles finds the files that all users of this machine can open. A group may: secrets that a
// container gets are often a group's.
func (i *Installation) checkFiles(context.Context) (all []web.Check, err error) {
	if runtime.GOOS == "windows" {
		return notChecked("files of Windows have no such permissions")
	}
	found, files := 0, slices.Clone(i.SecretFiles)
	if i.DB != nil && i.DB.File != "" {
		files = append(files, i.DB.File)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist): // such as the keys beside a database whose keys are elsewhere
		case err != nil:
			return all, fmt.Errorf("check the permissions: %w", err)
		case info.Mode().Perm()&0o007 != 0:
			all = append(all, problem(fmt.Sprintf(`run "chmod 600 %s"`, file), "all users of this machine can open %s", file))
		default:
			found++
		}
	}
	switch {
	case len(all) > 0:
		return all, nil
	case found == 0:
		return notChecked("the server has no file with patients’ data or keys on this machine")
	}
	return passed("only their owner and group can open the files with patients’ data and keys (%d)", found)
}

func (i *Installation) checkTotals(ctx context.Context) ([]web.Check, error) {
	found, err := i.DB.Counters.Check(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(found) > 0:
		return []web.Check{problem(`run "chairside counters repair"`, "totals that differ from the rows: %d", len(found))}, nil
	}
	return passed("list totals match the rows")
}

func (i *Installation) checkMonths(ctx context.Context) ([]web.Check, error) {
	missing, err := migrate.MissingMonths(ctx, i.DB)
	switch {
	case err != nil:
		return nil, err
	case missing != "":
		return []web.Check{problem("", "%s", missing)}, nil
	case i.DB.File != "":
		return notChecked("the audit log of an embedded database has no partitions")
	}
	return passed("the audit log has partitions for the months to come")
}

func (i *Installation) checkRoles(ctx context.Context) (all []web.Check, err error) {
	if i.DB.File != "" {
		return notChecked("an embedded database has no roles")
	}
	if reason := i.DB.Unconfined(); reason != "" {
		all = append(all, problem("", "%s", reason))
	}
	state, err := i.DB.RowSecurity(ctx)
	if err != nil {
		return all, err
	}
	if state.Superuser {
		all = append(all, problem("set --database-url and --system-database-url to URLs of the roles that \"chairside database roles\" creates", "the server signs in as the superuser %s, who can leave its role", state.Login))
	}
	if len(all) == 0 {
		return passed("the database itself keeps practices apart")
	}
	return all, nil
}

// checkLimits finds the time limits that a pooler has dropped.
func (i *Installation) checkLimits(ctx context.Context) (all []web.Check, err error) {
	if i.DB.File != "" {
		return notChecked("an embedded database has no connections whose statements could be limited")
	}
	missing, err := i.DB.MissingLimits(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range missing {
		all = append(all, problem(fmt.Sprintf("run \"ALTER ROLE … SET %s = '%s'\" for each role that the server signs in as", name, store.Limit(name)),
			"connections have no %s: a pooler drops it, or the database URL turns it off", name))
	}
	if len(all) > 0 {
		return all, nil
	}
	if i.DB.Pooled() {
		return passed("connections through the pooler have their time limits")
	}
	return passed("connections have their time limits")
}

// replicasTime bounds the wait for the replicas' first answers.
const replicasTime = 5 * time.Second

// checkReplicas finds the replicas of --replica-url that may not answer reads.
func (i *Installation) checkReplicas(ctx context.Context) (all []web.Check, err error) {
	switch {
	case i.ReplicasError != nil:
		return []web.Check{problem("", "%v", i.ReplicasError)}, nil
	case !i.DB.HasReplicas():
		return notChecked("the server has no --replica-url: the primary answers all reads")
	}
	waiting, cancel := context.WithTimeout(ctx, replicasTime)
	defer cancel()
	i.DB.AwaitReplicas(waiting)
	answering := 0
	for _, r := range i.DB.ReplicaStates() {
		switch {
		case r.Reason == "":
			answering++
		case !r.Primary:
			all = append(all, problem("", "reads do not use the replica %s: %s", r.Name, r.Reason))
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	return passed("replicas that answer reads: %d", answering)
}

// backupLate is how late a copy may be. The alert ChairsideBackupOverdue has the same limit.
const backupLate = 15 * time.Minute

// checkBackups finds whether the newest copy of an embedded database is too old.
func (i *Installation) checkBackups(ctx context.Context) ([]web.Check, error) {
	switch {
	case i.DB.File == "":
		return notChecked("PostgreSQL has its own tools for backups")
	case i.Backups == nil:
		return notChecked("the server makes no copies of its database (--backup-dir)")
	}
	newest, future, err := i.Backups.Newest(ctx, i.DB)
	if err != nil {
		return nil, err
	}
	mend := fmt.Sprintf(`run "chairside backup %s", and look for “cannot copy the database” in the server’s log`, i.Backups.Dir)
	switch at := newest.Format("2 January 2006, 15:04 UTC"); {
	case future != "":
		return []web.Check{problem("set the clock, or move that copy elsewhere", "the copy of the database %s is from the future: no new one is made", future)}, nil
	case newest.IsZero():
		return []web.Check{problem(mend, "there is no copy of the database in %s", i.Backups.Dir)}, nil
	case clock.Now(ctx).Sub(newest) > i.Backups.Every+backupLate:
		return []web.Check{problem(mend, "the newest copy of the database in %s is of %s: one is due every %s", i.Backups.Dir, at, i.Backups.Every)}, nil
	default:
		return passed("the newest copy of the database is of %s", at)
	}
}

func (i *Installation) checkClock(ctx context.Context) ([]web.Check, error) {
	if i.DB.File != "" {
		return notChecked("an embedded database uses this machine’s clock: there is no other one to compare it with")
	}
	offset, within, err := i.DB.ClockOffset(ctx)
	if err != nil {
		return nil, err
	}
	return clockOutcome(offset, within)
}

// clockOutcome judges how far the database server's clock is ahead.
func clockOutcome(offset, within time.Duration) ([]web.Check, error) {
	size, word := offset, "behind"
	if size < 0 {
		size, word = -size, "ahead of"
	}
	shown, exact := size.Round(time.Millisecond), max(within.Round(time.Millisecond), time.Millisecond)
	switch {
	case size-within > clockLimit:
		return []web.Check{problem("set both by NTP", "this machine’s clock is %s %s that of the database server (± %s); more than %s is too much for sign-in codes, leases and the times in the audit log", shown, word, exact, clockLimit)}, nil
	case size+within > clockLimit:
		return notChecked("the way to the database server takes too long to compare the clocks: they differ by %s (± %s); %s is allowed", shown, exact, clockLimit)
	}
	return passed("the clocks of this machine and the database server differ by at most %s; up to %s is allowed", shown+exact, clockLimit)
}
