// The part that every bot needs: it connects, says Hello, answers each envelope with one, comes
// back when the stream is lost, and leaves. docs/reference/protocol.md tells the conversation, arena.proto
// each message of it.
//
//   CUTPURSE_SERVER             where to dial, 127.0.0.1:7777 if not set; https://host:port is with
//                               TLS, unix:/path a socket
//   CUTPURSE_TOKEN              what lets it in, where a server asks for it
//   CUTPURSE_CA                 a file of certificates to trust the server by, the system's if not set
//   CUTPURSE_BOT                its name in the rankings
//   CUTPURSE_VERSION            its version there, 1 if not set
//   CUTPURSE_LADDER             where it plays, GAME/LADDER, comma-separated; if not set, every ladder
//                               of every game
//   CUTPURSE_RECONNECT_TIMEOUT  seconds without a server until it exits; no limit if not set
//
// What of these makes no sense is told in a line: exit code 2, and 6 for a token. A server whose
// certificate is not trusted: 6. One that lets the bot in no more: 1.
//
// SIGTERM, Ctrl-C, or a terminal that is closed: it plays its open matches to the end and leaves. A
// second SIGTERM or Ctrl-C ends it at once. Under nohup a terminal may be closed.

#include "arena.h"

#include <arpa/inet.h>
#include <google/protobuf/any.pb.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/unknown_field_set.h>
#include <grpcpp/grpcpp.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cutpurse/v1/arena.grpc.pb.h"
#include "cutpurse/v1/game.grpc.pb.h"

