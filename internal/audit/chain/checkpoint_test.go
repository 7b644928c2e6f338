package chain_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/internal/audit"
	"chairside/internal/audit/chain"
	"chairside/internal/clock"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

// write writes something to the log, seals it, and writes a checkpoint.
func (f *fixture) write(t *testing.T, c *chain.Checkpoints) {
	t.Helper()
	f.Get(t, "/v1/patients", "").Status(t, 401)
	f.seal(t)
	if err := c.Write(t.Context(), f.DB); err != nil {
		t.Fatal(err)
	}
}

// after returns a time whose month is after all blocks.
func (f *fixture) after() time.Time { return time.Now().AddDate(0, 2, 0) }

// verifyWithout verifies without checkpoints.
func (f *fixture) verifyWithout(t *testing.T) *chain.Report {
	t.Helper()
	r, err := chain.Verify(t.Context(), f.DB, chain.VerifyOptions{Public: []audit.PublicKey{f.key.Public()}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lines returns the only file of checkpoints and its lines.
func (f *fixture) lines(t *testing.T) (file string, lines [][]byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(f.dir, "audit-*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q, want one for this month: %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return files[0], bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}

// TestVerifyFindsARemovedCheckpoint, whichever of two processes wrote it.
func TestVerifyFindsARemovedCheckpoint(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := newFixture(t, e)
		other, err := chain.OpenCheckpoints(f.dir, f.key)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			f.write(t, f.checkpoints)
			f.write(t, other)
		}
		f.clean(t)
		file, lines := f.lines(t)
		if len(lines) != 5 {
			t.Fatalf("%d lines", len(lines))
		}
		for i := range lines[:4] {
			rest := bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil)
			if err := os.WriteFile(file, rest, 0o600); err != nil {
				t.Fatal(err)
			}
			r := f.verify(t)
			if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Text, "the line before it is missing") {
				t.Errorf("without line %d: %v", i+1, r.Problems)
			}
		}
	})
}

// TestCheckpointsOfAnOlderBackupAreRefused: the files stay the evidence, and another directory goes on.
func TestCheckpointsOfAnOlderBackupAreRefused(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := newFixture(t, e)
		save(t, e.DB)
		f.write(t, f.checkpoints)
		restore(t, e.DB)
		_, before := f.lines(t)
		opened, err := chain.OpenCheckpoints(f.dir, f.key)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range []*chain.Checkpoints{f.checkpoints, opened, f.checkpoints} {
			if err := c.Write(t.Context(), e.DB); !errors.Is(err, chain.ErrRewound) || !strings.Contains(err.Error(), "block ") {
				t.Errorf("%d: %v", i, err)
			}
			f.Get(t, "/v1/patients", "").Status(t, 401) // the numbers of its blocks catch up
			f.seal(t)
		}
		if _, after := f.lines(t); len(after) != len(before) {
			t.Errorf("%d lines became %d", len(before), len(after))
		}
		if r := f.verify(t); len(r.Problems) == 0 {
			t.Error("verify does not find it")
		}
		f.dir = t.TempDir()
		fresh, err := chain.OpenCheckpoints(f.dir, f.key)
		if err != nil {
			t.Fatal(err)
		}
		f.write(t, fresh)
		f.clean(t)
	})
}

// TestCheckpointsContinueAfterPruning, although their blocks are gone.
func TestCheckpointsContinueAfterPruning(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := newFixture(t, e)
		f.Get(t, "/v1/patients", f.Token(t, "")).Status(t, 200)
		f.write(t, f.checkpoints)
		f.Get(t, "/v1/patients", f.Token(t, "")).Status(t, 200)
		f.seal(t)
		if _, err := chain.Prune(t.Context(), e.DB, f.key, f.after(), nil); err != nil {
			t.Fatal(err)
		}
		f.write(t, f.checkpoints)
		f.clean(t)
	})
}

// TestVerifyKnowsEarlierKeys: after a change of the audit key, old checkpoints need the old key.
func TestVerifyKnowsEarlierKeys(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := newFixture(t, e)
		key, err := audit.CreateKey(filepath.Join(f.dir, "new"))
		if err != nil {
			t.Fatal(err)
		}
		e.DB.AuditKey = key
		c, err := chain.OpenCheckpoints(f.dir, key)
		if err != nil {
			t.Fatal(err)
		}
		f.write(t, c)
		if r := f.verify(t); len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Text, "the signature does not fit") {
			t.Errorf("with the old key: %v", r.Problems)
		}
		r, err := chain.Verify(t.Context(), e.DB, chain.VerifyOptions{Public: []audit.PublicKey{key.Public(), f.key.Public()}, Checkpoints: f.dir})
		if err != nil || len(r.Problems) > 0 || r.Checkpoints != 2 {
			t.Errorf("with both keys: %d checkpoints, %v, %v", r.Checkpoints, r.Problems, err)
		}
	})
}

