#!/usr/bin/env python3
"""Drives the program as a user does: real files in, exit codes, standard output and standard error out.

  command_line_test.py PROGRAM SOURCE_DIR
"""
import gzip
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

PROGRAM = os.path.abspath(sys.argv[1])
SOURCE = pathlib.Path(sys.argv[2]).resolve()

FOLDED = "node;main;parse;read 30\nnode;main;parse 20\nnode;main;render 50\n"
PERF_SCRIPT = """node  4711/4712  [001]  100.000000:   10101010 cpu-clock:pppH:
\t     7f0000001000 JS:*fib /app/x.js:3:9+0x12 (/tmp/perf-4711.map)
\t           401000 node::Start(int, char**)+0x10 (/usr/bin/node)

node  4711/4712  [001]  101.500000:   10101010 cpu-clock:pppH:
\tffffffff81000000 do_syscall_64+0x1 ([kernel.kallsyms])
\t     7f0000002000 RegExp:^\\/api\\/(\\w+)+0x8 (/tmp/perf-4711.map)
\t           401000 node::Start(int, char**)+0x10 (/usr/bin/node)

"""
INLINED_C = """#define INLINED static inline __attribute__((always_inline))
INLINED int innermost(volatile int *x) { return *x * *x + 3; }
INLINED int inner(volatile int *x) { return innermost(x) * 5; }
int main(int argc, char **argv) { volatile int n = argc; return inner(&n) + (argv == 0); }
"""


def run(*arguments, stdin=b"", cwd=None, check=True):
    done = subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, capture_output=True, cwd=cwd, timeout=120)
    if check and done.returncode != 0:
        raise AssertionError(f"{arguments} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done


def text(*arguments, **options):
    return run(*arguments, **options).stdout.decode()


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def put(self, name, content):
        file = self.path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file


class Help(CommandLineTest):
    def test_every_command_has_help_with_an_example_and_fits_a_terminal(self):
        overview = text("--help")
        commands = re.findall(r"^  ([a-z]+) ", overview, re.M)
        self.assertIn("flame", commands)
        self.assertGreaterEqual(len(commands), 8)
        for command in commands:
            shown = text(command, "--help")
            self.assertTrue(shown.startswith(f"Usage: nodescope {command}"), shown)
            self.assertLessEqual(max(map(len, shown.splitlines())), 130, command)

    def test_version(self):
        self.assertRegex(text("--version"), r"^nodescope \d+\.\d+\.\d+\n$")

    def test_wrong_usage_is_exit_code_2_and_says_why(self):
        for arguments in (["no-such-command"], [], ["flame", "--no-such-option"], ["report", "--by", "nothing", "-"],
                          ["report", "--from", "soon", "-"], ["report", "--top", "-1", "-"], ["diff", "one"]):
            done = run(*arguments, stdin=FOLDED.encode(), check=False)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertTrue(done.stderr, arguments)

    def test_an_unknown_command_is_named_with_the_nearest_one(self):
        done = run("reprot", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.decode(), "nodescope: there is no command \"reprot\"; did you mean 'report'?\n")
        self.assertIn("'nodescope help' lists them", run("xyzzy", check=False).stderr.decode())

    def test_help_is_a_command_too(self):
        self.assertEqual(text("help"), text("--help"))
        self.assertEqual(text("help", "record"), text("record", "--help"))
        self.assertEqual(run(check=False).stderr.decode(), text("--help"))
        self.assertEqual(run("help", "reprot", check=False).returncode, 2)

    def test_a_number_that_is_none(self):
        for value, problem in (("abc", "abc is not a number"), ("1x", "1x is not a number"), ("0", "0 is not between 0.1 and ")):
            done = run("record", "-d", value, "1", check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"--duration: {problem}", done.stderr.decode())

    def test_man_page_has_no_roff_errors(self):
        page = self.put("nodescope.1", text("man"))
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "error", page], capture_output=True, text=True)
        self.assertEqual(lint.stdout + lint.stderr, "")
        self.assertIn("nodescope flame", subprocess.run(["mandoc", page], capture_output=True, text=True).stdout)

    def test_completion_completes(self):
        script = self.put("completion", text("completion", "bash"))
        probe = f"source {script}; COMP_WORDS=(nodescope fl); COMP_CWORD=1; _nodescope; echo ${{COMPREPLY[@]}}"
        self.assertEqual(subprocess.run(["bash", "-c", probe], capture_output=True, text=True).stdout, "flame\n")
        for shell in ("zsh", "fish"):
            self.assertIn("nodescope", text("completion", shell))


