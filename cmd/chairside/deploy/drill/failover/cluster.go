package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"chairside/cmd/chairside/deploy/drill/internal/drill"
	"chairside/internal/test/localpg"
)

const (
	// configurations is the directory of the configuration that operators copy, too.
	configurations = "cmd/chairside/deploy/failover"
	// documented begins the addresses in it, and ours those that take their place: loopback ones, on
	// which the ports can stay as they are.
	documented, ours = "10.0.0.", "127.83.19."
	// documentedBin is replaced by the directory of the PostgreSQL here.
	documentedBin = "/usr/lib/postgresql/17/bin"

	proxy        = ours + "10"
	postgresPort = ":5432"
	patroniPort  = ":8008"
	database     = "chairside"
)

// names are those of the database machines.
var names = []string{"one", "two", "three"}

// cluster is what runs on all machines but the servers'.
type cluster struct {
	dir, password string
	etcd          []*drill.Process
	nodes         []*node
	haproxy       *drill.Process
}

// node is a PostgreSQL under Patroni.
type node struct {
	name, host, dir string
	environment     []string
	frozen          []int // processes
	patroni         *drill.Process
}

// configuration returns a file of the configuration for the machine with that number, from 1 on. The files
// are those of the first one.
func configuration(name string, machine int) (string, error) {
	text, err := os.ReadFile(filepath.Join(configurations, name))
	const first = "one=http://" // in the list of all machines
	return strings.NewReplacer(first+documented, first+ours, documented+"1:", fmt.Sprintf("%s%d:", ours, machine),
		"NAME=one", "NAME="+names[machine-1], documented, ours).Replace(string(text)), err
}

// settings reads the environment variables in the text of a file. Those in given override it.
func settings(text string, given map[string]string) (environment []string) {
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		name, value, found := strings.Cut(lines.Text(), "=")
		if !found || strings.HasPrefix(name, "#") {
			continue
		}
		if other, ok := given[name]; ok {
			value = other
		}
		environment = append(environment, name+"="+value)
	}
	return environment
}

// newCluster writes the configuration of all machines.
func newCluster(dir string, async bool) (*cluster, error) {
	c := &cluster{dir: dir, password: rand.Text()}
	shared, err := os.ReadFile(filepath.Join(configurations, "patroni.yml"))
	if err != nil {
		return nil, err
	}
	bin, err := localpg.Program("postgres")
	if err != nil {
		return nil, err
	}
	replaced := []string{documented + "0/24", "127.0.0.0/8", documented, ours, documentedBin, filepath.Dir(bin)}
	if async {
		replaced = append(replaced, "synchronous_mode: true", "synchronous_mode: false")
	}
	patroni := strings.NewReplacer(replaced...).Replace(string(shared)) +
		"  parameters:\n    unix_socket_directories: ''\n" // the directory's path may be too long for one
	for i, name := range names {
		n := &node{name: name, host: ours + strconv.Itoa(i+1), dir: filepath.Join(dir, name)}
		if err := errors.Join(os.Mkdir(n.dir, 0o700), os.WriteFile(filepath.Join(n.dir, "patroni.yml"), []byte(patroni), 0o600)); err != nil {
			return nil, err
		}
		text, err := configuration("patroni.env", i+1)
		if err != nil {
			return nil, err
		}
		n.environment = settings(text, map[string]string{
			"PATRONI_POSTGRESQL_DATA_DIR": filepath.Join(n.dir, "data"), "PATRONI_POSTGRESQL_PGPASS": filepath.Join(n.dir, "pgpass"),
			"PATRONI_SUPERUSER_PASSWORD": c.password, "PATRONI_REPLICATION_PASSWORD": c.password,
		})
		if err := errors.Join(localpg.Own(n.dir), localpg.Own(filepath.Join(n.dir, "patroni.yml"))); err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, n)
	}
	return c, nil
}

