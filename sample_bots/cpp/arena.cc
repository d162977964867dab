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
//   CUTPURSE_TRUST              hosts besides the server's that it may be sent to, comma-separated;
//                               .example.org stands for all below it
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
#include <set>
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
constexpr milliseconds kHomeAfter{10'000};  // without a server until its ladders are looked for at others
constexpr milliseconds kUsualHeartbeat{15'000};  // until Welcome names another
constexpr char kSecure[] = "https://";
enum ExitCode { kLeft = 0, kFailed = 1, kUsage = 2, kNoTrust = 6, kInterrupted = 130 };

std::string Environment(const char* name, const std::string& otherwise = "") {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

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

// The parts of a server's address.
struct Address {
  std::string host;    // in lower case and without brackets; empty for a socket
  std::string target;  // what gRPC dials
  bool is_secure = false;
  bool is_local = false;  // what is sent there stays on this machine
};

// Takes host:port, https://host:port or unix:/path, and nothing else. gRPC would read it as a URI, and so might dial
// another host than the one that is looked at here.
std::optional<Address> Parse(const std::string& server) {
  constexpr std::size_t kLongest = 4'096, kLongestName = 253;  // std::regex goes deep
  static const std::regex socket("unix:(?!//)[^\\x01-\\x1f\\x7f?#%,]+"), number("(?:.*\\.)?(?:[0-9]+|0x[0-9a-f]*)"),
      form("(https://)?((?:[A-Za-z0-9_-]{1,63}\\.)*[A-Za-z0-9_-]{1,63}|\\[([0-9A-Fa-f:.]+)\\]):([1-9][0-9]{0,4})");
  std::smatch parts;
  if (server.size() > kLongest || server.find('\0') != std::string::npos) return std::nullopt;
  if (std::regex_match(server, socket)) return Address{"", server, false, true};
  if (!std::regex_match(server, parts, form) || std::stoi(parts[4]) > 65'535) return std::nullopt;
  std::string host = parts[3].matched ? parts[3] : parts[2];
  if (host.size() > kLongestName) return std::nullopt;
  std::transform(host.begin(), host.end(), host.begin(), [](unsigned char sign) { return std::tolower(sign); });
  in_addr four;
  in6_addr six;
  const bool is_four = inet_pton(AF_INET, host.c_str(), &four) == 1;
  // 127.1 and 0x7f000001, too, are read as an address of IPv4.
  if (parts[3].matched ? inet_pton(AF_INET6, host.c_str(), &six) != 1 : !is_four && std::regex_match(host, number)) {
    return std::nullopt;
  }
  const bool is_local = (is_four && ntohl(four.s_addr) >> 24 == 127) || host == "localhost" || host == "::1";
  return Address{host, "dns:///" + parts[2].str() + ":" + parts[4].str(), parts[1].matched, is_local};
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

// The fields of a message with this number that have a length.
std::vector<std::string> Fields(const std::string& message, int number) {
  google::protobuf::UnknownFieldSet fields;
  fields.ParseFromString(message);
  std::vector<std::string> found;
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& field = fields.field(i);
    if (field.number() != number || field.type() != field.TYPE_LENGTH_DELIMITED) continue;
    found.push_back(field.length_delimited());
  }
  return found;
}

// What a status says besides its text: messages of google.rpc with this name, which lie in a google.rpc.Status. All are
// read by the numbers of their fields, since not every system has their .proto files.
std::vector<std::string> Details(const grpc::Status& status, const std::string& name) {
  std::vector<std::string> found;
  for (const std::string& field : Fields(status.error_details(), 3)) {
    google::protobuf::Any detail;
    if (detail.ParseFromString(field) && detail.type_url() == "type.googleapis.com/google.rpc." + name) {
      found.push_back(detail.value());
    }
  }
  return found;
}

// How long the server says to wait, or 0: RetryInfo, whose only field is a Duration.
milliseconds RetryAfter(const grpc::Status& status) {
  google::protobuf::Duration delay;
  for (const std::string& info : Details(status, "RetryInfo")) {
    for (const std::string& field : Fields(info, 1)) delay.ParseFromString(field);
  }
  return milliseconds{delay.seconds() * 1'000 + delay.nanos() / 1'000'000};
}

// Where the server sends this bot, if another one of the league plays all of its ladders: ErrorInfo, of a reason (1)
// and metadata (3), whose entries have a key (1) and a value (2).
std::string Elsewhere(const grpc::Status& status) {
  const std::vector<std::string> reason{"ELSEWHERE"}, key{"address"};
  for (const std::string& info : Details(status, "ErrorInfo")) {
    if (Fields(info, 1) != reason) continue;
    for (const std::string& entry : Fields(info, 3)) {
      const std::vector<std::string> value = Fields(entry, 2);
      if (Fields(entry, 1) == key && !value.empty()) return value[0];
    }
  }
  return "";
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

class Arena;

// What the bot is at all servers, which are several where they share the ladders of a league. One thread for each
// server reads, thinks and answers; another one, in Watch, waits for signals and for a server that falls silent.
struct Bot {
  Bot(const std::string& name, const Chooser& choose) : choose(choose), name(Environment("CUTPURSE_BOT", name)) {
    std::istringstream hosts(Environment("CUTPURSE_TRUST"));
    for (std::string host; std::getline(hosts, host, ',');) {
      host.erase(std::remove(host.begin(), host.end(), ' '), host.end());
      std::transform(host.begin(), host.end(), host.begin(), [](unsigned char sign) { return std::tolower(sign); });
      if (!host.empty()) trusted.push_back(host);
    }
  }

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
    Lock lock(mutex);
    PlayAt(home);
    ended.wait(lock, [&] { return arenas.empty(); });
    done = true;
    lock.unlock();
    for (std::thread& thread : threads) thread.join();
    pthread_kill(watch.native_handle(), SIGTERM);  // wakes it
    watch.join();
    return exit_code;
  }

  // The exit code, and a line, for what makes no sense in the environment; else 0.
  int Misused() {
    if (!here) {
      Say("CUTPURSE_SERVER '" + home + "' is no address: it is host:port, with TLS https://host:port, or unix:/path");
      return kUsage;
    }
    if (std::any_of(token.begin(), token.end(), [](char sign) { return sign <= ' ' || sign > '~'; })) {
      Say("CUTPURSE_TOKEN holds no token");
      return kNoTrust;
    }
    if (!token.empty() && !here->is_secure && !here->is_local) {
      Say("a token could be read on the way to " + home + "; with TLS, its address is " + kSecure + home);
      return kNoTrust;
    }
    if (std::isnan(patience.count())) {
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
      wanted[parts[1]].push_back(parts[2]);
    }
    if (const std::string path = Environment("CUTPURSE_CA"); here->is_secure && !path.empty()) {
      std::ifstream file(path);
      authority.assign(std::istreambuf_iterator<char>(file), {});
      if (authority.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
        Say("CUTPURSE_CA " + path + ": there is no certificate to be read");
        return kUsage;
      }
    }
    return 0;
  }

  // Why it does not dial an address that a server names; nothing, if it does. What listens there gets the token.
  std::string Distrust(const std::string& server) const {
    const std::optional<Address> there = Parse(server);
    if (server == home) return "";
    if (!there || there->host.empty()) return "what it names is no address of a server";
    const std::string& host = there->host;
    const auto is_host = [&](const std::string& name) {
      const bool is_below = name[0] == '.' && host.size() > name.size() &&
                            host.compare(host.size() - name.size(), name.size(), name) == 0;
      return host == name || is_below;
    };
    const bool is_ours = host == here->host || std::any_of(trusted.begin(), trusted.end(), is_host);
    if (!is_ours) return server + " would get the token; if that host is of the same league: CUTPURSE_TRUST=" + host;
    const bool is_read = !token.empty() && !there->is_secure && !there->is_local;
    return is_read || there->is_secure != here->is_secure ? server + " would get the token without TLS" : "";
  }

  // Those with a lock are for who holds mutex.
  void PlayAt(const std::string& server);                    // beside the others
  void DialToo(const v1::LadderElsewhere& there, Lock&);     // plays there, too, unless that is done already
  bool IsAt(const std::string& server, const Arena* but);    // whether it plays at this server
  void Ended(Arena* arena, int code, bool is_lost);          // leaves a server; the last one ends the program
  void Watch(const sigset_t& signals);

  // How many tables it asks for at each server.
  std::uint32_t TablesEach() const { return kTables / std::max<std::size_t>(1, arenas.size()); }

  void Say(const std::string& text) const { std::cerr << name + ": " + text + "\n"; }

  const Chooser choose;
  const std::string name;
  const std::string home = Environment("CUTPURSE_SERVER", "127.0.0.1:7777");
  const std::string token = Token();
  const Seconds patience{SecondsOf(Environment("CUTPURSE_RECONNECT_TIMEOUT", "inf"))};
  const std::optional<Address> here = Parse(home);
  std::vector<std::string> trusted;                        // other hosts that it may be sent to
  std::string authority;                                   // certificates; empty: the system's
  std::map<std::string, std::vector<std::string>> wanted;  // games to play, each with its ladders; none: all
  std::mutex thinking;                                     // choose has one decision at a time

  std::mutex mutex;  // guards all that follows, and what of an Arena both threads use
  std::condition_variable told_to_leave, ended;
  std::vector<std::shared_ptr<Arena>> arenas;
  std::vector<std::thread> threads;
  std::set<std::string> refused;  // addresses that it does not dial
  bool leaving = false;
  bool done = false;
  int exit_code = kLeft;  // of the arena that ended last
};

// The bot at one server.
class Arena {
 public:
  Arena(Bot* bot, const std::string& server) : bot_(*bot), server_(server) {}

  // Plays until it has left this server, or is not let in.
  void Run() {
    bool is_lost = false;
    const int code = StayConnected(&is_lost);
    bot_.Ended(this, code, is_lost);
  }

 private:
  friend struct Bot;

  // Plays; a stream that is lost is resumed, and a server that is away is waited for.
  int StayConnected(bool* is_lost) {
    Clock::time_point away_since = Clock::now();
    milliseconds backoff = kFirstWait;
    std::string trouble;
    for (;;) {
      const grpc::Status status = Play();
      Lock lock(bot_.mutex);
      const bool is_forgotten = status.error_code() == grpc::NOT_FOUND && session_;
      if (is_forgotten) {  // too late to resume: begin anew
        session_.reset();
        tables_.clear();
      }
      if (bot_.leaving && (status.ok() || tables_.empty())) return kLeft;
      if (bot_.here->is_secure && IsUntrusted(status)) {
        Say("the server at " + server_ + " has a certificate that is not trusted here, or of another name (" +
            status.error_message() +
            "); if its operator gave you the certificate of who signed it, name the file in CUTPURSE_CA");
        return kNoTrust;
      }
      if (received_ > 0) {  // it had let the bot in
        backoff = kFirstWait;
        away_since = Clock::now();
      }
      const std::string there = Elsewhere(status);
      if (!there.empty()) {  // another server of the league has all of its ladders
        if (bot_.IsAt(there, this)) return kLeft;
        if (const std::string why = bot_.Distrust(there); !why.empty()) {
          Say("the server at " + server_ + " sends the bot elsewhere: " + why);
          return kNoTrust;
        }
        Say("the server at " + server_ + " sends the bot to " + there);
        Dial(there);
        away_since = Clock::now();
      } else if (!is_forgotten && !MayPass(status.error_code())) {
        Say("the server does not let this bot play: " + status.error_message());
        return kFailed;
      }
      const std::string why = status.ok() ? "the stream has ended" : status.error_message();
      if (there.empty() && why != trouble) Say("away from " + server_ + ": " + why);
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
      if (Clock::now() + wait - away_since > bot_.patience) {
        Say("no server at " + server_ + " for too long");
        return kFailed;
      }
      if (Clock::now() - away_since > kHomeAfter) {  // its ladders may be at another one by now
        if (bot_.arenas.size() > 1) {
          Say("no server at " + server_);
          *is_lost = true;
          return kFailed;
        }
        if (server_ != bot_.home) Dial(bot_.home);
      }
      if (bot_.told_to_leave.wait_for(lock, wait, [&] { return bot_.leaving && tables_.empty(); })) return kLeft;
    }
  }

  // One stream, from Hello to its end.
  grpc::Status Play() {
    // A channel of its own for each attempt, which does not wait for the failures of the last one.
    grpc::ChannelArguments options;
    options.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    options.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    grpc::SslCredentialsOptions trust;
    trust.pem_root_certs = bot_.authority;
    const auto channel = grpc::CreateCustomChannel(
        Parse(server_)->target,
        bot_.here->is_secure ? grpc::SslCredentials(trust) : grpc::InsecureChannelCredentials(), options);
    const auto arena = v1::ArenaService::NewStub(channel);
    games_ = v1::GameService::NewStub(channel);
    grpc::ClientContext call;
    if (!bot_.token.empty()) call.AddMetadata("authorization", "Bearer " + bot_.token);
    Expect(&call, kUsualHeartbeat);
    const auto stream = arena->Play(&call);
    {
      Lock lock(bot_.mutex);
      received_ = 0;
      stream_ = stream.get();
      call_ = &call;
      share_ = bot_.TablesEach();
      Send(Hello());
    }
    v1::PlayResponse envelope;
    while (stream->Read(&envelope)) {
      Expect(nullptr);  // while it thinks, what comes is not seen
      try {
        const v1::PlayRequest answer = React(envelope);
        Lock lock(bot_.mutex);
        received_ = envelope.envelope();
        Send(answer);
      } catch (const std::exception& problem) {
        Say(problem.what());
        call.TryCancel();
      }
      Expect(&call, session_ ? milliseconds{session_->heartbeat_ms()} : kUsualHeartbeat);
    }
    Expect(nullptr);
    Lock lock(bot_.mutex);
    stream_ = nullptr;
    return stream->Finish();
  }

  v1::PlayRequest Hello() const {
    v1::PlayRequest envelope;
    v1::Hello& hello = *envelope.mutable_hello();
    hello.set_protocol_major(1);
    hello.set_sdk("cutpurse-cpp-sample");
    hello.set_bot(bot_.name);
    hello.set_version(Environment("CUTPURSE_VERSION", "1"));
    hello.set_max_tables(share_);
    for (const auto& [name, ladders] : bot_.wanted) {
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
      Lock lock(bot_.mutex);
      session_ = envelope.welcome();
      if (!session_->resumed()) tables_.clear();
      for (const v1::LadderElsewhere& there : session_->elsewhere()) bot_.DialToo(there, lock);
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
      Lock lock(bot_.thinking);
      const std::uint32_t option = bot_.choose(decision, *table.words, table.start.seat());
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

  // For who holds bot_.mutex, as both threads send. It never takes long: the server has read nearly all that was sent
  // before.
  void Send(v1::PlayRequest envelope) {
    envelope.set_received(received_);
    envelope.set_leaving(bot_.leaving);
    if (!envelope.has_hello() && share_ != bot_.TablesEach()) envelope.set_max_tables(share_ = bot_.TablesEach());
    stream_->Write(envelope);  // if it fails, so does the next Read
  }

  // From now on the call is lost if nothing comes for two heartbeats.
  void Expect(grpc::ClientContext* call, milliseconds heartbeat = {}) {
    Lock lock(bot_.mutex);
    expecting_ = call;
    silent_at_ = Clock::now() + 2 * heartbeat;
  }

  void Say(const std::string& text) const { bot_.Say(text); }

  // Plays at another server from now on; for who holds the mutex.
  void Dial(const std::string& server) {
    server_ = server;
    session_.reset();
    tables_.clear();
  }

  Bot& bot_;
  std::string server_;
  std::mt19937 chance_{std::random_device{}()};

  std::unique_ptr<v1::GameService::Stub> games_;
  std::optional<v1::Welcome> session_;                                      // what is needed to resume
  std::map<std::uint32_t, Table> tables_;                                   // by their numbers
  std::map<std::string, std::shared_ptr<const v1::Catalogue>> catalogues_;  // by digest
  milliseconds come_back_{0};                                               // if the server has said when

  // What both threads use.
  grpc::ClientReaderWriter<v1::PlayRequest, v1::PlayResponse>* stream_ = nullptr;  // from Hello to the end
  grpc::ClientContext* call_ = nullptr;                                            // of the stream
  std::uint32_t received_ = 0;  // the last envelope of this stream that was dealt with
  std::uint32_t share_ = 0;     // tables that it has asked for
  grpc::ClientContext* expecting_ = nullptr;
  Clock::time_point silent_at_;
};

void Bot::PlayAt(const std::string& server) {
  const auto arena = std::make_shared<Arena>(this, server);
  arenas.push_back(arena);
  threads.emplace_back([arena] { arena->Run(); });
}

bool Bot::IsAt(const std::string& server, const Arena* but) {
  return std::any_of(arenas.begin(), arenas.end(),
                     [&](const auto& arena) { return arena.get() != but && arena->server_ == server; });
}

void Bot::DialToo(const v1::LadderElsewhere& there, Lock&) {
  const std::string& server = there.address();
  if (leaving || IsAt(server, nullptr) || arenas.size() >= kTables || refused.count(server) > 0) return;
  const std::string why = Distrust(server);
  if (why.empty()) return PlayAt(server);
  refused.insert(server);
  Say("does not play on ladder " + there.ladder() + ": " + why);
}

void Bot::Ended(Arena* arena, int code, bool is_lost) {
  Lock lock(mutex);
  exit_code = code;
  if (code != kLeft && !is_lost) refused.insert(arena->server_);
  arenas.erase(std::find_if(arenas.begin(), arenas.end(), [&](const auto& one) { return one.get() == arena; }));
  for (const auto& other : arenas) {
    if (!is_lost || other->stream_ == nullptr) continue;
    other->call_->TryCancel();  // its next Welcome tells where the ladders are
    break;
  }
  ended.notify_all();
}

// Waits for signals, and looks now and then whether a server has fallen silent.
void Bot::Watch(const sigset_t& signals) {
  const timespec now_and_then{0, 500'000'000};
  for (;;) {
    const int told = sigtimedwait(&signals, nullptr, &now_and_then);
    Lock lock(mutex);
    if (done) return;
    for (const auto& arena : arenas) {
      if (arena->expecting_ != nullptr && Clock::now() > arena->silent_at_) arena->expecting_->TryCancel();
    }
    if (told < 0) continue;
    if (told == SIGHUP && leaving) continue;  // a shell and the system may both send it
    if (leaving) std::_Exit(kInterrupted);    // told twice
    if (std::none_of(arenas.begin(), arenas.end(), [](const auto& arena) { return arena->session_.has_value(); })) {
      std::_Exit(kLeft);  // it sits nowhere
    }
    leaving = true;
    for (const auto& arena : arenas) {
      if (arena->stream_ != nullptr) arena->Send({});
    }
    told_to_leave.notify_all();
  }
}

}  // namespace

int Run(const std::string& name, const Chooser& choose) { return Bot(name, choose).Run(); }

}  // namespace cutpurse
