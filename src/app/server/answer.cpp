#include "app/server/answer.h"

#include <fmt/format.h>

#include "app/page.h"
#include "base/check.h"
#include "json/writer.h"

namespace nodescope::server {

namespace {

Answer with_text(unsigned status, std::string text) {
  Answer answer;
  answer.status = status;
  answer.text = std::move(text);
  return answer;
}

Answer with_borrowed(std::string_view type, std::string_view bytes) {
  Answer answer;
  answer.type = type;
  answer.borrowed = bytes;
  return answer;
}

Answer redirect(std::string location) {
  Answer answer;
  answer.status = 303;
  answer.location = std::move(location);
  return answer;
}

Answer list(const Recordings& recordings) {
  StringSink text;
  json::Writer json(text);
  json.begin_array();
  if (recordings.heap != nullptr) {
    for (const std::string& name : recordings.heap->names())
      json.begin_object().key("name").string(name).key("heap").boolean(true).end_object();
  }
  for (const Recording& recording : recordings.list) {
    json.begin_object();
    json.key("name").string(recording.name);
    json.key("bytes").count(recording.bytes.size());
    json.end_object();
  }
  json.end_array();
  NODESCOPE_CHECK(json.finish().has_value());  // memory does not fail
  Answer answer = with_text(200, text.text());
  answer.type = "application/json";
  return answer;
}

Answer source(SourceFiles& sources, const Route& route) {
  auto content =
      route.generated.empty() ? sources.read(route.path) : sources.read_original(route.path, route.generated);
  if (content) return with_text(200, std::move(*content));
  return answer(
      Refusal{content.error().code == ErrorCode::kPermission ? 403u : 404u, content.error().message});
}

}  // namespace

Content::Content(Recordings recordings)
    : recordings_(std::move(recordings)),
      page_(page_html()),
      // What a page cannot say about itself.
      policy_(fmt::format("{}; frame-ancestors 'none'", policy_in(page_))) {}

Answer Content::answer(const Route& route, const Gate& gate, bool takes_gzip) {
  switch (route.resource) {
    case Resource::kPage: {
      Answer page = with_borrowed("text/html; charset=utf-8", takes_gzip ? kPageGzip : page_);
      if (takes_gzip) page.encoding = "gzip";
      return page;
    }
    case Resource::kPageWithoutSlash:
    case Resource::kOpening:
      return redirect(fmt::format("/{}/", gate.token));
    case Resource::kRecordingList:
      return list(recordings_);
    case Resource::kRecording:
      if (route.recording >= recordings_.list.size()) break;
      return with_borrowed("application/octet-stream", recordings_.list[route.recording].bytes);
    case Resource::kSource:
      return source(recordings_.sources, route);
    case Resource::kHeapAnswer: {
      if (recordings_.heap == nullptr) break;
      Answer reply = with_text(200, recordings_.heap->ask(route.question));
      reply.type = "application/octet-stream";
      return reply;
    }
  }
  return server::answer(Refusal{404, "There is no such recording."});
}

Answer answer(const Refusal& refusal) {
  return with_text(refusal.status, fmt::format("{}\n", refusal.reason));
}

}  // namespace nodescope::server
