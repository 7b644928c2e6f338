#!/bin/sh
# Starts the service after the first installation, and restarts a running one after an upgrade.
# Arguments: "configure" and the version before (dpkg), or 1 or 2 (rpm).
set -e
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
case "$1:$2" in
configure: | 1:) systemctl enable --now chairside.service ;;
*) systemctl try-restart chairside.service ;;
esac
