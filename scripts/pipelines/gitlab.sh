#!/usr/bin/env bash
# The jobs check and diff of .gitlab-ci.yml in the fleet's repositories (repos/): brings the packages and kustomize, and calls fleet.sh.
set -euo pipefail
# GitLab gives it to every job; only the one that writes the note needs it.
unset FLEET_NOTE_TOKEN
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tools=$(mktemp --directory)

# The version with kustomize-controller's kustomize API, by the checksums.txt of its release.
kustomize=5.8.1
case $(uname --machine) in
  x86_64) archive=linux_amd64.tar.gz sum=029a7f0f4e1932c52a0476cf02a0fd855c0bb85694b82c338fc648dcb53a819d ;;
  aarch64) archive=linux_arm64.tar.gz sum=0953ea3e476f66d6ddfcd911d750f5167b9365aa9491b2326398e289fef2c142 ;;
  *)
    echo "error: there is no checksum of kustomize for $(uname --machine): take a runner on x86_64 or aarch64."
    exit 2
    ;;
esac
curl --fail --silent --show-error --location --retry 3 --output "$tools/kustomize.tar.gz" \
  "https://github.com/kubernetes-sigs/kustomize/releases/download/kustomize%2Fv$kustomize/kustomize_v${kustomize}_$archive"
echo "$sum  $tools/kustomize.tar.gz" | sha256sum --check --quiet
tar --extract --gzip --file "$tools/kustomize.tar.gz" --directory "$tools" kustomize
export FLEET_KUSTOMIZE=$tools/kustomize

npm ci --prefix "$project" --no-audit --no-fund

# Of the target branch as it is now; in a pipeline for merged results, whose HEAD has it, that is its tip.
git fetch --quiet "$CI_SERVER_URL/$CI_MERGE_REQUEST_PROJECT_PATH.git" "$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"
BASE=$(git merge-base FETCH_HEAD HEAD)
# The job token of a fork reaches the fork only.
CREDENTIAL=false
if [ "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID" = "$CI_MERGE_REQUEST_PROJECT_ID" ]; then CREDENTIAL=true; fi
export BASE CREDENTIAL OWN=$CI_MERGE_REQUEST_PROJECT_PATH SERVER=$CI_SERVER_URL REPORT=$CI_PROJECT_DIR/comment.md
exec bash "$project/scripts/pipelines/fleet.sh" "$1"