class Reading(CommandLineTest):
    def test_standard_input_gzip_and_a_wrong_name_make_no_difference(self):
        plain = text("report", self.put("a.cpuprofile", FOLDED))
        self.assertEqual(text("report", stdin=FOLDED.encode()), plain)
        self.assertEqual(text("report", "-", stdin=FOLDED.encode()), plain)
        self.assertEqual(text("report", self.put("b", gzip.compress(FOLDED.encode()))), plain)

    def test_names_are_whole_in_every_command_but_collapse(self):
        profile = self.put("perf.script", PERF_SCRIPT)
        names = {row["name"] for row in json.loads(text("report", profile, "--json"))["rows"]}
        self.assertIn("fib /app/x.js:3:9", names)
        self.assertTrue(any("^\\/api\\/(\\w+)" in name for name in names), names)
        self.assertIn("node::Start(int, char**)", names)
        self.assertIn("node;node::Start;RegExp:^\\/api\\/;do_syscall_64 10101010\n", text("collapse", profile))

    def test_collapse_has_the_script_s_options_for_every_input(self):
        profile = self.path / "a.nscope"
        run("convert", self.put("perf.script", PERF_SCRIPT), "-o", profile)
        start = "node::Start(int, char**)"
        api = "RegExp:^\\/api\\/(\\w+)"

        def lines(*options):
            return [line.rsplit(" ", 1)[0] for line in text("collapse", profile, *options).splitlines()]

        self.assertEqual(lines(), [f"node;{start};JS:*fib /app/x.js:3:9", f"node;{start};{api};do_syscall_64"])
        self.assertEqual(lines("--pid", "--kernel"),
                         [f"node-4711;{start};JS:*fib /app/x.js:3:9", f"node-4711;{start};{api};do_syscall_64_[k]"])
        self.assertEqual(lines("--tid", "--jit"),
                         [f"node-4711/4712;{start};JS:*fib /app/x.js:3:9_[j]", f"node-4711/4712;{start};{api}_[j];do_syscall_64"])
        self.assertEqual(lines("--all")[1], f"node;{start};{api}_[j];do_syscall_64_[k]")
        for option in ("--inline", "--context", "--srcline"):
            done = run("collapse", profile, option, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("perf script text", done.stderr.decode())

    def test_collapse_shows_inlined_functions(self):
        """What addr2line knows about the code: "innermost" is part of "main" there.  The second address means nothing to
        addr2line, so that nm and the offset in the function lead to it."""
        for tool in ("cc", "addr2line", "nm"):
            if shutil.which(tool) is None:
                self.skipTest(f"there is no {tool} here")
        self.put("x.c", INLINED_C)
        program = self.path / "x"
        subprocess.run(["cc", "-g", "-O1", "-o", program, self.path / "x.c"], check=True, timeout=60)
        symbols = subprocess.run(["nm", program], check=True, capture_output=True, text=True, timeout=60).stdout
        main = int(re.search(r"^([0-9a-f]+) T main$", symbols, re.MULTILINE).group(1), 16)
        offset = next(i for i in range(64) if self.functions_at(program, main + i)[0] == "innermost")
        script = self.put("perf.script", f"prog 1/1 1.0: 5 cycles:\n\t{main + offset:x} main+{offset:#x} ({program})\n\n"
                                         f"prog 1/1 2.0: 7 cycles:\n\tffff00000000 main+{offset:#x} ({program})\n\n"
                                         f"prog 1/1 3.0: 9 cycles:\n\tffff00000008 other+0x1 ({program})\n\n")
        self.assertEqual(text("collapse", script), "prog;main 12\nprog;other 9\n")
        self.assertEqual(text("collapse", "--inline", script), "prog;main;inner;innermost 12\nprog;other 9\n")
        self.assertEqual(text("collapse", "--inline", "--context", script),
                         "prog;main:x.c:4;inner:x.c:3;innermost:x.c:2 12\nprog;other 9\n")

    def functions_at(self, program, address):
        done = subprocess.run(["addr2line", "-i", "-f", "-s", "-e", program, hex(address)], check=True, capture_output=True, text=True)
        return done.stdout.splitlines()[::2]

    def test_collapse_tells_which_events_it_left_out(self):
        events = PERF_SCRIPT + PERF_SCRIPT.replace("cpu-clock:pppH", "page-faults").replace("10101010", "7")
        recording = self.path / "a.nscope"
        run("convert", self.put("perf.script", events), "-o", recording)
        for profile in (self.path / "perf.script", recording):
            done = run("collapse", profile)
            self.assertIn("other events are left out", done.stderr.decode())
            self.assertIn("page-faults", done.stderr.decode())
            self.assertEqual({line.rsplit(b" ", 1)[1] for line in done.stdout.splitlines()}, {b"10101010"})
            done = run("collapse", profile, "--event-filter=page-faults")
            self.assertEqual(done.stderr, b"")
            self.assertEqual({line.rsplit(b" ", 1)[1] for line in done.stdout.splitlines()}, {b"7"})

    def test_several_files_are_one_profile(self):
        profile = self.put("a", FOLDED)
        self.assertEqual(json.loads(text("report", profile, profile, "--json"))["total"], 200)

    def test_counts_beyond_all_bounds_are_told(self):
        huge = "".join(f"a;{name} 9223372036854775807\n" for name in "bcd").encode()
        done = run("report", "--json", stdin=huge)
        report = json.loads(done.stdout)
        self.assertEqual({row["name"] for row in report["rows"]}, {"a", "b", "c", "d"})
        self.assertIn("2^62", report["diagnostics"][0]["what"])
        self.assertIn("nodescope: standard input: counts that add up to more than 2^62", done.stderr.decode())
        self.assertIn("nodescope: standard input: counts", run("flame", stdin=huge).stderr.decode())
        # Lines that could be an address and a symbol, too.
        info = json.loads(text("info", "--json", "-", stdin=b"a 18446744073709551615\na 5\n"))
        self.assertEqual(info["facts"]["format"], "folded")

    def test_rows_that_are_no_functions_have_no_kind(self):
        for by in ("package", "file", "module", "thread", "process"):
            self.assertNotIn("kind", text("report", "--by", by, stdin=FOLDED.encode()).split("\n\n")[1], by)
        self.assertIn("kind     function", text("report", stdin=FOLDED.encode()))

    def test_what_is_no_profile_is_named(self):
        for content, expected in ((b"", "empty"), (b"\x7fELF\x02\x01\x01", "ELF"), (b"\x89PNG\r\n", "PNG"), (bytes(range(256)) * 8, "nodescope knows")):
            done = run("info", self.put("x", content), check=False)
            self.assertEqual(done.returncode, 1, content[:8])
            self.assertIn(expected, done.stderr.decode())
        done = run("info", self.path / "missing", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No such file", done.stderr.decode())

    def test_messages_cannot_steer_the_terminal(self):
        done = run("info", self.put("x\x1b[31m", b"no profile \x1b]0;title\x07"), check=False)
        self.assertNotIn(b"\x1b", done.stderr)


class Filters(CommandLineTest):
    def report(self, *arguments):
        return json.loads(text("report", self.put("perf.script", PERF_SCRIPT), "--json", *arguments))

    def test_causes_are_the_headline(self):
        """What the collector calls is the collector's; a kernel below a regular expression is the regular expression's."""
        script = PERF_SCRIPT + """node  4711/4712  [001]  102.000000:   20202020 cpu-clock:pppH:
\tffffffff81000000 clear_page_erms+0x1 ([kernel.kallsyms])
\t           402000 v8::internal::Heap::CollectGarbage(v8::internal::AllocationSpace)+0x10 (/usr/bin/node)

"""
        path = self.put("causes", script)
        self.assertEqual(text("report", path).splitlines()[2], "by cause: gc 50.0 %, js 25.0 %, regexp 25.0 %")
        causes = json.loads(text("report", path, "--json"))["causes"]
        self.assertEqual({cause: sum for cause, sum in causes.items() if sum}, {"js": 10101010, "regexp": 10101010, "gc": 20202020})

    def test_the_verdict_comes_first(self):
        path = self.put("busy", PERF_SCRIPT)
        verdict = json.loads(text("report", path, "--json"))["verdict"]
        self.assertEqual(verdict, "Worker 4712 was idle 99 % of 1.5 s (20 ms on a CPU): 50 % JavaScript, 50 % in fib x.js:3.")
        self.assertEqual(text("report", path).splitlines()[0], verdict)
        self.assertNotIn("verdict", json.loads(text("report", path, "--kind", "js", "--json")))
        row = next(row for row in json.loads(text("report", path, "--json"))["rows"] if row["kind"] == "js")
        self.assertEqual((row["function"], row["file"], row["line"], row["column"]), ("fib", "/app/x.js", 3, 9))

    def test_samples_add_up(self):
        for arguments in ([], ["--until", "1s"], ["--kind", "kernel"], ["--match", "fib"], ["--process", "99"]):
            samples = self.report(*arguments)["samples"]
            self.assertEqual(samples["taken"], 2, arguments)
            self.assertEqual(samples["taken"], samples["shown"] + samples["filtered"] + samples["lost"], arguments)

    def test_each_filter_keeps_what_it_names(self):
        for arguments, expected in ((["--until", "1s"], 1), (["--from", "1s"], 1), (["--from", "200ms", "--until", "1.6s"], 1),
                                    (["--process", "4711"], 2), (["--process", "node"], 2), (["--thread", "4712"], 2),
                                    (["--thread", "1"], 0), (["--kind", "js"], 1), (["--kind", "js", "--kind", "kernel"], 2),
                                    (["--match", "FIB", "--ignore-case"], 1), (["--exclude", "fib"], 1)):
            self.assertEqual(self.report(*arguments)["samples"]["shown"], expected, arguments)

    def test_a_filter_does_not_swallow_the_file(self):
        profile = self.put("a", PERF_SCRIPT)
        for filters in (["--kind", "js"], ["--thread", "node"], ["--process", "node"], ["--match", "fib"], ["--exclude", "nothing"], ["--kind", "js,native"]):
            with self.subTest(filters):
                self.assertEqual(text("report", *filters, profile, "--json"), text("report", profile, *filters, "--json"))
        both = json.loads(text("report", "--kind", "js", "--kind", "native", profile, "--json"))
        self.assertEqual(both["samples"], json.loads(text("report", "--kind", "js,native", profile, "--json"))["samples"])

    def test_filters_that_leave_nothing_say_so(self):
        script = self.put("perf.script", PERF_SCRIPT)
        for arguments, expected in ((["--process", "nope"], "perf.script: nothing matches --process nope; processes: node (4711)"),
                                    (["--thread", "nope"], "perf.script: nothing matches --thread nope; threads: node (4712)"),
                                    (["--match", "nope"], "perf.script: nothing matches --match nope")):
            for command in ("report", "flame"):
                self.assertEqual(run(command, script, *arguments).stderr.decode().split("\n")[0], f"nodescope: {expected}")
        self.assertEqual(run("report", script, "--match", "fib").stderr, b"")
        many = self.put("many", "".join(PERF_SCRIPT.replace("4711/4712", f"{pid}/{pid}") for pid in range(101, 109)))
        self.assertIn("processes: node (101), node (102), node (103), node (104), node (105) and 3 more\n",
                      run("report", many, "--process", "nope").stderr.decode())

    def test_times_are_asked_for_only_where_there_are_some(self):
        folded = self.put("a.folded", FOLDED)
        for arguments in (["report", "--from", "0s"], ["report", "--until", "1s"], ["flame", "--from", "1s"], ["report", "--stalls", "--from", "1s"]):
            done = run(*arguments, folded, check=False)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(done.stderr.decode(), "nodescope: a.folded: its samples have no times, so --from and --until select nothing\n")
        self.assertEqual(text("report", "--stalls", folded), "No stall can be told: the samples of a.folded have no times.\n")

    def test_weights_are_time_and_samples_when_asked(self):
        self.assertEqual(self.report()["total"], 20202020)
        self.assertEqual(self.report("--samples")["total"], 2)


class Stalls(CommandLineTest):
    def sample(self, ms, functions):
        frames = "".join(f"\t     7f0000001000 {name}+0x1 (/tmp/perf-4711.map)\n" for name in reversed(functions))
        return f"node  4711/4711  [001]  {100 + ms / 1000:.6f}:   1000000 cpu-clock:pppH:\n{frames}\n"

    def script(self):
        """A handler each 40 ms, and from 1 s to 1.2 s a function that does not return."""
        loop = ["main", "uv_run", "uv__io_poll"]
        samples = []
        for ms in range(2000):
            if 1000 <= ms < 1200:
                samples.append(self.sample(ms, ["main", "uv_run", "uv__run_timers", "JS:*aggregate /app/x.js:3:9", "JS:*sum /app/x.js:9:1"]))
            elif ms % 40 < 2:
                samples.append(self.sample(ms, loop if ms % 2 else [*loop, "JS:*handle /app/y.js:1:1"]))
        return self.put("perf.script", "".join(samples))

    def test_are_listed_with_the_function_that_held_the_thread(self):
        listed = json.loads(text("report", self.script(), "--stalls", "--json"))
        self.assertEqual([(stall["name"], stall["place"], stall["from_ns"], stall["to_ns"], stall["estimated"], stall["pid"])
                          for stall in listed["stalls"]], [("sum", "/app/x.js:9:1", 10**9, 12 * 10**8, True, 4711)])
        self.assertRegex(listed["sentence"], r"^No stall is proven \(loop busy 1\d %\): sum may have blocked node 4711 for up to 200 ms\.$")
        self.assertEqual((listed["measured"], listed["stalls"][0]["wall"]), (False, None))
        printed = text("report", self.script(), "--stalls")
        self.assertIn("00:01.000    200.0 ms  node 4711        sum /app/x.js:9:1", printed)
        self.assertIn("estimated from samples", printed)

    def test_are_as_long_as_asked_and_where_asked(self):
        self.assertRegex(text("report", self.script(), "--stalls", "--at-least", "1s"),
                         r"^No stall of 1\.00 s or more could be proven \(loop busy 1\d %\)\.\nLongest estimate: 200\.0 ms at 00:01\.000, sum")
        self.assertIn("No stall", text("report", self.script(), "--stalls", "--until", "900ms"))
        self.assertEqual(run("report", self.script(), "--stalls", "--at-least", "soon", check=False).returncode, 2)


class Writing(CommandLineTest):
    def test_every_writer_gives_a_file_that_reads_back(self):
        profile = self.put("perf.script", PERF_SCRIPT)
        expected = {row["name"]: row["self"] for row in json.loads(text("report", profile, "--json"))["rows"]}
        for name in ("x.folded", "x.cpuprofile", "x.pb.gz", "x.speedscope.json", "x.nscope"):
            output = self.path / name
            run("convert", profile, "-o", output)
            rows = {row["name"]: row["self"] for row in json.loads(text("report", output, "--json"))["rows"]}
            for function, weight in expected.items():
                self.assertEqual(rows.get(function), weight, (name, function, rows))

    def test_threads_that_have_to_share_a_time_line_are_told(self):
        profile = self.put("perf.script", PERF_SCRIPT + PERF_SCRIPT.replace("4711/4712", "4711/4799"))
        said = run("convert", profile, "-o", self.path / "x.cpuprofile").stderr.decode()
        self.assertIn("x.cpuprofile: a .cpuprofile has one time line: the samples of 2 threads come one after the other", said)
        self.assertEqual(run("convert", profile, "--thread", "4712", "-o", self.path / "x.cpuprofile").stderr, b"")
        self.assertEqual(run("convert", profile, "-o", self.path / "x.speedscope.json").stderr, b"")

    def test_svg_is_well_formed_and_names_are_text(self):
        hostile = 'a;<script>alert(1)</script>;"></svg> 3\nb;\u202eevil;\x01\x02 2\n'
        for arguments in (["flame"], ["flame", "--color=js", "--hash"], ["flame", "--reverse", "--inverted"],
                          ["convert", "--to", "svg"]):
            svg = run(*arguments, self.put("x", hostile)).stdout
            root = xml.etree.ElementTree.fromstring(svg)
            self.assertTrue(root.tag.endswith("svg"))
            self.assertNotIn(b"<script>alert", svg)

    def test_marks_of_folded_text_colour_boxes_as_in_flamegraph_pl(self):
        """Colours are those of FlameGraph's flamegraph.pl (commit 41fee1f of 2024) for the same lines and options."""
        folded = self.put("marks", "java;start_thread;JavaCalls::call_[i];io/Netty::go_[i] 40\n"
                          "node;plainjit_[j];/app/a.js:3_[j] 30\nnode;plainjit_[j];org/x::y_[j] 20\n"
                          "node;do_syscall_64_[k];rust::kernel_[k] 10\n")
        expected = {
            ("--colors=java",): {"JavaCalls::call": (81, 193, 193), "io/Netty::go": (62, 176, 176), "plainjit": (76, 224, 76),
                                 "/app/a.js:3": (92, 238, 92), "org/x::y": (101, 247, 101), "do_syscall_64": (204, 104, 0),
                                 "rust::kernel": (219, 219, 66), "start_thread": (208, 62, 62)},
            ("--colors=js",): {"JavaCalls::call": (203, 203, 60), "io/Netty::go": (186, 186, 54), "plainjit": (76, 189, 189),
                               "/app/a.js:3": (92, 238, 92), "org/x::y": (101, 247, 101), "do_syscall_64": (204, 104, 0)},
            ("--colors=java", "--hash"): {"JavaCalls::call": (81, 193, 193), "io/Netty::go": (89, 200, 200),
                                          "plainjit": (93, 239, 93), "do_syscall_64": (243, 143, 0)},
            ("--colors=js", "--hash"): {"plainjit": (93, 204, 204), "org/x::y": (96, 242, 96)},
            ("--colors=hot", "--hash"): {"JavaCalls::call": (238, 120, 36), "plainjit": (237, 165, 35), "do_syscall_64": (236, 189, 34)},
            ("--colors=mem", "--hash"): {"JavaCalls::call": (0, 223, 109), "plainjit": (0, 222, 150), "do_syscall_64": (0, 221, 173)},
            ("--colors=io",): {"JavaCalls::call": (111, 111, 218), "plainjit": (106, 106, 214), "do_syscall_64": (93, 93, 202)},
        }
        for options, colours in expected.items():
            boxes = re.findall(r'fill="#(\w{6})"><title>([^<]*) \(', text("flame", folded, *options))
            shown = {name: tuple(bytes.fromhex(colour)) for colour, name in boxes}
            self.assertEqual({name: shown[name] for name in colours}, colours, options)

    def test_tables_and_json(self):
        profile = self.put("a", FOLDED)
        self.assertIn("render", text("convert", profile, "--to", "table"))
        self.assertTrue(json.loads(text("convert", profile, "--to", "json")))
        self.assertTrue(json.loads(text("convert", profile, "--to", "firefox")))
        self.assertEqual(json.loads(text("info", profile, "--json"))["samples"]["taken"], 3)

    def test_difference(self):
        before, after = self.put("a", "m;x 10\nm;y 10\n"), self.put("b", "m;x 30\nm;z 10\n")
        self.assertEqual(text("diff", before, after, "--format", "folded"), "m;x 10 30\nm;y 10 0\nm;z 0 10\n")
        self.assertEqual(text("diff", before, after, "--format", "folded", "--only-common"), "m;x 10 30\n")
        hex_before, hex_after = self.put("c", "m;0x12ab 1\n"), self.put("d", "m;0x34cd 2\n")
        for option in ("-s", "-x"):
            self.assertEqual(text("diff", hex_before, hex_after, "--format", "folded", option), "m;0x... 1 2\n")
        functions = {f["name"]: f for f in json.loads(text("diff", before, after, "--json"))["functions"]}
        self.assertEqual((functions["x"]["before_self"], functions["x"]["after_self"]), (10, 30))
        svg = self.path / "d.svg"
        run("diff", "-n", before, after, "-o", svg)
        xml.etree.ElementTree.parse(svg)

    def test_a_difference_finds_functions_whose_place_changed(self):
        before = self.put("a", "JS:main /r/41/x.js:1:1;JS:parse /r/41/x.js:10:1 100\nJS:main /r/41/x.js:1:1;JS:send /r/41/x.js:30:1 50\n")
        after = self.put("b", "JS:main /r/42/x.js:3:1;JS:parse /r/42/x.js:12:1 300\nJS:main /r/42/x.js:3:1;JS:send /r/42/x.js:32:1 50\n")
        found = json.loads(text("diff", before, after, "--json"))
        self.assertEqual(found["version"], 1)
        first = found["functions"][0]
        self.assertEqual((first["function"], first["before_self"], first["after_self"]), ("parse", 100, 300))
        self.assertEqual(first["place"], {"file": "/r/42/x.js", "line": 12, "column": 1})
        self.assertEqual(first["place_before"], {"file": "/r/41/x.js", "line": 10, "column": 1})
        self.assertEqual([f["function"] for f in found["functions"] if f["before_self"] != f["after_self"]], ["parse"])
        lines = text("diff", before, after).split("\n")
        self.assertRegex(lines[3], r"^ +\+200 +100 +300 +\+200  parse /r/42/x.js:12:1$")
        self.assertIn("| parse /r/42/x.js:12:1 | +200 | 100 | 300 | +200 |", text("diff", before, after, "--to", "markdown"))
        svg = self.path / "moved.svg"
        run("diff", before, after, "-o", svg)
        self.assertNotIn("/r/41/", svg.read_text())

    def test_a_difference_can_fail(self):
        before, after = self.put("a", "JS:main /x.js:1:1;JS:parse /x.js:10:1 100\nJS:other /x.js:30:1 100\n"), None
        after = self.put("b", "JS:main /x.js:1:1;JS:parse /x.js:10:1 150\nJS:other /x.js:30:1 100\n")
        for rule, code in (("total>20%", 3), ("total>30%", 0), ("parse:self>40%", 3), ("parse:self>60%", 0), ("own:total>49", 3), ("main:total>10pt", 3),
                           ("other:total>0%", 0), ("nothing:total>1%", 2), ("total", 2), ("total>x", 2), ("package:express:total>1%", 2), ("total>5ms", 2)):
            with self.subTest(rule):
                done = run("diff", before, after, "--fail-if", rule, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(code == 3, b"FAIL" in done.stdout)
                self.assertEqual(code == 0, done.stderr == b"")
        done = run("diff", "--fail-if", "total>30%", "--fail-if", "parse:total>1%", "-o", self.path / "d.md", before, after, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("**failed**", (self.path / "d.md").read_text())

    def test_a_difference_has_a_known_format(self):
        done = run("diff", self.put("a", FOLDED), self.put("b", FOLDED), "-o", self.path / "x.pdf", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertFalse((self.path / "x.pdf").exists())

    def test_an_unclear_format_is_asked_for(self):
        done = run("convert", self.put("a", FOLDED), "-o", self.path / "x.unknown", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--to", done.stderr.decode())
        self.assertEqual([p.name for p in self.path.iterdir()], ["a"])

    def test_a_failed_write_leaves_nothing(self):
        done = run("convert", self.put("a", b"no profile at all"), "-o", self.path / "x.folded", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual([p.name for p in self.path.iterdir()], ["a"])

    def test_a_full_disk_is_an_error(self):
        done = subprocess.run([PROGRAM, "flame", "-o", "/dev/full"], input=FOLDED.encode(), capture_output=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"No space left", done.stderr)

    def test_interruption_leaves_no_half_file(self):
        # The reader waits for a pipe that stays open, so the signal always comes in the middle.
        # A shell lets the commands of its background ignore the signal.
        process = subprocess.Popen([PROGRAM, "collapse", "-o", self.path / "x.folded"], stdin=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        process.stdin.write(PERF_SCRIPT.encode())
        process.stdin.flush()
        deadline = time.monotonic() + 30
        while not any(self.path.iterdir()) and time.monotonic() < deadline:
            process.stdin.write(PERF_SCRIPT.encode() * 100)
            process.stdin.flush()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), -signal.SIGINT)
        process.stdin.close()
        self.assertEqual(list(self.path.iterdir()), [])

    def test_a_closed_pipe_is_no_error_message(self):
        done = subprocess.run(f"'{PROGRAM}' convert --to json '{self.put('a', FOLDED * 1000)}' | head -c 1", shell=True,
                              capture_output=True)
        self.assertEqual(done.stderr, b"")


class Terminal(CommandLineTest):
    def on_terminal(self, arguments, feed):
        """Standard error is a terminal; `feed` writes to standard input.  Gives what the terminal got."""
        leader, follower = pty.openpty()
        process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=follower)
        os.close(follower)
        shown = b""
        try:
            feed(process.stdin)
            process.stdin.close()
            while select.select([leader], [], [], 30)[0]:
                part = os.read(leader, 65536)
                if not part:
                    break
                shown += part
        except OSError:
            pass  # the other side is closed
        finally:
            os.close(leader)
        self.assertEqual(process.wait(30), 0)
        return shown

    def test_a_long_read_shows_progress_on_a_terminal_and_leaves_nothing(self):
        def slowly(pipe):
            for _ in range(12):
                pipe.write(FOLDED.encode() * 5000)
                pipe.flush()
                time.sleep(0.1)

        shown = self.on_terminal(["report"], slowly)
        self.assertIn(b"reading standard input", shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown[-40:])

    def test_a_pipe_gets_no_progress(self):
        self.assertEqual(run("report", stdin=FOLDED.encode()).stderr, b"")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
