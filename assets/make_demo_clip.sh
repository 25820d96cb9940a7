#!/usr/bin/env bash
# Makes the demo clip from nothing but ffmpeg's own sources: 14 s of 1280x720 at 25 frames/s, under 1 MB.
#    0 ..  6 s  a still, textured background; a disc circles, a small clock-like pattern bounces, a slab slides
#    6 ..  9 s  the same scene fades slowly to dark and returns
#    9 .. 12 s  a pan over a larger picture
#   12 .. 14 s  a cut to another scene, with two discs in motion
# Usage: assets/make_demo_clip.sh [OUTPUT.mp4]. One encoder thread, so that the same ffmpeg makes the same bytes.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
output=${1:-$here/demo.mp4}

disc() {  # COLOUR DIAMETER_PX LABEL: a shaded disc with a soft rim
  local radius=$(($2 / 2))
  echo "color=c=$1:s=$2x$2:r=25,format=rgba,trim=end_frame=1,geq=\
r='r(X,Y)*(1.15-hypot(X-$radius*0.7,Y-$radius*0.7)/$2)':g='g(X,Y)*(1.15-hypot(X-$radius*0.7,Y-$radius*0.7)/$2)':\
b='b(X,Y)*(1.15-hypot(X-$radius*0.7,Y-$radius*0.7)/$2)':a='255*clip($radius-hypot(X-$radius,Y-$radius),0,1)',\
loop=loop=-1:size=1,setpts=N/25/TB[$3]"
}

still() {  # SIZE START_X START_Y SCALE LABEL: one frame of the Mandelbrot set with grain, held
  echo "mandelbrot=size=$1:rate=25:maxiter=250:start_x=$2:start_y=$3:start_scale=$4:end_scale=$4:end_pts=1000,\
trim=end_frame=1,format=yuv420p,noise=c0s=5:c0f=p,eq=saturation=0.7:brightness=0.04,loop=loop=-1:size=1,setpts=N/25/TB[$5]"
}

graph="
$(still 1280x720 -0.7436438 0.1318259 0.03 background);
$(disc 0xe06030 112 disc_a);
testsrc2=s=128x96:r=25[pattern];
color=c=0x30b0a0:s=40x200:r=25[slab];
[background][slab]overlay=x='60+70*t':y='260+60*sin(1.3*t)':shortest=0[s1];
[s1][pattern]overlay=x='abs(mod(190*t,2304)-1152)':y='abs(mod(120*t+90,1248)-624)'[s2];
[s2][disc_a]overlay=x='720+330*cos(1.1*t)':y='300+210*sin(1.1*t)',trim=duration=9,
  fade=t=out:st=6:d=1.5:color=0x101010,format=yuv420p[still_then_dark];
[still_then_dark]split[head_in][tail_in];
[head_in]trim=duration=7.2,setpts=PTS-STARTPTS[head];
[tail_in]trim=start=5.4:duration=1.8,setpts=PTS-STARTPTS,reverse[tail];
$(still 2200x720 -0.1592 1.0345 0.05 wide);
[wide]crop=1280:720:x='60+280*t':y=0,trim=duration=3,setpts=PTS-STARTPTS[pan];
$(still 1280x720 0.2868 0.0142 0.02 other);
$(disc 0x4070e0 80 disc_b);
$(disc 0xe0d040 144 disc_c);
[other][disc_b]overlay=x='100+480*t':y='420-260*sin(1.6*t)'[o1];
[o1][disc_c]overlay=x='980-260*t':y='120+170*t',trim=duration=2,setpts=PTS-STARTPTS,format=yuv420p[cut];
[head][tail][pan][cut]concat=n=4:v=1,fps=25,setsar=1,format=yuv420p[out]"

ffmpeg -hide_banner -loglevel error -nostdin -y -filter_complex_threads 1 -filter_complex "$graph" -map '[out]' \
  -c:v libx264 -preset slow -crf 30 -threads 1 -g 350 -pix_fmt yuv420p \
  -colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv \
  -map_metadata -1 -fflags +bitexact -flags:v +bitexact -movflags +faststart -t 14 "$output"
echo "$output: $(stat -c %s "$output") bytes"