// TestEntriesOfOpenTransactionsAreSealedAfterARestore: the first run finds a position of another database,
// while a transaction has an entry that it cannot see yet.
func TestEntriesOfOpenTransactionsAreSealedAfterARestore(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := newFixture(t, e)
		// As in a copy whose transactions begin anew.
		storetest.Exec(t, e.DB, "UPDATE audit_events SET xid = xid + 1000000000")
		storetest.Exec(t, e.DB, "DELETE FROM audit_blocks")
		if err := chain.SealRestored(t.Context(), e.DB); err != nil {
			t.Fatal(err)
		}
		if _, err := chain.Seal(t.Context(), e.DB); err != nil {
			t.Fatal(err)
		}
		if !storetest.Postgres(e.DB) { // it has one writer
			return
		}
		foreign := func() {
			last := storetest.Int(t, e.DB, "SELECT max(id) FROM audit_blocks")
			chain.SetPosition(t, e.DB, int64(last), 1<<40)
		}
		foreign()
		tx, err := e.DB.SQL.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		const insert = "INSERT INTO audit_events (practice_id, at, action, fields, details) SELECT id, now(), 'report', '[]', '{}' FROM practices"
		if _, err := tx.ExecContext(t.Context(), insert); err != nil {
			t.Fatal(err)
		}
		storetest.Exec(t, e.DB, insert)
		if _, err := chain.Seal(t.Context(), e.DB); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		f.seal(t)
		if r := f.verifyWithout(t); len(r.Problems) > 0 {
			t.Errorf("problems: %v", r.Problems)
		}
		// A position of another database without anything to seal is replaced too, once.
		foreign()
		blocks := storetest.Int(t, e.DB, "SELECT count(*) FROM audit_blocks")
		for range 2 {
			if _, err := chain.Seal(t.Context(), e.DB); err != nil {
				t.Fatal(err)
			}
		}
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM audit_blocks"); n != blocks+1 {
			t.Errorf("%d blocks became %d", blocks, n)
		}
	})
}

// TestCheckpointsFollowNumbersNotIDs: the id of a block is in no hash. One that was raised for a while stops no
// checkpoint, and what was sealed twice meanwhile is found.
func TestCheckpointsFollowNumbersNotIDs(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := newFixture(t, e)
		id := storetest.Int(t, e.DB, "SELECT max(id) FROM audit_blocks")
		const highest = 9223372036854775000
		storetest.Exec(t, e.DB, "UPDATE audit_blocks SET id = $1 WHERE id = $2", highest, id)
		if err := f.checkpoints.Write(t.Context(), e.DB); err != nil {
			t.Fatal(err)
		}
		storetest.Exec(t, e.DB, "UPDATE audit_blocks SET id = $2 WHERE id = $1", highest, id)
		for range 2 {
			f.Get(t, "/v1/patients", "").Status(t, 401)
			f.seal(t)
			if r := f.verify(t); r.Unsigned == 0 || r.UnsignedSince.IsZero() {
				t.Error("verify does not say that a block is in no checkpoint yet")
			}
			_, before := f.lines(t)
			if err := f.checkpoints.Write(t.Context(), e.DB); err != nil {
				t.Fatal(err)
			}
			if _, after := f.lines(t); len(after) != len(before)+1 {
				t.Errorf("%d lines became %d", len(before), len(after))
			}
			if r := f.verify(t); r.Unsigned != 0 {
				t.Errorf("%d blocks are in no checkpoint", r.Unsigned)
			}
		}
		f.clean(t)
		storetest.Exec(t, e.DB, "UPDATE audit_blocks SET id = -id WHERE id = (SELECT max(id) FROM audit_blocks)")
		if _, err := chain.Seal(t.Context(), e.DB); err != nil { // seals the last events again
			t.Fatal(err)
		}
		if r := f.verify(t); !slices.ContainsFunc(r.Problems, func(p chain.Problem) bool { return p.Text == "is in two blocks" }) {
			t.Errorf("problems %v", r.Problems)
		}
	})
}

// TestPruneVerifiesFirst: blocks that were made older are not cut, and a cut that was not verified says so.
func TestPruneVerifiesFirst(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := newFixture(t, e)
		options := &chain.VerifyOptions{Public: []audit.PublicKey{f.key.Public()}, Checkpoints: f.dir}
		past := "at - interval '20 years'"
		if !storetest.Postgres(e.DB) {
			past = "at - 20 * 366 * 86400000000"
		}
		storetest.Exec(t, e.DB, "UPDATE audit_blocks SET at = "+past)
		if n, err := chain.Prune(t.Context(), e.DB, f.key, time.Now().AddDate(-1, 0, 0), options); n != 0 || !errors.Is(err, chain.ErrProblems) {
			t.Errorf("%d deleted: %v", n, err)
		}
		if n, err := chain.Prune(t.Context(), e.DB, f.key, time.Now().AddDate(-1, 0, 0), nil); n == 0 || err != nil {
			t.Errorf("unverified: %d deleted: %v", n, err)
		}
		if n := storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events WHERE action = 'prune' AND CAST(details AS text) LIKE '%unverified%'"); n == 0 {
			t.Error("the cut does not say that nothing was verified")
		}
	})
}

// TestVerifyMissesCheckpoints: an empty directory is a problem, but not in the first minutes of an installation.
func TestVerifyMissesCheckpoints(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		f := newFixture(t, e)
		f.dir = t.TempDir()
		f.clean(t)
		if r := f.verify(t); r.Unsigned != r.Blocks {
			t.Errorf("%d of %d blocks are in no checkpoint", r.Unsigned, r.Blocks)
		}
		r, err := chain.Verify(clock.With(t.Context(), time.Now().Add(time.Hour)), e.DB, chain.VerifyOptions{Public: []audit.PublicKey{f.key.Public()}, Checkpoints: f.dir})
		if err != nil || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Text, "no checkpoint") {
			t.Errorf("an hour later: %v, %v", r, err)
		}
	})
}
