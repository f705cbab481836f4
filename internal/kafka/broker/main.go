// Command broker runs a private one-node Apache Kafka for the tests of
// delivery: jars by Maven, data and logs in .run/kafka, on 127.0.0.1 only.
//
//	broker fetch            get the jars; fails where Java 17, Maven or the jars cannot be had
//	broker up               fetch, format, start, wait; reuses one that runs
//	broker exec -- command  run a command with MSGX_TEST_KAFKA set, on one that runs or for so long
//	broker env              print its address
//	broker down             stop it and delete its data
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"msgexchange/internal/kafka"
)

const (
	dir       = ".run/kafka"
	lib       = ".run/kafka-lib" // jars; kept when the broker is stopped
	fetched   = lib + "/pom.xml" // a copy of the pom they were fetched for
	pom       = "internal/kafka/broker/pom.xml"
	readyWait = 60 * time.Second
	javaMin   = 17
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "broker:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	const usage = "one of: fetch, up, exec -- command, env, down"
	if len(args) > 2 && args[0] == "exec" && args[1] == "--" {
		return during(ctx, args[2:])
	}
	if len(args) != 1 {
		return errors.New(usage)
	}
	switch args[0] {
	case "fetch":
		return fetch(ctx)
	case "up":
		_, err := up(ctx)
		return err
	case "env":
		address, err := address()
		if err != nil {
			return err
		}
		fmt.Println(address)
		return nil
	case "down":
		return down()
	}
	return errors.New(usage)
}

// during runs a command on a broker, and stops the broker if it was not there
// before.
func during(ctx context.Context, command []string) (err error) {
	started, err := up(ctx)
	if err != nil {
		return err
	}
	if started {
		defer func() { err = errors.Join(err, down()) }()
	}
	at, err := address()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "MSGX_TEST_KAFKA="+at)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return nil
}

func address() (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "address"))
	if err != nil {
		return "", fmt.Errorf("no broker was started: %w", err)
	}
	return string(text), nil
}

// can tells whether Java and Maven are there.
func can(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "java", "-version").CombinedOutput()
	if err != nil {
		return errors.New("there is no Java: apt-get install openjdk-17-jre-headless maven")
	}
	m := regexp.MustCompile(`version "(\d+)`).FindSubmatch(out)
	if m == nil {
		return fmt.Errorf("the version of Java is not readable: %s", out)
	}
	if major, err := strconv.Atoi(string(m[1])); err != nil || major < javaMin {
		return fmt.Errorf("this Java, %s, is too old: apt-get install openjdk-17-jre-headless", m[1])
	}
	if _, err := exec.LookPath("mvn"); err != nil {
		return errors.New("there is no Maven: apt-get install maven")
	}
	return nil
}

// fetch gets the jars, unless those that the pom names are there.
func fetch(ctx context.Context) error {
	if err := can(ctx); err != nil {
		return err
	}
	want, err := os.ReadFile(pom)
	if err != nil {
		return fmt.Errorf("what to fetch: %w", err)
	}
	have, err := os.ReadFile(fetched)
	if err == nil && bytes.Equal(have, want) {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("what was fetched: %w", err)
	}
	// Jars of another version must not be on the class path.
	if err := os.RemoveAll(lib); err != nil {
		return fmt.Errorf("delete old jars: %w", err)
	}
	into, err := filepath.Abs(lib)
	if err != nil {
		return fmt.Errorf("folder of the jars: %w", err)
	}
	mvn := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", "-DoutputDirectory="+into)
	if out, err := mvn.CombinedOutput(); err != nil {
		return fmt.Errorf("fetch Apache Kafka with Maven: %w\n%s", err, out)
	}
	if err := os.WriteFile(fetched, want, 0o644); err != nil {
		return fmt.Errorf("note what was fetched: %w", err)
	}
	return nil
}

// up starts a broker, and tells whether none ran before.
func up(ctx context.Context) (started bool, err error) {
	if err := fetch(ctx); err != nil {
		return false, err
	}
	pid, err := running()
	if err != nil {
		return false, err
	}
	// Without its address it was interrupted while it started.
	if _, err := address(); err == nil && pid != 0 {
		return false, nil
	}
	if err := down(); err != nil {
		return false, err
	}
	return true, start(ctx)
}

