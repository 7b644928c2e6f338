#!/bin/sh
# Stops the service before it is removed. An upgrade keeps it running until postinstall.sh.
# Arguments: "remove" or "upgrade" (dpkg), or 0 or 1 (rpm).
set -e
[ -d /run/systemd/system ] || exit 0
case "$1" in
remove | 0)
	systemctl stop chairside.service
	systemctl disable chairside.service
	;;
esac
