package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// thisMachine describes this machine, as far as known.
func thisMachine() machine {
	m := machine{Processors: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if name, ok := line("/proc/cpuinfo", "model name"); ok {
		m.Processor = name
	}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + strings.TrimSpace(string(kernel))
	}
	if total, ok := line("/proc/meminfo", "MemTotal"); ok {
		if kilobytes, err := strconv.ParseInt(strings.TrimSuffix(total, " kB"), 10, 64); err == nil {
			m.MemoryBytes = kilobytes << 10
		}
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(text), " ")
		m.Load, _ = strconv.ParseFloat(first, 64) // 0 in an unknown format
	}
	return m
}

// line returns the value after "name:" in a file.
func line(path, name string) (value string, ok bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	for l := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}