func start(ctx context.Context) error {
	root, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("folder of the broker: %w", err)
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return fmt.Errorf("folder of the broker: %w", err)
	}
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	address := "127.0.0.1:" + ports[0]
	config := filepath.Join(root, "server.properties")
	if err := os.WriteFile(config, []byte(properties(root, address, "127.0.0.1:"+ports[1])), 0o644); err != nil {
		return fmt.Errorf("write the broker's configuration: %w", err)
	}
	java := func(class string, args ...string) *exec.Cmd {
		return exec.Command("java", append([]string{"-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
			"-cp", filepath.Join(lib, "*"), class}, args...)...)
	}
	if out, err := java("kafka.tools.StorageTool", "format", "-t", "bXNneC1rYWZrYS10ZXN0cw", "-c", config).CombinedOutput(); err != nil {
		return fmt.Errorf("format the broker's storage: %w\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(root, "broker.log"))
	if err != nil {
		return fmt.Errorf("the broker's log: %w", err)
	}
	server := java("kafka.Kafka", config)
	server.Stdout, server.Stderr = log, log
	server.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // outlives this command
	err = server.Start()
	// The child has a descriptor of its own.
	if err := errors.Join(err, log.Close()); err != nil {
		return fmt.Errorf("start the broker: %w", err)
	}
	if err := os.WriteFile(filepath.Join(root, "pid"), []byte(strconv.Itoa(server.Process.Pid)), 0o644); err != nil {
		return errors.Join(fmt.Errorf("note the broker's process: %w", err), server.Process.Kill())
	}
	if err := answers(ctx, address); err != nil {
		return errors.Join(fmt.Errorf("%w; see %s", err, log.Name()), down())
	}
	if err := os.WriteFile(filepath.Join(root, "address"), []byte(address), 0o644); err != nil {
		return fmt.Errorf("note the broker's address: %w", err)
	}
	fmt.Println("Apache Kafka is up at", address)
	return nil
}

func properties(root, broker, controller string) string {
	return fmt.Sprintf(`process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://%[1]s,CONTROLLER://%[2]s
advertised.listeners=PLAINTEXT://%[1]s
controller.listener.names=CONTROLLER
controller.quorum.voters=1@%[2]s
log.dirs=%[3]s
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
auto.create.topics.enable=false
`, broker, controller, filepath.Join(root, "data"))
}

// answers waits until the broker creates a topic.
func answers(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	p, err := kafka.Open(ctx, kafka.Config{Brokers: []string{address}, ProduceTimeout: readyWait, MaxRecordBytes: 1 << 20}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer p.Close()
	for {
		call, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := p.EnsureTopics(call, 1, 1, "ready")
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the broker does not answer within %s: %w", readyWait, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// running returns the broker's process, 0 when it is none of ours.
func running() (int, error) {
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("find the broker's process: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("the broker's pid file: %w", err)
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return 0, fmt.Errorf("folder of the broker: %w", err)
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !strings.Contains(string(line), root) {
		return 0, nil
	}
	return pid, nil
}

func down() error {
	pid, err := running()
	if err != nil {
		return err
	}
	if pid != 0 {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			return fmt.Errorf("stop the broker: %w", err)
		}
		for range 100 {
			if pid, err := running(); err != nil || pid == 0 {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if pid, err := running(); err == nil && pid != 0 {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				return fmt.Errorf("kill the broker: %w", err)
			}
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("delete the broker's data: %w", err)
	}
	return nil
}

// freePorts returns ports nobody listens on, each another one.
func freePorts(n int) (ports []string, err error) {
	for range n {
		l, lerr := net.Listen("tcp", "127.0.0.1:0")
		if lerr != nil {
			return nil, fmt.Errorf("find a free port: %w", lerr)
		}
		// Held until all are found, to keep them apart.
		defer func() { err = errors.Join(err, l.Close()) }()
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return ports, nil
}
