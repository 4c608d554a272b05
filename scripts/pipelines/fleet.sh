#!/usr/bin/env bash
# fleet check or fleet diff for a change of one of the fleet's repositories, called in a checkout of it: lays the repositories side by
# side first. .github/actions/fleet and gitlab.sh call it, after npm ci, with the variables
#   REPOSITORIES  the fleet's repositories, each as folder=path-at-the-host, separated by spaces
#   OWN           path of this repository at the host
#   SERVER        URL of the host
#   CREDENTIAL    true: git has a credential for the others, so each of them must be readable
#   CRDS          for check: definitions of kinds, if there are any
#   BASE          for diff: the commit to compare with
#   REPORT        for diff: the file to write the comment to, an absolute path
# Exit code 0: clean, or nothing could be looked at, which is said; 1: findings, or a change that will be refused; 2: it could not run.
set -euo pipefail
command=$1
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
guide=docs/guides/checks.md#pull-requests-of-repositories
fleet=$(mktemp --directory)

# An annotation at GitHub, a line elsewhere.
say() {
  if [ "${GITHUB_ACTIONS:-}" = true ]; then echo "::$1::$2"; else echo "$1: $2"; fi
}

folder=${OWN##*/}
for each in $REPOSITORIES; do
  if [ "${each#*=}" = "$OWN" ]; then folder=${each%%=*}; fi
done
cp --archive . "$fleet/$folder"

for each in $REPOSITORIES; do
  name=${each%%=*}
  path=${each#*=}
  if [ "$name" = "$folder" ]; then continue; fi
  if problem=$(GIT_TERMINAL_PROMPT=0 git clone --quiet --depth 1 "$SERVER/$path.git" "$fleet/$name" 2>&1); then continue; fi
  if [ "${CREDENTIAL:-}" = true ]; then
    say error "$path can't be read: ${problem%%$'\n'*}. Give the job's credential access to it, or take it out of the list of repositories ($guide)."
    exit 2
  fi
  say notice "$path can't be read without a credential, so what comes from it was not looked at ($guide)."
done
# fleet needs none of it.
unset TOKEN GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0
if [ ! -d "$fleet/gitops-system" ]; then
  say warning "Nothing was looked at: fleet $command needs gitops-system, and the job has no credential for it ($guide)."
  exit 0
fi

cd "$fleet/$folder"
case $command in
  check)
    flags=(--repos ..)
    if [ -n "${CRDS:-}" ]; then flags+=(--crds "$CRDS"); fi
    if [ "${GITHUB_ACTIONS:-}" = true ]; then flags+=(--format github); fi
    node "$project/scripts/fleet.mjs" check "${flags[@]}"
    ;;
  diff)
    code=0
    node "$project/scripts/fleet.mjs" diff "$BASE" HEAD --repos .. --fail-on-refused > "$REPORT" || code=$?
    # 1 with a comment: the API server will refuse something.
    if [ "$code" -gt 1 ] || [ ! -s "$REPORT" ]; then
      rm --force "$REPORT"
      say error "fleet diff could not run (exit code $code): see above."
      exit 2
    fi
    exit "$code"
    ;;
  *)
    say error "fleet.sh got the command \"$command\"; it takes check and diff."
    exit 2
    ;;
esac
