#!/bin/sh
# Notes for postinstall.sh whether the service is new on this machine. After a removal and a new
# installation, dpkg gives postinstall.sh the same arguments as after an upgrade.
# Arguments: "install" or "upgrade" (dpkg), or 1 or 2 (rpm).
set -e
[ -d /run/systemd/system ] || exit 0
case "$1" in
install | 1) touch /run/chairside.installed ;;
*) rm -f /run/chairside.installed ;;
esac
