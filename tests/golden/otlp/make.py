#!/usr/bin/env python3
"""Makes protobuf, json and old from one table of samples with OpenTelemetry's own classes (PyPI: opentelemetry-proto 1.45.2);
old has the layout of Sample before version 1.10, whose fields 2 to 4 were values, attributes and link."""
import pathlib

from google.protobuf import json_format
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.profiles.v1development import profiles_pb2 as otlp

HERE = pathlib.Path(__file__).resolve().parent
START = 1_700_000_000_000_000_000
# Stacks are innermost first: (function, file, executed line, type of frame, inlined into the next).
STACKS = [
    [("busyLoop", "/srv/app.js", 12, "v8js", False), ("handle", "/srv/app.js", 3, "v8js", False)],
    [("busyLoop", "/srv/app.js", 14, "v8js", True), ("handle", "/srv/app.js", 3, "v8js", False)],
    [("do_syscall_64", "", 0, "kernel", False), ("uv__io_poll", "", 0, "native", False)],
]
# Stack, values, thread, times since the start in ms.
SAMPLES = [(0, [10_000_000, 20_000_000], 1, [0, 10]), (1, [5_000_000], 1, [30]), (2, [1_000_000], 7, [])]


class Tables:
    def __init__(self):
        self.dictionary = otlp.ProfilesDictionary()
        self.seen = {}
        self.text("")
        for table in (self.dictionary.mapping_table, self.dictionary.location_table, self.dictionary.function_table,
                      self.dictionary.link_table, self.dictionary.attribute_table, self.dictionary.stack_table):
            table.add()

    def text(self, value):
        return self.index("string_table", value, lambda table: table.append(value))

    def index(self, table, key, add):
        rows = getattr(self.dictionary, table)
        if (table, key) not in self.seen:
            add(rows)
            self.seen[table, key] = len(rows) - 1
        return self.seen[table, key]

    def attribute(self, key, **value):
        name = self.text(key)
        return self.index("attribute_table", (key, str(value)), lambda table: table.add(
            key_strindex=name, value=common_pb2.AnyValue(**value)))

    def function(self, name, file):
        texts = self.text(name), self.text(file)
        return self.index("function_table", texts, lambda table: table.add(
            name_strindex=texts[0], filename_strindex=texts[1]))

    def location(self, frames):
        kind = self.attribute("profile.frame.type", string_value=frames[0][3])
        lines = [otlp.Line(function_index=self.function(name, file), line=line) for name, file, line, _, _ in frames]
        return self.index("location_table", str(frames), lambda table: table.add(lines=lines, attribute_indices=[kind]))

    def stack(self, frames):
        groups = [[]]
        for frame in frames:
            groups[-1].append(frame)
            if not frame[4]:
                groups.append([])
        locations = [self.location(group) for group in groups if group]
        return self.index("stack_table", str(frames), lambda table: table.add(location_indices=locations))


def main():
    tables = Tables()
    profile = otlp.Profile(time_unix_nano=START, period=10_000_000)
    for kind in (profile.sample_type, profile.period_type):
        kind.type_strindex, kind.unit_strindex = tables.text("cpu"), tables.text("nanoseconds")
    for stack, values, thread, times in SAMPLES:
        profile.samples.add(stack_index=tables.stack(STACKS[stack]), values=values,
                            attribute_indices=[tables.attribute("thread.id", int_value=thread)],
                            timestamps_unix_nano=[START + time * 1_000_000 for time in times])
    data = otlp.ProfilesData(dictionary=tables.dictionary)
    resource = data.resource_profiles.add()
    resource.resource.attributes.add(key="service.name", value=common_pb2.AnyValue(string_value="shop"))
    resource.resource.attributes.add(key="process.pid", value=common_pb2.AnyValue(int_value=4711))
    resource.scope_profiles.add().profiles.append(profile)
    (HERE / "protobuf").write_bytes(data.SerializeToString())
    (HERE / "json").write_text(json_format.MessageToJson(data, indent=None))

    old = otlp.ProfilesData()
    old.CopyFrom(data)
    for sample in old.resource_profiles[0].scope_profiles[0].profiles[0].samples:
        body = otlp.Sample(stack_index=sample.stack_index, timestamps_unix_nano=sample.timestamps_unix_nano)
        # Field 2 of today's class holds what was the values then, and field 3 a list.
        extra = bytes([0x12]) + packed(sample.values) + bytes([0x1A]) + packed(sample.attribute_indices)
        sample.ParseFromString(body.SerializeToString())
        sample.MergeFromString(extra)
    (HERE / "old").write_bytes(old.SerializeToString())


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def packed(values):
    body = b"".join(varint(value) for value in values)
    return varint(len(body)) + body


main()
