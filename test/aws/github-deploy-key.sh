#!/usr/bin/env bash
# github-deploy-key.sh <URL as clusters read it> <public key>: registers a read-only deploy key at GitHub with gh, in place of what an
# earlier run has left under the same title, which is the key's comment.
set -euo pipefail
url=$1
key=$2
if [[ ! $url =~ ^ssh://git@([^/:]+)(:[0-9]+)?/([^/]+/[^/]+)$ ]]; then
  echo "not the URL ssh://git@<host>/<owner>/<repository>.git of a repository at GitHub: $url" >&2
  exit 2
fi
repository=${BASH_REMATCH[1]}/${BASH_REMATCH[3]%.git}
title="proof on AWS: ${key#ssh-ed25519 * }"
export TITLE=$title
old=$(gh repo deploy-key list --repo "$repository" --json id,title --jq '.[] | select(.title == env.TITLE) | .id')
for id in $old; do gh repo deploy-key delete "$id" --repo "$repository"; done
file=$(mktemp)
trap 'rm -f "$file"' EXIT
echo "$key" > "$file"
gh repo deploy-key add "$file" --repo "$repository" --title "$title"
