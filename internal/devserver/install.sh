# Installs the packages named as arguments (the newest fitting PostgreSQL is
# found by the caller), without leaving a system server running because of us.
# Runs as root.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt="apt-get -o DPkg::Lock::Timeout=300 install -y -q --no-install-recommends"
policy=/usr/sbin/policy-rc.d
cluster=/etc/postgresql-common/createcluster.conf
kept=

undo() {
	if [ "${made_policy:-}" ]; then rm -f "$policy"; fi
	if [ "$kept" ] && [ -e "$kept" ]; then cat "$kept" >"$cluster"; rm -f "$kept"; fi
}
trap undo EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# 101 forbids every start of a service while packages configure themselves.
if [ ! -e "$policy" ]; then
	made_policy=yes
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
fi

# No system cluster either, unless this machine already has PostgreSQL.
if ! ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1; then
	$apt postgresql-common
	if [ -e "$cluster" ] && ! grep -q '^create_main_cluster' "$cluster"; then
		kept=$(mktemp)
		cat "$cluster" >"$kept"
		echo 'create_main_cluster = false' >>"$cluster"
	fi
fi
$apt "$@"
