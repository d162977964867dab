# A bot for Cutpurse, written from docs/reference/protocol.md and the two .proto files alone: a test of that page.
#
# It plays every game, and answers each envelope with one envelope. Its comments name the sections of the page.
require "grpc"
require "google/protobuf/well_known_types"
require "google/rpc/error_details_pb"
require "google/rpc/status_pb"
require "cutpurse/v1/arena_pb"
require "cutpurse/v1/game_pb"

$stdout.sync = true

# The two services that a bot needs; protoc has made their messages.
class Arena
  include GRPC::GenericService
  self.marshal_class_method = :encode
  self.unmarshal_class_method = :decode
  self.service_name = "cutpurse.v1.ArenaService"
  rpc :Play, stream(Cutpurse::V1::PlayRequest), stream(Cutpurse::V1::PlayResponse)
end

class Games
  include GRPC::GenericService
  self.marshal_class_method = :encode
  self.unmarshal_class_method = :decode
  self.service_name = "cutpurse.v1.GameService"
  rpc :GetGame, Cutpurse::V1::GetGameRequest, Cutpurse::V1::GetGameResponse
end

# What the numbers mean: play the most valuable cards, and pass only if nothing else can be done.
def choose(decision, catalogue)
  worth = decision.options.map do |option|
    next -1 if %w[pass end_turn done].include?(catalogue.verbs[option.verb - 1].name)

    option.cards.sum { |card| card.zero? ? 0 : catalogue.cards[card - 1].value }
  end
  worth.index(worth.max)
end

class Bot
  include Cutpurse::V1

  # Calls that fail: these end the bot; any other status is a lost stream.
  FINAL = [GRPC::FailedPrecondition, GRPC::InvalidArgument, GRPC::NotFound, GRPC::Aborted,
           GRPC::Unauthenticated, GRPC::PermissionDenied, GRPC::Unimplemented].freeze
  # Keepalive.
  OPTIONS = { "grpc.enable_http_proxy" => 0, "grpc.keepalive_time_ms" => 30_000, "grpc.keepalive_timeout_ms" => 10_000 }.freeze

  def initialize
    server = ENV.fetch("CUTPURSE_SERVER", "127.0.0.1:7777")
    @address = server.delete_prefix("https://")
    @trust = server == @address ? :this_channel_is_insecure : GRPC::Core::ChannelCredentials.new(certificates)
    token = ENV["CUTPURSE_TOKEN"]
    if token && server == @address && !@address.match?(/\A(unix:|localhost:|127(\.\d+){3}:|\[::1\]:)/)
      warn "a token could be read on the way to #{server}; with TLS, its address is https://#{server}"
      exit 6
    end
    @metadata = token ? { "authorization" => "Bearer #{token.strip}" } : {}
    @tables = {}     # what MatchStarted said, by table
    @catalogues = {} # by digest
    @leaving = false
  end

  # Leaving: what the signal handler does.
  def leave
    exit!(130) if @leaving
    @leaving = true
    exit!(0) if @requests.nil? || @welcome.nil? # it has no seat yet
    @requests.push(PlayRequest.new(received: @received, leaving: true))
    half_close_if_quiet
  end

  def run
    wait = 0.5
    loop do
      problem = play
      return 0 if @leaving && (problem.nil? || @tables.empty?)

      wait = 0.5 if @received.positive? # it had been let in
      if reason(problem) == "RESUME_EXPIRED"
        forget
        next
      end
      if FINAL.include?(problem.class)
        warn problem.details
        return 1
      end
      sleep([wait, retry_s(problem), @come_back_s].max * (1 + rand / 2))
      wait = [2 * wait, 10].min
    end
  end

  private

  def certificates
    ENV["CUTPURSE_CA"] && File.read(ENV["CUTPURSE_CA"])
  end

  # One stream, from Hello to its end; the error that it ended with, nil for OK.
  def play
    @requests = Queue.new
    @received = 0
    @come_back_s = 0
    @requests.push(PlayRequest.new(hello: hello, leaving: @leaving))
    arena = Arena.rpc_stub_class.new(@address, @trust, channel_args: OPTIONS)
    arena.play(Enumerator.new { |out| while (request = @requests.pop) do out << request end }, metadata: @metadata).each do |envelope|
      @requests.push(react(envelope))
      half_close_if_quiet if @leaving
    end
    nil
  rescue GRPC::BadStatus => problem
    problem
  ensure
    @requests.push(nil) # ends the library's thread that writes
  end

  def hello
    hello = Hello.new(protocol_major: 1, sdk: "ruby-from-the-page", bot: ENV.fetch("CUTPURSE_BOT", "ruby"), max_tables: 4)
    hello.resume = Resume.new(session: @welcome.session, secret: @welcome.resume_secret) if @welcome
    hello
  end

  # Leaving, with a library that tells no status before the bot's own half-close.
  def half_close_if_quiet
    requests, received = @requests, @received
    Thread.new do
      sleep 1
      requests.push(nil) if @tables.empty? && received == @received
    end
  end

  # Envelopes: one from the server, one back.
  def react(envelope)
    answers = []
    if envelope.welcome
      @tables.clear unless envelope.welcome.resumed
      @welcome = envelope.welcome
    end
    envelope.refusals.each do |refusal|
      next unless refusal.reason == :REFUSAL_REASON_ILLEGAL && refusal.corrections_left.positive?

      answers << Answer.new(table: refusal.table, decision: refusal.decision, option: 0)
    end
    envelope.starts.each { |start| @tables[start.table] = start }
    envelope.decisions.each do |decision|
      option = choose(decision, catalogue(@tables[decision.table]))
      answers << Answer.new(table: decision.table, decision: decision.decision, option: option)
    end
    envelope.ends.each { |over| finish(over) }
    @come_back_s = envelope.drain.reconnect_after_ms / 1000.0 if envelope.drain
    @received = envelope.envelope
    PlayRequest.new(received: @received, answers: answers, leaving: @leaving)
  end

  def finish(over)
    start = @tables.delete(over.table) or return # told once more after a resume
    mine = over.seats[start.seat]
    puts over.voided ? "#{start.match} #{start.game} is void" : "#{start.match} #{start.game} place #{mine.place}"
  end

  def catalogue(start)
    @catalogues[start.catalogue_digest] ||= begin
      games = Games.rpc_stub_class.new(@address, @trust, channel_args: OPTIONS)
      wanted = GetGameRequest.new(game: start.game, seats: start.seats.size, settings: start.settings.to_a)
      games.get_game(wanted, metadata: @metadata).catalogue
    end
  end

  def forget
    @welcome = nil
    @tables.clear
  end

  # Calls that fail: the details of a status.
  def detail(problem, kind)
    found = problem&.to_rpc_status&.details&.find { |detail| detail.is(kind) }
    found&.unpack(kind)
  end

  def reason(problem)
    detail(problem, Google::Rpc::ErrorInfo)&.reason
  end

  def retry_s(problem)
    delay = detail(problem, Google::Rpc::RetryInfo)&.retry_delay
    delay ? delay.seconds + delay.nanos / 1e9 : 0
  end
end

bot = Bot.new
%w[TERM INT].each { |name| trap(name) { bot.leave } }
exit Thread.new { bot.run }.value
