#include "kernels/interop/cuda_gl_pyramid.h"

#include <stdexcept>
#include <utility>

#include "gpu/cuda/error.h"
#include "gpu/cuda/stream.h"
#include "kernels/interop/cuda_gl_arrays.h"
#include "kernels/interop/cuda_gl_copies.h"
#include "kernels/interop/cuda_gl_handover.h"

namespace saccade {
namespace {

std::unique_ptr<cuda::GlHome> make_home(const PyramidLayout& layout, std::span<const GlPlane> planes, UploadPath path,
                                        GlSharing sharing, std::string& why_copied) {
  if (sharing == GlSharing::kCopied) {
    if (path == UploadPath::kPbo) throw std::invalid_argument("CUDA would not see what GL uploads to a copy");
    why_copied = "asked for";
  } else {
    try {
      auto arrays = std::make_unique<cuda::GlArrays>(planes);
      const CudaStream stream;
      arrays->open(stream.get());  // a driver may register a texture and then not map it
      arrays->give_to_gl();
      return arrays;
    } catch (const CudaError& error) {
      const bool no_memory = error.code() == cudaErrorMemoryAllocation;  // copies would need more
      if (no_memory || path == UploadPath::kPbo) throw;
      why_copied = error.what();
    }
  }
  return std::make_unique<cuda::GlCopies>(layout, planes);
}

}  // namespace

CudaGlPyramid::CudaGlPyramid(const gl::Context& context, const PyramidLayout& layout, UploadPath path,
                             GlSharing sharing, bool calibrate)
    : layout_(layout),
      path_(path == UploadPath::kPbo ? UploadPath::kPbo : UploadPath::kDirect),
      planes_(make_gl_planes(context.capabilities(), layout)) {
  auto home = make_home(layout, planes_, path_, sharing, why_copied_);
  home_ = home.get();
  cuda_ = std::make_unique<CudaPyramid>(layout, std::move(home));
  if (path_ != UploadPath::kPbo) return;
  cuda_->set_staged(true);
  shadow_.emplace(level0_of(layout));
  uploader_.emplace(context.capabilities(), planes_, *shadow_, UploadPath::kPbo);
  planner_.emplace(layout, calibrate ? uploader_->calibrate(false) : UploadCost{});
  gl::check("CudaGlPyramid");
}

CudaGlPyramid::~CudaGlPyramid() = default;

std::int64_t CudaGlPyramid::upload(const FrameView& frame, const Damage& damage) {
  if (path_ != UploadPath::kPbo) return cuda_->upload(frame, damage);
  last_upload_ = planner_->plan(damage);
  home_->give_to_gl();
  if (frame.space == MemorySpace::kHost) {
    shadow_->upload(frame, damage);
    uploader_->push(last_upload_.rects);
  } else {
    if (!handover_) handover_ = std::make_unique<cuda::PboHandover>(layout_, planes_);
    cuda_->wait_for_default_stream();
    try {
      handover_->push(frame, last_upload_.rects, static_cast<cudaStream_t>(cuda_->stream()));
    } catch (...) {
      static_cast<void>(cudaStreamSynchronize(static_cast<cudaStream_t>(cuda_->stream())));
      throw;
    }
    cuda_->wait();  // the frame goes back to its decoder
  }
  cuda_->note_level0_written();
  return last_upload_.bytes;
}

const GlPlane& CudaGlPyramid::plane(int index) const {
  home_->give_to_gl();
  return planes_.at(static_cast<std::size_t>(index));
}

bool CudaGlPyramid::poll_device_time(DeviceTime& time) {
  if (!cuda_->poll_device_time(time)) return false;
  const double ms = static_cast<double>(time.ns) * 1e-6;
  using Work = DeviceTime::Work;
  if (time.work == Work::kUpload || time.work == Work::kUpdate) times_.upload_ms = ms;
  if (time.work == Work::kMips) times_.mips_ms = ms;
  if (time.work == Work::kSample) times_.sample_ms = ms;
  return true;
}

void CudaGlPyramid::sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) {
  cuda_->sample(plan, color, batch);
}

PatchBatch CudaGlPyramid::make_batch(std::size_t count, int patch_size, const SampleFormat& format) const {
  return cuda_->make_batch(count, patch_size, format);
}

void CudaGlPyramid::submit(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) {
  cuda_->submit(plan, color, batch);
}

CudaGlTileDiffer::CudaGlTileDiffer(CudaGlPyramid& texture, const DiffConfig& config)
    : on_host_(texture.shadow(), config), on_card_(texture.cuda(), config) {}

const Damage& CudaGlTileDiffer::diff(const FrameView& frame) {
  TileDiffer& differ = frame.space == MemorySpace::kHost ? static_cast<TileDiffer&>(on_host_) : on_card_;
  if (last_ && *last_ != frame.space) differ.damage_everything();
  last_ = frame.space;
  return differ.diff(frame);
}

void CudaGlTileDiffer::damage_everything() {
  on_host_.damage_everything();
  on_card_.damage_everything();
}

void CudaGlTileDiffer::configure(const DiffConfig& config) {
  on_host_.configure(config);
  on_card_.configure(config);
}

}  // namespace saccade
