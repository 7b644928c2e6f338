#!/bin/sh
# Forgets the service. The data in /var/lib/chairside stay, also after a purge: the law may
# require them.
set -e
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
