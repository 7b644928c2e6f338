package server

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"chairside/internal/store"
)

// replicaStateCollector collects one state.
type replicaStateCollector store.ReplicaState

func (c replicaStateCollector) Describe(chan<- *prometheus.Desc) {}

func (c replicaStateCollector) Collect(to chan<- prometheus.Metric) {
	collectReplica(store.ReplicaState(c), to)
}

// TestPrimaryNamedAsReplicaIsNotLeftOut: a failover configuration names all machines as replicas, the primary too.
// The alert ChairsideReplicaLeftOut is about a chairside_replica_up of 0.
func TestPrimaryNamedAsReplicaIsNotLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state store.ReplicaState
		want  []float64
	}{
		{store.ReplicaState{Name: "db1", Primary: true, Reason: "it is the primary now"}, nil},
		{store.ReplicaState{Name: "db2", LagKnown: true}, []float64{1}},
		{store.ReplicaState{Name: "db3", Reason: "it does not answer"}, []float64{0}},
	} {
		registry := prometheus.NewRegistry()
		registry.MustRegister(replicaStateCollector(c.state))
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var up []float64
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if f.GetName() == "chairside_replica_up" {
					up = append(up, m.GetGauge().GetValue())
				}
			}
		}
		if !slices.Equal(up, c.want) {
			t.Errorf("%+v: chairside_replica_up is %v, want %v", c.state, up, c.want)
		}
	}
}
