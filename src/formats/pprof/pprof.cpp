#include "formats/pprof/pprof.h"

#include "formats/pprof/messages.h"

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
