#include "app/work/commit/shard.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "app/dump/dump_writer.h"
#include "app/dump/npy.h"
#include "app/dump/npy_reader.h"
#include "app/version.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

// As pysaccade's positions("thw"): a centre in pixels, as a count of patches. u and v are f32; centres of lattices lie
// on half pixels, and what is as near to one as a f32 tells is one.
double in_patches(double centre_px, double patch_size) {
  const double on_half = std::nearbyint(centre_px * 2) / 2;
  const bool near = std::abs(centre_px - on_half) <= std::abs(centre_px) * 0x1p-23;
  return (near ? on_half : centre_px) / patch_size - 0.5;
}

// [E, N, 4] f32: frame, row, column, lod.
std::string positions_npy(const std::string& directory, const NpyArray& index, std::int64_t patches, int patch_size,
                          int width_px, int height_px) {
  const std::int64_t emissions = index.rows();
  NpyArray geometry(directory + "/geometry.npy");
  geometry.require("'<f4'", sizeof(float), std::array<std::int64_t, 3>{emissions, patches, 4});
  std::string npy = npy_header("'<f4'", emissions, {patches, 4});
  std::vector<float> row(static_cast<std::size_t>(patches) * 4);
  const std::size_t row_bytes = row.size() * sizeof(float);
  for (std::int64_t e = 0; e < emissions; ++e) {
    std::int64_t frame = 0;
    std::memcpy(&frame, index.row(e).data(), sizeof frame);
    std::memcpy(row.data(), geometry.row(e).data(), row_bytes);
    for (std::size_t at = 0; at < row.size(); at += 4) {
      const double u = row[at], v = row[at + 1];
      row[at + 3] = row[at + 2];
      row[at] = static_cast<float>(frame);
      row[at + 1] = static_cast<float>(in_patches(v * height_px, patch_size));
      row[at + 2] = static_cast<float>(in_patches(u * width_px, patch_size));
    }
    npy.append(reinterpret_cast<const char*>(row.data()), row_bytes);
  }
  return npy;
}

// [E]: the field of each row that begins at `at`.
std::string field_npy(const NpyArray& index, const IndexField& field, std::size_t at) {
  std::string npy = npy_header(fmt::format("'{}'", field.type), index.rows(), {});
  for (std::int64_t e = 0; e < index.rows(); ++e) {
    npy.append(reinterpret_cast<const char*>(index.row(e).data()) + at, field.bytes);
  }
  return npy;
}

// Note [One type a member]
// Hugging Face's `datasets` infers the type of each member of KEY.json from the first five items of a shard. A later
// item that has another type ends the load. So each member is always there, is never null and has one type: seconds
// are fractions, what is not known is -1 or "", and what differs from row to row of a manifest (`extra`) is JSON text.
void settle_types(Json& json) {
  using Pointer = Json::json_pointer;
  static const std::pair<Pointer, Json> kUnknown[] = {{Pointer("/end"), -1.0},
                                                      {Pointer("/stream"), -1},
                                                      {Pointer("/video/fps"), -1.0},
                                                      {Pointer("/video/duration_s"), -1.0},
                                                      {Pointer("/video/frame_count"), -1},
                                                      {Pointer("/video/matrix"), ""},
                                                      {Pointer("/video/range"), ""}};
  for (const auto& [at, value] : kUnknown) {
    if (json[at].is_null()) json[at] = value;
  }
  for (const char* seconds : {"start", "end"}) json[seconds] = json[seconds].get<double>();
  json["extra"] = json_text(json["extra"], -1);
  Json& notes = json["video"]["notes"];
  notes = fmt::format("{}", fmt::join(notes.get<std::vector<std::string>>(), "; "));
}

// KEY.json: what of meta.json and manifest.json does not depend on the machine.
Json facts_of(const Plan& plan, const ItemResult& result, const Json& meta, const Json& manifest) {
  Json json = shown_item_json(result.item);
  json["format"] = "saccade-item";
  json["schema"] = 2;
  json["saccade"] = version();
  json["plan"] = plan.hash();
  json["video"] = meta.at("stream");
  for (const char* key :
       {"backend", "decoder", "hwdec", "patches", "patch_size", "levels", "lattice", "fovea", "dtype", "mean", "std"}) {
    json[key] = meta.at(key);
  }
  json["options"] = plan.facts().at("options");
  for (const char* key : {"emissions", "frames", "media_s", "damage_share", "patches_changed"})
    json[key] = manifest.at(key);
  json["damaged"] = !result.damage.empty();
  json["damage"] = result.damage;
  json["decode_errors"] = manifest.at("decode_errors");
  settle_types(json);
  return json;
}

Json member_json(const TarWriter::Member& member) {
  return {{"offset", member.offset}, {"bytes", member.bytes}, {"sha256", member.sha256}};
}

Json added(TarWriter& shard, const Plan& plan, const ItemResult& result) {
  const Json meta = read_json(result.directory + "/meta.json");
  const Json manifest = read_json(result.directory + "/manifest.json");
  if (!meta.is_object() || !manifest.is_object()) {
    throw Error(ErrorKind::kOutput, fmt::format("{}: the dump of {} is gone", result.directory, result.item.key));
  }
  const std::string& key = result.item.key;
  const Json& stream = meta.at("stream");
  Json members;
  members["json"] = member_json(shard.add(key + ".json", json_text(facts_of(plan, result, meta, manifest), 1) + "\n"));
  NpyArray index(result.directory + "/index.npy");
  index.require(index_descr(), kIndexBytes, std::array<std::int64_t, 1>{manifest.at("emissions")});
  // Not .npy: loaders that decode a member by its suffix take no array of structures, and read `.index` as a number.
  members["index.bin"] = member_json(shard.add_file(key + ".index.bin", index.path()));
  std::size_t at = 0;
  for (const IndexField& field : kIndexFields) {
    const std::string file = fmt::format("{}.npy", field.name);
    members[file] = member_json(shard.add(key + "." + file, field_npy(index, field, at)));
    at += field.bytes;
  }
  for (const char* file : {"patches.npy", "geometry.npy", "changed.npy"}) {
    members[file] = member_json(shard.add_file(fmt::format("{}.{}", key, file), result.directory + "/" + file));
  }
  members["positions.npy"] = member_json(shard.add(
      key + ".positions.npy", positions_npy(result.directory, index, meta.at("patches"), meta.at("patch_size"),
                                            stream.at("width_px"), stream.at("height_px"))));
  Json line = shown_item_json(result.item);
  line["damaged"] = !result.damage.empty();
  line["damage"] = result.damage;
  line["emissions"] = manifest.at("emissions");
  line["frames"] = manifest.at("frames");
  line["patches"] = meta.at("patches");
  line["patch_size"] = meta.at("patch_size");
  line["dtype"] = meta.at("dtype");
  line["width_px"] = stream.at("width_px");
  line["height_px"] = stream.at("height_px");
  line["seconds"] = manifest.at("media_s");
  line["members"] = members;
  return line;
}

}  // namespace

Json add_to_shard(TarWriter& shard, const Plan& plan, const ItemResult& result) {
  try {
    return added(shard, plan, result);
  } catch (const InputError& error) {  // what a worker wrote a moment ago can't be an input's fault
    throw Error(ErrorKind::kOutput, fmt::format("could not be read back: {}", error.what()));
  }
}

}  // namespace saccade
