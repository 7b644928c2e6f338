#!/bin/sh
# Starts the service after an installation, and restarts a running one after an upgrade, which also
# leaves a disabled service disabled.
set -e
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
if [ -e /run/chairside.installed ]; then
	rm /run/chairside.installed
	systemctl enable chairside.service
	systemctl start chairside.service
else
	systemctl try-restart chairside.service
fi
