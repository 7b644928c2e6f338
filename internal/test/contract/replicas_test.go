package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/entx/rowscan"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/server"
	"chairside/internal/store"
	"chairside/internal/store/rowsecurity"
	"chairside/internal/test/harness"
	"chairside/internal/test/localpg"
	"chairside/internal/test/testdb"
)

const positionHeader = "Chairside-Position"

// replicated is a primary with replicas, and servers that use all of them.
type replicated struct {
	primary  *localpg.Server
	replicas []*localpg.Server
	admin    []*store.DB // of the replicas
	servers  []*harness.Env
	patients []int64
}

// startReplicated starts everything, with row-level security as in production.
func startReplicated(t *testing.T, replicas, servers int) *replicated {
	t.Helper()
	return startReplicatedBehind(t, replicas, servers, func(primary string, replicas []string) (string, []string) { return primary, replicas })
}

// startReplicatedBehind is startReplicated with servers that use other URLs, such as those of a proxy.
func startReplicatedBehind(t *testing.T, replicas, servers int, through func(primary string, replicas []string) (string, []string)) *replicated {
	t.Helper()
	primary, err := localpg.Start(t.Context(), localpg.Replicated...)
	if errors.Is(err, localpg.ErrNotInstalled) {
		t.Skip(err) // CI fails in TestMain
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &replicated{primary: primary}
	t.Cleanup(func() { _ = primary.Stop() })
	if err := primary.CreateDatabase(t.Context(), "practice"); err != nil {
		t.Fatal(err)
	}
	if err := testdb.Practice.Fill(t.Context(), primary.URL("practice")); err != nil {
		t.Fatal(err)
	}
	owner, err := store.Open(t.Context(), primary.URL("practice"))
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	if _, err := owner.CreateRoles(t.Context(), rowsecurity.DefaultRoles); err != nil {
		t.Fatal(err)
	}
	var urls []string
	for range replicas {
		s, err := primary.Standby(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r.replicas = append(r.replicas, s)
		urls = append(urls, s.URL("practice"))
		t.Cleanup(func() { _ = s.Stop() })
		admin, err := store.Open(t.Context(), s.URL("practice")+"&pool_size=2")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { admin.Close() })
		r.admin = append(r.admin, admin)
	}
	address, urls := through(primary.URL("practice"), urls)
	for range servers {
		r.servers = append(r.servers, harness.Start(t, address, func(o *server.Options) {
			if err := o.DB.UseReplicas(urls, o.Logger); err != nil {
				t.Fatal(err)
			}
		}))
	}
	for _, p := range r.servers[0].Get(t, "/v1/patients?per_page=40", r.servers[0].Token(t, "")).Status(t, http.StatusOK).List(t, "patients") {
		id, err := p.(map[string]any)["id"].(json.Number).Int64()
		if err != nil {
			t.Fatal(err)
		}
		r.patients = append(r.patients, id)
	}
	return r
}

// run executes a statement on a replica.
func (r *replicated) run(t *testing.T, replica int, statement string) {
	t.Helper()
	if _, err := r.admin[replica].SQL.ExecContext(t.Context(), statement); err != nil {
		t.Error(err)
	}
}

// answered returns how many reads the replicas of all servers have answered.
func (r *replicated) answered() (n int64) {
	for _, e := range r.servers {
		for _, s := range e.DB.ReplicaStates() {
			n += s.Answered
		}
	}
	return n
}

// waitForReads reads until replicas answer.
func (r *replicated) waitForReads(t *testing.T, e *harness.Env, token string) {
	t.Helper()
	before := r.answered()
	for until := time.Now().Add(30 * time.Second); r.answered() == before; {
		e.Get(t, "/v1/sites", token).Status(t, http.StatusOK)
		if time.Now().After(until) {
			t.Fatalf("no replica answers: %+v", e.DB.ReplicaStates())
		}
	}
}

func (r *replicated) patient(n int) string {
	return "/v1/patients/" + strconv.FormatInt(r.patients[n], 10)
}

// write sets a number in a patient's record.
func write(t *testing.T, e *harness.Env, path, token string, n int) *harness.Response {
	return e.Do(t, harness.Request{Method: http.MethodPatch, Path: path, Token: token, Body: named(n)})
}

func named(n int) any {
	return map[string]any{"patient": map[string]any{"preferred_name": "n" + strconv.Itoa(n)}}
}

// number returns the number in a patient's record.
func number(t *testing.T, r *harness.Response) int {
	t.Helper()
	name := r.Text(t, "patient.preferred_name")
	n, err := strconv.Atoi(strings.TrimPrefix(name, "n"))
	if err != nil {
		t.Errorf("%d %s", r.Code, r.Raw)
	}
	return n
}

// observation is what one client wrote to a record, or read of it.
type observation struct {
	client, record int
	wrote          bool
}

// neverBack is the model of a client's view of a record whose numbers only grow: no read shows less than
// what the client has written or seen.
var neverBack = porcupine.Model{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		by := map[[2]int][]porcupine.Operation{}
		for _, op := range history {
			in := op.Input.(observation)
			key := [2]int{in.client, in.record}
			by[key] = append(by[key], op)
		}
		for _, part := range by {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return 0 },
	Step: func(state, _, output any) (bool, any) {
		seen, n := state.(int), output.(int)
		return n >= seen, n
	},
	Equal:             func(a, b any) bool { return a == b },
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %v", input, output) },
}

// TestClientsNeverGoBackInTime: two servers, one primary, two replicas of which one falls behind again and
// again. Each client writes its own record and reads those of others, through both servers in turn. It
// sends back the position that it got. No client sees less than it has written or seen.
func TestClientsNeverGoBackInTime(t *testing.T) {
	t.Parallel()
	const clients, rounds = 6, 60
	r := startReplicated(t, 2, 2)
	tokens := make([]string, clients)
	for i := range tokens {
		tokens[i] = r.servers[0].Token(t, "")
		write(t, r.servers[0], r.patient(i), tokens[i], 1).Status(t, http.StatusOK)
	}
	r.waitForReads(t, r.servers[0], r.servers[0].Token(t, ""))

	stop, lagging := make(chan struct{}), sync.WaitGroup{}
	lagging.Go(func() {
		for {
			r.run(t, 1, "SELECT pg_wal_replay_pause()")
			select {
			case <-time.After(300 * time.Millisecond):
			case <-stop:
			}
			r.run(t, 1, "SELECT pg_wal_replay_resume()")
			select {
			case <-time.After(100 * time.Millisecond):
			case <-stop:
				return
			}
		}
	})
	var mu sync.Mutex
	var history []porcupine.Operation
	began := time.Now()
	var running sync.WaitGroup
	for c := range clients {
		running.Go(func() {
			position := ""
			note := func(o observation, call time.Time, n int) {
				mu.Lock()
				defer mu.Unlock()
				history = append(history, porcupine.Operation{ClientId: c, Input: o, Call: call.Sub(began).Nanoseconds(), Output: n, Return: time.Since(began).Nanoseconds()})
			}
			for i := range rounds {
				e := r.servers[(c+i/2)%len(r.servers)]
				call, header := time.Now(), map[string]string{positionHeader: position}
				if i%3 == 0 {
					q := harness.Request{Method: http.MethodPatch, Path: r.patient(c), Token: tokens[c], Header: header, Body: named(i + 2)}
					response := e.Do(t, q).Status(t, http.StatusOK)
					position = response.Header.Get(positionHeader)
					note(observation{client: c, record: c, wrote: true}, call, number(t, response))
					continue
				}
				record := c
				if i%3 == 2 {
					record = (c + i) % clients
				}
				response := e.Do(t, harness.Request{Method: http.MethodGet, Path: r.patient(record), Token: tokens[c], Header: header}).Status(t, http.StatusOK)
				position = response.Header.Get(positionHeader)
				note(observation{client: c, record: record}, call, number(t, response))
			}
		})
	}
	running.Wait()
	close(stop)
	lagging.Wait()
	if len(history) != clients*rounds {
		t.Fatalf("%d operations", len(history))
	}
	if result := porcupine.CheckOperationsTimeout(neverBack, history, 20*time.Second); result != porcupine.Ok {
		t.Errorf("a client went back in time: %s", result)
	}
	n := r.answered()
	t.Logf("%d operations in %s, %d reads on replicas", len(history), time.Since(began), n)
	if n < 20 {
		t.Errorf("replicas answered only %d reads", n)
	}
}

// TestPositionTravelsBetweenServers: what a client has written through one server, it reads through
// another one to which it sends the position, although no replica has it.
func TestPositionTravelsBetweenServers(t *testing.T) {
	t.Parallel()
	r := startReplicated(t, 1, 2)
	token := r.servers[0].Token(t, "")
	write(t, r.servers[0], r.patient(0), token, 1).Status(t, http.StatusOK)
	r.waitForReads(t, r.servers[1], token)
	r.run(t, 0, "SELECT pg_wal_replay_pause()")
	written := write(t, r.servers[0], r.patient(0), token, 2).Status(t, http.StatusOK)
	position := written.Header.Get(positionHeader)
	if exposed := written.Header.Get("Access-Control-Expose-Headers"); exposed != "ETag, X-OAuth-Scopes" {
		t.Errorf("scripts of other origins may read %s", exposed)
	}
	if position == "" {
		t.Fatal("the response has no position")
	}
	for _, header := range []string{position, "no position", "1:FFFFFFFF/FFFFFFFF", "7:0/1"} {
		got := r.servers[1].Do(t, harness.Request{Method: http.MethodGet, Path: r.patient(0), Token: token, Header: map[string]string{positionHeader: header}}).Status(t, http.StatusOK)
		if n := number(t, got); n != 2 {
			t.Errorf("%s: read %d after writing 2", header, n)
		}
	}
	if n := number(t, r.servers[0].Get(t, r.patient(0), token)); n != 2 {
		t.Errorf("the same server: read %d after writing 2", n)
	}
	// A record that the replica does not have is not missing.
	plan := r.servers[0].Get(t, "/v1/payment_plans", token).Status(t, http.StatusOK).Text(t, "payment_plans.0.id")
	created := r.servers[0].Do(t, harness.Request{Method: http.MethodPost, Path: "/v1/patients", Token: token, Body: map[string]any{"patient": map[string]any{
		"title": "Mrs", "first_name": "Ada", "last_name": "Okonkwo", "date_of_birth": "1985-03-09", "gender": false, "ethnicity": "A", "address_line_1": "4 Mill Lane", "postcode": "S1 2AB", "payment_plan_id": json.Number(plan),
	}}}).Status(t, http.StatusCreated)
	r.servers[1].Get(t, "/v1/patients/"+created.Text(t, "patient.id"), r.servers[1].Token(t, "")).Status(t, http.StatusOK)
	r.run(t, 0, "SELECT pg_wal_replay_resume()")
	r.waitForReads(t, r.servers[1], token)
}

// TestLostReplicasAreLeftOut: a replica is killed, comes back, and is frozen, under readers and a report. Every
// request is answered in time, and the replica answers again afterwards.
func TestLostReplicasAreLeftOut(t *testing.T) {
	t.Parallel()
	r := startReplicated(t, 1, 1)
	e, token := r.servers[0], r.servers[0].Token(t, "")
	r.waitForReads(t, e, token)

	var slowest atomic.Int64
	stop := make(chan struct{})
	var reading sync.WaitGroup
	for range 4 {
		reader := e.Token(t, "")
		reading.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				e.Get(t, "/v1/patients?per_page=5", reader).Status(t, http.StatusOK)
				slowest.Store(max(slowest.Load(), int64(time.Since(began))))
			}
		})
	}
	r.admin[0].Close() // its connections would be lost
	r.replicas[0].Kill()
	time.Sleep(time.Second)
	if err := r.replicas[0].Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.waitForReads(t, e, token)
	t.Logf("killed: the slowest read took %s", time.Duration(slowest.Swap(0)))

	// A report that runs there is made again on the primary.
	var report sync.WaitGroup
	runs, began := make(chan struct{}, 2), time.Now()
	report.Go(func() {
		caller := *principal.Must(e.As(t, "demo"))
		caller.TokenID = uuid.New()
		ctx, cancel := context.WithTimeout(principal.With(t.Context(), &caller), 25*time.Second) // as a page has it
		defer cancel()
		err := e.DB.ViewForReport(ctx, func(client *ent.Client) error {
			runs <- struct{}{}
			rows, err := client.Patient.Query().Limit(1).Rows(rowscan.RawRows(ctx), `CASE WHEN pg_is_in_recovery() THEN pg_sleep(60) END`)
			if err != nil {
				return err
			}
			return rowscan.ForEach(rows, 1, func(*rowscan.Scanner) {})
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-runs
	time.Sleep(time.Second)
	if err := r.replicas[0].Freeze(); err != nil {
		t.Fatal(err)
	}
	report.Wait()
	t.Logf("frozen: a report took %s", time.Since(began))
	if len(runs) != 1 {
		t.Error("the report was not made again")
	}
	left := e.DB.ReplicaStates()[0].Reason
	if err := r.replicas[0].Thaw(); err != nil {
		t.Fatal(err)
	}
	if left == "" {
		t.Error("a frozen replica is not left out")
	}
	r.waitForReads(t, e, token)
	close(stop)
	reading.Wait()
	frozen := time.Duration(slowest.Load())
	t.Logf("frozen: the slowest read took %s", frozen)
	if frozen > 20*time.Second {
		t.Errorf("a read took %s", frozen)
	}
	if metrics := string(e.Get(t, "/metrics", "").Raw); !strings.Contains(metrics, `chairside_replica_reads_total`) {
		t.Error("no metrics of the replicas")
	}
}

// TestSnapshotsAndReportsRunOnReplicas, and both show what was written before them.
func TestSnapshotsAndReportsRunOnReplicas(t *testing.T) {
	t.Parallel()
	r := startReplicated(t, 1, 1)
	e, token := r.servers[0], r.servers[0].Token(t, "")
	r.waitForReads(t, e, token)
	for n := range 3 {
		write(t, e, r.patient(0), token, n+100).Status(t, http.StatusOK)
		before := r.answered()
		snapshot := e.Get(t, "/v1/snapshot?resources=patients", token).Status(t, http.StatusOK)
		if !strings.Contains(string(snapshot.Raw), fmt.Sprintf(`"preferred_name":"n%d"`, n+100)) {
			t.Error("the snapshot does not have the last write")
		}
		if r.answered() == before {
			t.Error("no replica sent the snapshot")
		}
		var first struct{ Cursor string }
		if err := json.Unmarshal([]byte(strings.SplitN(string(snapshot.Raw), "\n", 2)[0]), &first); err != nil {
			t.Fatal(err)
		}
		write(t, e, r.patient(0), token, n+200).Status(t, http.StatusOK)
		changes := e.Get(t, "/v1/changes?cursor="+first.Cursor, token).Status(t, http.StatusOK)
		if !strings.Contains(string(changes.Raw), strconv.FormatInt(r.patients[0], 10)) {
			t.Errorf("the changes behind the snapshot do not have the write: %s", changes.Raw)
		}
	}
	b := e.Browser(t).SignIn(seed.DemoAdmin)
	before := r.answered()
	b.Open("/reports/income").Status(t, http.StatusOK)
	if r.answered() == before {
		t.Error("no replica answered the report")
	}
}

// TestReplicasOnlyRead: in a read on a replica, only queries of a practice run there, as the role that row-level
// security confines. A transaction runs on the primary, and a write without one is refused.
func TestReplicasOnlyRead(t *testing.T) {
	t.Parallel()
	r := startReplicated(t, 1, 1)
	e := r.servers[0]
	r.waitForReads(t, e, e.Token(t, ""))
	caller := *principal.Must(e.As(t, "demo"))
	caller.TokenID = uuid.New()
	ctx := principal.With(t.Context(), &caller)
	where := func(ctx context.Context, client *ent.Client) string {
		rows, err := client.Patient.Query().Limit(1).Rows(rowscan.RawRows(ctx), `current_user || ' ' || pg_is_in_recovery()`)
		if err != nil {
			t.Error(err)
			return ""
		}
		var text string
		if err := rowscan.ForEach(rows, 1, func(r *rowscan.Scanner) { text = r.Text(0) }); err != nil {
			t.Error(err)
		}
		return text
	}
	onReplica := func(work func(ctx context.Context) error) error {
		t.Helper()
		var err error
		for until := time.Now().Add(30 * time.Second); time.Now().Before(until) && err == nil; {
			var done bool
			if done, err = e.DB.OnReplica(ctx, store.Reading{}, work); done {
				return err
			}
		}
		t.Fatalf("no replica answers: %+v: %v", e.DB.ReplicaStates(), err)
		return nil
	}
	err := onReplica(func(ctx context.Context) error {
		if got := where(ctx, e.DB.Ent); got != "chairside_serving true" {
			t.Errorf("a query runs as %s", got)
		}
		if got := where(store.OnPrimary(ctx), e.DB.Ent); got != "chairside_serving false" {
			t.Errorf("a query that must not be old runs as %s", got)
		}
		if system := principal.AsSystemWithin(ctx); where(system, e.DB.Ent) != "chairside_system false" {
			t.Error("a query without a principal does not run on the primary")
		}
		if err := e.DB.View(ctx, func(client *ent.Client) error {
			if got := where(ctx, client); got != "chairside_serving true" {
				t.Errorf("a view runs as %s", got)
			}
			return nil
		}); err != nil {
			return err
		}
		return e.DB.Tx(ctx, func(tx *ent.Client) error {
			if got := where(ctx, tx); got != "chairside_serving false" {
				t.Errorf("a transaction runs as %s", got)
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
	err = onReplica(func(ctx context.Context) error {
		rows, err := e.DB.Ent.Patient.Query().Limit(1).Rows(rowscan.RawRows(ctx), `nextval('patients_id_seq')`)
		if err != nil {
			return err
		}
		return rowscan.ForEach(rows, 1, func(*rowscan.Scanner) {})
	})
	if wrote := (store.WroteOnReplicaError{}); !errors.As(err, &wrote) || store.APIError(t.Context(), err) != err {
		t.Errorf("a write on a replica: %v", err)
	}
}
