#!/bin/bash
# Makes every case of this folder anew: records it with the perf of this machine in /srv/app, and derives `expected` from
# what `perf script` says about the same file.  Needs root, gcc, node, python3.  See how.txt.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
app=/srv/app
mkdir -p $app && cd $app
cp "$here"/{spin.c,app.js} .
flags="-g0 -fno-inline -static -nostdlib -Wl,--build-id -Wl,--eh-frame-hdr -Wl,-z,noseparate-code"
gcc -O1 -fno-omit-frame-pointer $flags -o spin spin.c
gcc -O2 -fomit-frame-pointer -fasynchronous-unwind-tables $flags -o spin-nofp spin.c
strip --strip-debug spin spin-nofp

fields=comm,pid,tid,time,period,event,ip,sym,dso
# case NAME 'record command that writes perf.data' [fields of perf script]
case_of() {
  echo "== $1"
  rm -f perf.data*
  bash -c "$2" >record.log 2>&1 || true
  rm -rf "$here/$1"
  mkdir -p "$here/$1"
  install -m 644 perf.data "$here/$1/input"
  perf script --no-inline -i perf.data -F ${3:-$fields} 2>/dev/null | python3 "$here/expected.py" >"$here/$1/expected"
  printf '%s\n' "$2" >"$here/$1/command"
}
case_of fp 'perf record -F 499 -g -o perf.data ./spin'
case_of no-callchain 'perf record -F 499 -o perf.data ./spin'
case_of dwarf 'perf record -F 199 --call-graph dwarf,1024 -o perf.data ./spin-nofp'
case_of pipe 'perf record -F 499 -g -o - ./spin > perf.data'
case_of zstd 'perf record -z -F 999 -g -o perf.data ./spin'
case_of zstd-pipe 'perf record -z -F 999 -g -o - ./spin > perf.data'
case_of group 'perf record -e "{cpu-clock,page-faults}:S" -c 2000000 -g -o perf.data ./spin'
case_of two-events 'perf record -e cpu-clock:u -e page-faults -F 299 -g -o perf.data ./spin'
case_of tracepoint 'perf record -e cpu-clock -e sched:sched_process_exit -F 199 -g -o perf.data ./spin'
case_of every-field 'perf record -e cpu-clock -F 299 -g -d --phys-data --data-page-size --code-page-size --all-cgroups --namespaces --sample-cpu --switch-events --sample-identifier --user-regs=ip,sp --intr-regs=ip,sp -T -o perf.data ./spin'
case_of no-time 'perf record --no-timestamp --no-inherit -F 499 -g -o perf.data ./spin' comm,pid,tid,period,event,ip,sym,dso
case_of buildid-mmap 'perf record --buildid-mmap -F 299 -g -o perf.data ./spin'
case_of killed 'perf record -m 1 -F 999 -g -o perf.data sh -c "./spin; ./spin; ./spin; ./spin; ./spin; ./spin" & until [ $(stat -c %s perf.data) -gt 4000 ]; do sleep 0.01; done; kill -9 $!; wait; sleep 1'
# perf script refuses such a file, so it gets one whose header has the size.
python3 "$here/trim.py" killed "$here/killed"
perf script --no-inline -i perf.whole -F $fields | python3 "$here/expected.py" >"$here/killed/expected"
case_of javascript 'perf record -F 99 -g -o perf.data node --always-sparkplug --perf-basic-prof app.js'
python3 "$here/trim.py" map "$here/javascript"
case_of jitdump 'perf record -k mono -F 99 -g -o perf.data node --always-sparkplug --perf-prof app.js'
cp perf.data perf.mono.data
python3 "$here/trim.py" dump "$here/jitdump"
case_of injected 'perf inject --jit -i perf.mono.data -o perf.data'
python3 "$here/trim.py" images "$here/injected"
# Without perf inject there are no images, but the same names; V8's own code is in the binary of node, which is not kept.
sed -E 's#^\t(JS|RegExp)(.*) \(/srv/app/jitted-([0-9]+)-[0-9]+.so\)#\t\1\2 (/srv/app/jit-\3.dump)#; s#^\t.*jitted-.*#\t[unknown] (/usr/bin/node)#' \
  "$here/injected/expected" >"$here/jitdump/expected"
rm -rf "$here/files"
mkdir -p "$here/files/srv/app" "$here/files/proc/sys/kernel" "$here/files/sys/kernel"
cp spin spin-nofp "$here/files/srv/app/"
cp /proc/sys/kernel/osrelease "$here/files/proc/sys/kernel/"
cp /sys/kernel/notes "$here/files/sys/kernel/"
python3 "$here/trim.py" kallsyms "$here"
