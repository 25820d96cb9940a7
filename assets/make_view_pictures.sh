#!/usr/bin/env bash
# The pictures of the viewer in README.md and docs/VIEWER.md, of the bundled clip, without a display.
#   assets/make_view_pictures.sh [PROGRAM]     default: build/ci/app/saccade
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
saccade=${1:-build/ci/app/saccade}
images=docs/images
dump=$(mktemp -d)
trap 'rm -rf "$dump"' EXIT

shoot() {  # NAME SECONDS INPUT OPTIONS...
  "$saccade" view "$3" --offscreen --screenshot "$2=$dump/$1.png" "${@:4}"
  ffmpeg -v error -y -i "$dump/$1.png" -vf "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none" "$images/$1.png"  # a third of the bytes
}
shoot view-overlay 6 assets/desktop.mp4 --lattice adaptive --show panel,outlines --threshold 4
shoot view-held 0.2 assets/desktop.mp4 --lattice adaptive --view held --show none --size 960x540
shoot view-error 0.2 assets/desktop.mp4 --lattice adaptive --view error --show none --size 960x540
shoot view-foveated 6 assets/desktop.mp4 --lattice nested --view foveated --show marks --size 960x540
shoot view-lod 6 assets/desktop.mp4 --lattice nested --view lod --show marks --size 960x540
shoot view-compare 6 assets/desktop.mp4 --lattice nested --view compare:uniform --show marks --size 1500x304
shoot view-boxes 1.2 assets/desktop.mp4 --views qwen2.5-vl:1200:new-only --threshold 8 --show none --size 960x540
"$saccade" dump assets/desktop.mp4 -o "$dump/desktop" --lattice nested --progress none --log-level error
shoot view-dump 6 "$dump/desktop" --show panel,marks,scanpath,outlines
