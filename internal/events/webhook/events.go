package webhook

import (
	"maps"
	"slices"
	"strings"

	"chairside/ogent"
)

// kinds are the kinds of change, as events end.
var kinds = []string{"created", "updated", "deleted"}

// testEvent is the event of a test, which needs no subscription.
const testEvent = "webhook.test"

// Events returns all events that a webhook can have, except RESOURCE.* and *.
func Events() (all []string) {
	for _, resource := range Resources([]string{"*"}) {
		for _, kind := range kinds {
			all = append(all, resource+"."+kind)
		}
	}
	return all
}

// Resources returns the resources of events.
func Resources(events []string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(ogent.Resources)) {
		if slices.ContainsFunc(events, func(e string) bool { return e == "*" || strings.HasPrefix(e, name+".") }) {
			names = append(names, name)
		}
	}
	return names
}

// CheckEvents returns what is wrong with the events of a webhook, or "".
func CheckEvents(events []string) string {
	if len(events) == 0 {
		return "must name at least one event"
	}
	for _, e := range events {
		resource, kind, _ := strings.Cut(e, ".")
		_, known := ogent.Resources[resource]
		if e != "*" && !(known && (kind == "*" || slices.Contains(kinds, kind))) {
			return "must be events such as patients.created, patients.* or *"
		}
	}
	return ""
}

// Wants reports whether events include a change.
func Wants(events []string, resource, kind string) bool {
	return slices.ContainsFunc(events, func(e string) bool {
		return e == "*" || e == resource+".*" || e == resource+"."+kind
	})
}
