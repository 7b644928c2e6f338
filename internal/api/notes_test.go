package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/ent/noteversion"
	"chairside/internal/principal"
	"chairside/internal/seal"
	"chairside/internal/test/harness"
)

// versionsOf returns the earlier texts of a note, the oldest first.
func versionsOf(t *testing.T, e *harness.Env, note int64) []*ent.NoteVersion {
	t.Helper()
	ctx := principal.AsSystem(t.Context())
	all, err := e.DB.Ent.NoteVersion.Query().Where(noteversion.NoteID(note)).Order(noteversion.ByID()).All(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestChangedNotesKeepTheirEarlierText: every way of changing a text or deleting it leaves the
// text before, with the user and the time.
func TestChangedNotesKeepTheirEarlierText(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		user := e.Get(t, "/v1/user", token).Text(t, "user.id")
		_, patient := booked(t, e)
		other := ofPractice(t, e, "demo", "SELECT id FROM patients WHERE id <> "+fmt.Sprint(patient))
		res := e.Post(t, "/v1/notes", token, edit("note", row{"patient_id": patient, "body": "one", "user_id": 1 << 40})).Status(t, 201)
		if res.Text(t, "note.user_id") != user || res.At(t, "note.kind") != "clinical" || res.At(t, "note.pinned") != false {
			t.Errorf("a new note is %s", res.Raw)
		}
		id := number(res.At(t, "note.id"))
		path := "/v1/notes/" + fmt.Sprint(id)
		var want []string
		check := func(kept ...string) {
			t.Helper()
			want = append(want, kept...)
			var got []string
			versions := versionsOf(t, e, id)
			for _, v := range versions {
				text, err := v.OpenBody(e.DB.Keys)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, text)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("the earlier texts are %q, want %q", got, want)
			}
			if len(kept) == 0 {
				return
			}
			last := versions[len(versions)-1]
			if !last.At.Equal(e.Clock.Now()) {
				t.Errorf("the change was at %s, want %s", last.At, e.Clock.Now())
			}
			if strings.Contains(last.String(), "one") {
				t.Error("the text would be logged with its row")
			}
		}
		patch := func(body row) *harness.Response {
			e.Clock.Advance(time.Minute)
			return e.Patch(t, path, token, edit("note", body))
		}
		check()
		patch(row{"body": "two"}).Status(t, 200)
		check("one")
		patch(row{"body": "two", "pinned": true}).Status(t, 200)
		patch(row{"kind": "administrative"}).Status(t, 200)
		patch(row{"body": " "}).Error(t, 422, "validation_failed", "body")
		patch(row{"body": strings.Repeat("x", 10_001)}).Error(t, 422, "validation_failed", "body")
		e.Do(t, harness.Request{Method: "PATCH", Path: path, Token: token, Body: edit("note", row{"body": "dry"}), Header: map[string]string{"Prefer": "dry-run"}}).Status(t, 200)
		check()
		e.Clock.Advance(time.Minute)
		e.Do(t, harness.Request{Method: "PUT", Path: path, Token: token, Body: edit("note", row{"body": "three"})}).Status(t, 200)
		check("two")
		if got := patch(row{"patient_id": other, "user_id": 1}).Status(t, 200); number(got.At(t, "note.patient_id")) != patient || got.Text(t, "note.user_id") != user {
			t.Errorf("moved: %s", got.Raw)
		}
		check()
		if v := versionsOf(t, e, id)[0]; v.PatientID != patient || fmt.Sprint(*v.UserID) != user {
			t.Errorf("the note was of patient %d and changed by %d", v.PatientID, *v.UserID)
		}

		ctx := e.As(t, "demo")
		write := func(work func(tx *ent.Client) error) error { return e.DB.Tx(ctx, work) }
		if err := write(func(tx *ent.Client) error { return tx.Note.Update().SetBody(seal.Plain("bulk")).Exec(ctx) }); err == nil {
			t.Error("a bulk update was accepted")
		}
		if err := write(func(tx *ent.Client) error { _, err := tx.Note.Delete().Exec(ctx); return err }); err == nil {
			t.Error("a bulk delete was accepted")
		}
		if err := write(func(tx *ent.Client) error { _, err := tx.NoteVersion.Delete().Exec(ctx); return err }); err == nil {
			t.Error("earlier texts were deleted")
		}
		if err := write(func(tx *ent.Client) error { return tx.NoteVersion.DeleteOneID(versionsOf(t, e, id)[0].ID).Exec(ctx) }); err == nil {
			t.Error("an earlier text was deleted")
		}
		check()

		e.Clock.Advance(time.Minute)
		e.Delete(t, path, token).Status(t, 204)
		check("three")
		e.Delete(t, path, token).Error(t, 404, "not_found")
		check()
	})
}

func TestNotesHaveAtMostTenThousandCharacters(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "")
		_, patient := booked(t, e)
		post := func(body any) *harness.Response {
			return e.Post(t, "/v1/notes", token, edit("note", row{"patient_id": patient, "body": body}))
		}
		longest := strings.Repeat("ß😀", 5000)
		if got := post(longest).Status(t, 201).At(t, "note.body"); got != longest {
			t.Error("the longest note was changed")
		}
		for _, body := range []any{nil, "", " \n\t", longest + "x", "a\x00b", []string{"a"}} {
			post(body).Error(t, 422, "validation_failed", "body")
		}
		e.Post(t, "/v1/notes", token, edit("note", row{"patient_id": patient, "body": "x", "kind": "private"})).Error(t, 422, "validation_failed", "kind")
		if all := e.Get(t, "/openapi.json", "").Status(t, 200); strings.Contains(string(all.Raw), "note_version") {
			t.Error("the document shows earlier texts")
		}
	})
}
