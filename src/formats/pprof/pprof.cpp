#include "formats/pprof/pprof.h"

#include "formats/compression.h"
#include "formats/pprof/messages.h"

namespace nodescope::pprof {

Result<void> write(const Profile& profile, const WriteOptions&, ByteSink& sink) {
  GzipSink gzip(sink);
  if (auto written = write_message(profile, gzip); !written) return written;
  return gzip.finish();
}

}  // namespace nodescope::pprof

namespace nodescope {

constexpr Format kPprofFormat = {
    .name = "pprof",
    .extension = ".pb.gz",
    .description = "pprof protobuf: go tool pprof, Pyroscope, Parca, Datadog",
    .recognise = pprof::is_profile,
    .read = pprof::read,
    .write = pprof::write,
};

}  // namespace nodescope
