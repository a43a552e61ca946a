#pragma once

#include <lz4frame.h>

#include <memory>

#include "formats/compression.h"

namespace nodescope {

// LZ4 frames, as `lz4` and systemd-coredump write them, any number of them.  Like the other decompressors.
class Lz4Source final : public ByteSource {
 public:
  Lz4Source(std::unique_ptr<ByteSource> compressed, Diagnostics& damage);

  Result<std::size_t> read(std::span<std::byte> into) override;
  std::string_view name() const override { return input_.name(); }

 private:
  struct Free {
    void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
  };

  void end_with_damage(std::string_view what, std::string_view detail = {});

  CompressedInput input_;
  Diagnostics& damage_;
  std::unique_ptr<LZ4F_dctx, Free> context_;
  bool in_frame_ = false;
  bool any_frame_ = false;
  bool ended_ = false;
};

}  // namespace nodescope