namespace cutpurse {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using Lock = std::unique_lock<std::mutex>;

constexpr std::uint32_t kTables = 16;
constexpr milliseconds kFirstWait{500};
constexpr milliseconds kLongestWait{10'000};
constexpr milliseconds kUsualHeartbeat{15'000};  // until Welcome names another
constexpr char kSecure[] = "https://";
enum ExitCode { kLeft = 0, kFailed = 1, kUsage = 2, kNoTrust = 6, kInterrupted = 130 };

std::string Environment(const char* name, const std::string& otherwise = "") {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

bool StartsWith(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

// A token, without the end of a line that came with it.
std::string Token() {
  const std::string given = Environment("CUTPURSE_TOKEN"), blank = " \t\r\n";
  const auto first = given.find_first_not_of(blank);
  return first == std::string::npos ? "" : given.substr(first, given.find_last_not_of(blank) + 1 - first);
}

// Seconds; not a number, if it is none.
double SecondsOf(const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  return *end == '\0' ? seconds : std::nan("");
}

// Whether what is sent there stays on this machine. A name such as 127.example.org does not.
bool IsLocal(const std::string& server) {
  const std::string host = server.substr(0, server.rfind(':'));
  in_addr address;
  const bool is_loopback = inet_pton(AF_INET, host.c_str(), &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
  return is_loopback || host == "localhost" || host == "[::1]" || StartsWith(server, "unix:");
}

// Whether the fault may go away by itself. Another version, no good token, or a newer stream of this name does not.
bool MayPass(grpc::StatusCode code) {
  return code == grpc::OK || code == grpc::UNAVAILABLE || code == grpc::CANCELLED || code == grpc::INTERNAL ||
         code == grpc::UNKNOWN || code == grpc::RESOURCE_EXHAUSTED;
}

// Whether who listens there has shown a certificate that is not trusted. gRPC tells it in words alone, those of its
// version and of its TLS.
bool IsUntrusted(const grpc::Status& status) {
  static const std::regex words(
      "certificate verify failed|CERTIFICATE_VERIFY_FAILED|"
      "is not in peer certificate|Hostname Verification Check failed");
  return status.error_code() == grpc::UNAVAILABLE && std::regex_search(status.error_message(), words);
}

// How long the server says to wait, or 0: google.rpc.RetryInfo, which lies in a google.rpc.Status. Both are read by the
// numbers of their fields, since not every system has their .proto files.
milliseconds RetryAfter(const grpc::Status& status) {
  google::protobuf::UnknownFieldSet fields, info;
  fields.ParseFromString(status.error_details());
  google::protobuf::Any detail;
  google::protobuf::Duration delay;
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& field = fields.field(i);
    if (field.number() != 3 || field.type() != field.TYPE_LENGTH_DELIMITED) continue;
    if (!detail.ParseFromString(field.length_delimited())) continue;
    if (detail.type_url() != "type.googleapis.com/google.rpc.RetryInfo" || !info.ParseFromString(detail.value()))
      continue;
    if (info.empty() || info.field(0).type() != field.TYPE_LENGTH_DELIMITED) continue;
    delay.ParseFromString(info.field(0).length_delimited());
  }
  return milliseconds{delay.seconds() * 1'000 + delay.nanos() / 1'000'000};
}

void AddAnswer(v1::PlayRequest* envelope, std::uint32_t table, std::uint32_t decision, std::uint32_t option) {
  v1::Answer* answer = envelope->add_answers();
  answer->set_table(table);
  answer->set_decision(decision);
  answer->set_option(option);
}

// A match that is being played.
struct Table {
  v1::MatchStarted start;
  std::shared_ptr<const v1::Catalogue> words;
  std::uint32_t safe_option = 0;  // of the open decision
};

// The bot at its server. One thread reads, thinks and answers; a second one, in Watch, waits for signals and for a
// server that falls silent. What both use is guarded by mutex_.
class Arena {
 public:
  Arena(const std::string& name, const Chooser& choose) : choose_(choose), name_(Environment("CUTPURSE_BOT", name)) {}

  // Plays until it has left; the exit code.
  int Run() {
    setenv("GRPC_VERBOSITY", "NONE", 0);  // what gRPC has to say comes as a status too
    signal(SIGPIPE, SIG_IGN);             // what nobody can read any more is lost, and nothing else
    if (const int misused = Misused(); misused != 0) return misused;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    struct sigaction hangup;
    sigaction(SIGHUP, nullptr, &hangup);
    if (hangup.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);  // it is ignored under nohup, and stays so

    pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // in all threads to come, so that it is Watch that is told
    std::thread watch([&] { Watch(signals); });
    const int code = StayConnected();
    {
      Lock lock(mutex_);
      done_ = true;
    }
    pthread_kill(watch.native_handle(), SIGTERM);  // wakes it
    watch.join();
    return code;
  }

 private:
  // The exit code, and a line, for what makes no sense in the environment; else 0.
  int Misused() {
    if (!std::regex_match(server_, std::regex("unix:.+|(https://)?[^/]+:[0-9]{1,5}"))) {
      Say("CUTPURSE_SERVER '" + server_ + "' is no address: it is host:port, with TLS https://host:port, or unix:/path");
      return kUsage;
    }
    if (std::any_of(token_.begin(), token_.end(), [](char sign) { return sign <= ' ' || sign > '~'; })) {
      Say("CUTPURSE_TOKEN holds no token");
      return kNoTrust;
    }
    if (!token_.empty() && !is_secure_ && !IsLocal(server_)) {
      Say("a token could be read on the way to " + server_ + "; with TLS, its address is " + kSecure + server_);
      return kNoTrust;
    }
    if (std::isnan(patience_.count())) {
      Say("CUTPURSE_RECONNECT_TIMEOUT '" + Environment("CUTPURSE_RECONNECT_TIMEOUT") + "' is not a number of seconds");
      return kUsage;
    }
    std::istringstream ladders(Environment("CUTPURSE_LADDER"));
    static const std::regex ladder("\\s*([^/\\s]+)/([^/\\s]+)\\s*");
    for (std::string one; std::getline(ladders, one, ',');) {
      std::smatch parts;
      if (!std::regex_match(one, parts, ladder)) {
        Say("CUTPURSE_LADDER '" + one +
            "' is no ladder: it is GAME/LADDER, such as greed/duel, several with commas between");
        return kUsage;
      }
      wanted_[parts[1]].push_back(parts[2]);
    }
    if (const std::string path = Environment("CUTPURSE_CA"); is_secure_ && !path.empty()) {
      std::ifstream file(path);
      authority_.assign(std::istreambuf_iterator<char>(file), {});
      if (authority_.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
        Say("CUTPURSE_CA " + path + ": there is no certificate to be read");
        return kUsage;
      }
    }
    return 0;
  }

  // Plays; a stream that is lost is resumed, and a server that is away is waited for.
  int StayConnected() {
    Clock::time_point away_since = Clock::now();
    milliseconds backoff = kFirstWait;
    std::string trouble;
    for (;;) {
      const grpc::Status status = Play();
      Lock lock(mutex_);
      const bool is_forgotten = status.error_code() == grpc::NOT_FOUND && session_;
      if (is_forgotten) {  // too late to resume: begin anew
        session_.reset();
        tables_.clear();
      }
      if (leaving_ && (status.ok() || tables_.empty())) return kLeft;
      if (is_secure_ && IsUntrusted(status)) {
        Say("the server at " + server_ + " has a certificate that is not trusted here, or of another name (" +
            status.error_message() +
            "); if its operator gave you the certificate of who signed it, name the file in CUTPURSE_CA");
        return kNoTrust;
      }
      if (received_ > 0) {  // it had let the bot in
        backoff = kFirstWait;
        away_since = Clock::now();
      }
      if (!is_forgotten && !MayPass(status.error_code())) {
        Say("the server does not let this bot play: " + status.error_message());
        return kFailed;
      }
      const std::string why = status.ok() ? "the stream has ended" : status.error_message();
      if (why != trouble) Say("away from " + server_ + ": " + why);
      trouble = why;
      if (is_forgotten) {  // by a server that is there: it waits for Hello
        backoff = kFirstWait;
        continue;
      }
      // Longer each time, and with chance in it, so that not all bots come back at once.
      const Seconds wait =
          std::max({backoff, come_back_, RetryAfter(status)}) * std::uniform_real_distribution<>(1.0, 1.5)(chance_);
      backoff = std::min(2 * backoff, kLongestWait);
      come_back_ = milliseconds{0};
      if (Clock::now() + wait - away_since > patience_) {
        Say("no server at " + server_ + " for too long");
        return kFailed;
      }
      if (told_to_leave_.wait_for(lock, wait, [&] { return leaving_ && tables_.empty(); })) return kLeft;
    }
  }

  // One stream, from Hello to its end.
  grpc::Status Play() {
    // A channel of its own for each attempt, which does not wait for the failures of the last one.
    grpc::ChannelArguments options;
    options.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    options.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    grpc::SslCredentialsOptions trust;
    trust.pem_root_certs = authority_;
    const auto channel = grpc::CreateCustomChannel(
        is_secure_ ? server_.substr(sizeof(kSecure) - 1) : server_,
        is_secure_ ? grpc::SslCredentials(trust) : grpc::InsecureChannelCredentials(), options);
    const auto arena = v1::ArenaService::NewStub(channel);
    games_ = v1::GameService::NewStub(channel);
    grpc::ClientContext call;
    if (!token_.empty()) call.AddMetadata("authorization", "Bearer " + token_);
    Expect(&call, kUsualHeartbeat);
    const auto stream = arena->Play(&call);
    {
      Lock lock(mutex_);
      received_ = 0;
      stream_ = stream.get();
      Send(Hello());
    }
    v1::PlayResponse envelope;
    while (stream->Read(&envelope)) {
      Expect(nullptr);  // while it thinks, what comes is not seen
      try {
        const v1::PlayRequest answer = React(envelope);
        Lock lock(mutex_);
        received_ = envelope.envelope();
        Send(answer);
      } catch (const std::exception& problem) {
        Say(problem.what());
        call.TryCancel();
      }
      Expect(&call, session_ ? milliseconds{session_->heartbeat_ms()} : kUsualHeartbeat);
    }
    Expect(nullptr);
    Lock lock(mutex_);
    stream_ = nullptr;
    return stream->Finish();
  }

  v1::PlayRequest Hello() const {
    v1::PlayRequest envelope;
    v1::Hello& hello = *envelope.mutable_hello();
    hello.set_protocol_major(1);
    hello.set_sdk("cutpurse-cpp-sample");
    hello.set_bot(name_);
    hello.set_version(Environment("CUTPURSE_VERSION", "1"));
    hello.set_max_tables(kTables);
    for (const auto& [name, ladders] : wanted_) {
      v1::GameWanted* game = hello.add_games();
      game->set_game(name);
      for (const std::string& ladder : ladders) game->add_ladders(ladder);
    }
    if (session_) {
      hello.mutable_resume()->set_session(session_->session());
      hello.mutable_resume()->set_secret(session_->resume_secret());
    }
    return envelope;
  }

  // One envelope from the server, one envelope back. Its lists are read in the order of their fields; what is not known
  // here is passed over.
  v1::PlayRequest React(const v1::PlayResponse& envelope) {
    v1::PlayRequest answer;
    if (envelope.has_welcome()) {
      Lock lock(mutex_);
      session_ = envelope.welcome();
      if (!session_->resumed()) tables_.clear();
      Say("plays at " + server_ + " (" + session_->server() + "), " + std::to_string(session_->max_tables()) +
          " tables");
    }
    for (const v1::Refusal& refusal : envelope.refusals()) {
      const auto table = tables_.find(refusal.table());
      if (refusal.reason() == v1::REFUSAL_REASON_ILLEGAL && refusal.corrections_left() > 0 && table != tables_.end()) {
        AddAnswer(&answer, refusal.table(), refusal.decision(), table->second.safe_option);
      }
      if (refusal.reason() != v1::REFUSAL_REASON_STALE && refusal.reason() != v1::REFUSAL_REASON_ALREADY_DECIDED) {
        Say(refusal.text());
      }
    }
    for (const v1::MatchStarted& start : envelope.starts()) tables_[start.table()] = {start, CatalogueOf(start)};
    for (const v1::Decision& decision : envelope.decisions()) Decide(decision, &answer);
    for (const v1::MatchEnded& end : envelope.ends()) Report(end);
    if (envelope.has_drain()) come_back_ = milliseconds{envelope.drain().reconnect_after_ms()};
    for (const v1::Problem& problem : envelope.problems()) Say(problem.text());
    return answer;
  }

  // What the numbers of this match mean; asked for once. Throws where that fails: the match is told again after a
  // resume.
  std::shared_ptr<const v1::Catalogue> CatalogueOf(const v1::MatchStarted& start) {
    std::shared_ptr<const v1::Catalogue>& words = catalogues_[start.catalogue_digest()];
    if (words != nullptr) return words;
    v1::GetGameRequest question;
    question.set_game(start.game());
    question.set_seats(start.seats_size());
    *question.mutable_settings() = start.settings();
    v1::GetGameResponse answer;
    grpc::ClientContext call;
    call.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    const grpc::Status status = games_->GetGame(&call, question, &answer);
    if (!status.ok()) throw std::runtime_error("no catalogue of " + start.game() + ": " + status.error_message());
    return words = std::make_shared<const v1::Catalogue>(answer.catalogue());
  }

  void Decide(const v1::Decision& decision, v1::PlayRequest* answer) {
    Table& table = tables_.at(decision.table());
    table.safe_option = decision.safe_option();
    try {
      const std::uint32_t option = choose_(decision, *table.words, table.start.seat());
      AddAnswer(answer, decision.table(), decision.decision(), option);
    } catch (const std::exception& problem) {
      GiveUp(table, decision, problem.what(), answer);
    } catch (...) {
      GiveUp(table, decision, "it threw what is no std::exception", answer);
    }
  }

  // The safe option is taken at once: better than to let time run out.
  void GiveUp(const Table& table, const v1::Decision& decision, const std::string& why, v1::PlayRequest* answer) {
    Say(table.start.match() + ", decision " + std::to_string(decision.decision()) + ": " + why);
    v1::GiveUp* given_up = answer->add_give_ups();
    given_up->set_table(decision.table());
    given_up->set_decision(decision.decision());
    given_up->set_reason(why);
  }

  void Report(const v1::MatchEnded& end) {
    const auto table = tables_.find(end.table());
    if (table == tables_.end()) return;  // told once more after a resume
    const v1::MatchStarted& start = table->second.start;
    std::cout << start.match() << ' ' << start.game();
    if (end.voided()) {
      std::cout << " is void" << std::endl;
    } else {
      const v1::SeatOutcome& mine = end.seats(start.seat());
      std::cout << " place " << mine.place() << " of " << end.seats_size() << ", score " << mine.score() << std::endl;
    }
    tables_.erase(table);
  }

  // For who holds mutex_, as both threads send. It never takes long: the server has read nearly all that was sent
  // before.
  void Send(v1::PlayRequest envelope) {
    envelope.set_received(received_);
    envelope.set_leaving(leaving_);
    stream_->Write(envelope);  // if it fails, so does the next Read
  }

  // From now on the call is lost if nothing comes for two heartbeats.
  void Expect(grpc::ClientContext* call, milliseconds heartbeat = {}) {
    Lock lock(mutex_);
    expecting_ = call;
    silent_at_ = Clock::now() + 2 * heartbeat;
  }

  // Waits for signals, and looks now and then whether the server has fallen silent.
  void Watch(const sigset_t& signals) {
    const timespec now_and_then{0, 500'000'000};
    for (;;) {
      const int told = sigtimedwait(&signals, nullptr, &now_and_then);
      Lock lock(mutex_);
      if (done_) return;
      if (expecting_ != nullptr && Clock::now() > silent_at_) expecting_->TryCancel();
      if (told < 0) continue;
      if (told == SIGHUP && leaving_) continue;  // a shell and the system may both send it
      if (leaving_) std::_Exit(kInterrupted);    // told twice
      if (!session_) std::_Exit(kLeft);          // it sits nowhere
      leaving_ = true;
      if (stream_ != nullptr) Send({});
      told_to_leave_.notify_all();
    }
  }

  void Say(const std::string& text) const { std::cerr << name_ + ": " + text + "\n"; }

  const Chooser choose_;
  const std::string name_;
  const std::string server_ = Environment("CUTPURSE_SERVER", "127.0.0.1:7777");
  const std::string token_ = Token();
  const Seconds patience_{SecondsOf(Environment("CUTPURSE_RECONNECT_TIMEOUT", "inf"))};
  const bool is_secure_ = StartsWith(server_, kSecure);
  std::string authority_;  // certificates; empty: the system's
  std::map<std::string, std::vector<std::string>> wanted_;  // games to play, each with its ladders; none: all
  std::mt19937 chance_{std::random_device{}()};

  std::unique_ptr<v1::GameService::Stub> games_;
  std::optional<v1::Welcome> session_;                                      // what is needed to resume
  std::map<std::uint32_t, Table> tables_;                                   // by their numbers
  std::map<std::string, std::shared_ptr<const v1::Catalogue>> catalogues_;  // by digest
  milliseconds come_back_{0};                                               // if the server has said when

  std::mutex mutex_;
  std::condition_variable told_to_leave_;
  bool leaving_ = false;
  bool done_ = false;
  grpc::ClientReaderWriter<v1::PlayRequest, v1::PlayResponse>* stream_ = nullptr;  // from Hello to the end
  std::uint32_t received_ = 0;  // the last envelope of this stream that was dealt with
  grpc::ClientContext* expecting_ = nullptr;
  Clock::time_point silent_at_;
};

}  // namespace

int Run(const std::string& name, const Chooser& choose) { return Arena(name, choose).Run(); }

}  // namespace cutpurse