// start starts everything and waits until all nodes follow the first one.
func (c *cluster) start(ctx context.Context) error {
	for i := range names {
		text, err := configuration("etcd.env", i+1)
		if err != nil {
			return err
		}
		data := filepath.Join(c.dir, "etcd-"+names[i])
		if err := errors.Join(os.Mkdir(data, 0o700), localpg.Own(data)); err != nil {
			return err
		}
		process, err := c.run(settings(text, map[string]string{"ETCD_DATA_DIR": data}), data, data+".log", "etcd")
		if err != nil {
			return err
		}
		c.etcd = append(c.etcd, process)
	}
	for _, n := range c.nodes {
		if err := c.startPatroni(n); err != nil {
			return err
		}
	}
	text, err := configuration("haproxy.cfg", 1)
	if err != nil {
		return err
	}
	config := filepath.Join(c.dir, "haproxy.cfg")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	if c.haproxy, err = drill.Start(exec.Command(drill.Program("haproxy"), "-db", "-f", config), config+".log"); err != nil { //nolint:noctx // it is stopped by a signal
		return err
	}
	return c.awaitWhole(ctx)
}

// run starts a program under PostgreSQL's account.
func (c *cluster) run(environment []string, dir, log, name string, arguments ...string) (*drill.Process, error) {
	command := exec.Command(drill.Program(name), arguments...) //nolint:noctx,gosec // a program of the cluster; stopped by a signal
	command.Dir, command.Env = dir, append(os.Environ(), environment...)
	if err := localpg.RunAs(command); err != nil {
		return nil, err
	}
	return drill.Start(command, log)
}

func (c *cluster) startPatroni(n *node) (err error) {
	n.patroni, err = c.run(n.environment, n.dir, n.dir+".log", "patroni", filepath.Join(n.dir, "patroni.yml"))
	return err
}

// stop ends everything.
func (c *cluster) stop() {
	c.haproxy.Stop(syscall.SIGTERM)
	for _, n := range c.nodes {
		_ = n.kill() // fails if it does not run
	}
	for _, process := range c.etcd {
		process.Stop(syscall.SIGKILL)
	}
}

// member is the state of a node, as Patroni reports it.
type member struct {
	Name, Role, State string
	Timeline          int
}

// members asks Patroni. A node that does not respond is passed over.
func (c *cluster) members(ctx context.Context) (members []member, err error) {
	for _, n := range c.nodes {
		var found struct{ Members []member }
		if err = getJSON(ctx, "http://"+n.host+patroniPort+"/cluster", &found); err == nil {
			return found.Members, nil
		}
	}
	return nil, err
}

// askTime is how long Patroni may take to respond.
const askTime = 500 * time.Millisecond

func getJSON(ctx context.Context, url string, to any) (err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if to == nil {
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", url, response.Status)
		}
		return nil
	}
	return json.NewDecoder(response.Body).Decode(to)
}

// primary returns the node that HAProxy sends connections to. It fails if there is none.
func (c *cluster) primary(ctx context.Context) (primary *node, err error) {
	err = errors.New("no node is the primary")
	for _, n := range c.nodes {
		if getJSON(ctx, "http://"+n.host+patroniPort+"/primary", nil) == nil {
			return n, nil
		}
	}
	return nil, err
}

// awaitWhole waits until one node is the primary and all others follow it; with synchronous
// replication until commits wait for one of them.
func (c *cluster) awaitWhole(ctx context.Context) error {
	for {
		members, err := c.members(ctx)
		leader, following, synchronous := 0, 0, *async
		for _, m := range members {
			if m.Role == "leader" {
				leader = m.Timeline
			}
		}
		for _, m := range members {
			if m.Role != "leader" && (m.State == "running" || m.State == "streaming") && m.Timeline == leader {
				following++
			}
			synchronous = synchronous || m.Role == "sync_standby"
		}
		if leader > 0 && following == len(c.nodes)-1 && synchronous {
			return nil
		}
		for _, process := range append([]*drill.Process{c.haproxy}, c.etcd...) {
			if ended := process.Err(); ended != nil {
				return ended
			}
		}
		for _, n := range c.nodes {
			if ended := n.patroni.Err(); ended != nil {
				return ended
			}
		}
		if stopped := drill.Pause(ctx, 200*time.Millisecond); stopped != nil {
			return fmt.Errorf("the cluster is not whole: %+v: %w", members, errors.Join(err, stopped))
		}
	}
}
