#include "formats/folded/folded.h"

#include "formats/folded/folded_io.h"

namespace nodescope {

const Format kFoldedFormat = {
    .name = "folded",
    .extension = ".folded",
    .description = "folded stacks, one per line with its count (flamegraph.pl)",
    .recognise = recognise_folded,
    .read = read_folded,
    .write = write_folded,
};

}  // namespace nodescope
