package seed

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
	"context"
	"runtime/pprof"

	"chairside/internal/civil"
	"chairside/internal/localpg"
	"chairside/internal/store"
)

func TestScale(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("SEED_SCALE"))
	if n == 0 { t.Skip() }
	ctx := context.Background()
	s, err := localpg.Start(ctx)
	if err != nil { t.Fatal(err) }
	defer s.Stop()
	if err := s.CreateDatabase(ctx, "x"); err != nil { t.Fatal(err) }
	db, err := store.Open(ctx, s.URL("x"))
	if err != nil { t.Fatal(err) }
	defer db.Close()
	if _, err := db.Migrate(ctx); err != nil { t.Fatal(err) }
	start := time.Now()
	pf, _ := os.Create("/tmp/seedlab/cpu.out")
	pprof.StartCPUProfile(pf)
	err = Run(ctx, db, Options{Patients: n, Years: 2, RandomSeed: 1, AsOf: civil.MustParse("2026-07-01")})
	pprof.StopCPUProfile()
	if err != nil { t.Fatal(err) }
	el := time.Since(start)
	total := 0
	for _, tb := range new(batch).tables() {
		var c int
		db.SQL.QueryRow("select count(*) from "+tb.name).Scan(&c)
		fmt.Print(tb.name, " ", c, "; ")
		total += c
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Println("\nrows", total, el, float64(total)/el.Seconds(), "rows/s; sys MB", m.Sys>>20)
	var perDay float64
	db.SQL.QueryRow(`select avg(n) from (select count(*) n from appointments where start_time between '2025-07-01' and '2026-06-30' and patient_id is not null group by practitioner_id, start_time::date) x`).Scan(&perDay)
	fmt.Println("per practitioner-day", perDay)
	rows, _ := db.SQL.Query(`select u.role, avg(n) from (select practitioner_id, count(*) n from appointments where start_time between '2025-07-01' and '2026-06-30' and patient_id is not null and cancelled_at is null and did_not_attend_at is null group by practitioner_id, start_time::date) x join practitioners p on p.id=practitioner_id join users u on u.id=p.user_id group by 1`)
	for rows.Next() { var r string; var f float64; rows.Scan(&r,&f); fmt.Println(r, f) }
	rows, _ = db.SQL.Query(`select to_char(start_time,'YYYY-MM'), count(*) from appointments where patient_id is not null group by 1 order by 1`)
	for rows.Next() { var r string; var f float64; rows.Scan(&r,&f); fmt.Print(r," ", f, "; ") }
	fmt.Println()
	if os.Getenv("HOLD") != "" { fmt.Println(s.URL("x")); time.Sleep(10*time.Minute) }
}
