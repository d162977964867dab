import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import com.google.rpc.RetryInfo;
import cutpurse.v1.Arena.Answer;
import cutpurse.v1.Arena.Decision;
import cutpurse.v1.Arena.GameWanted;
import cutpurse.v1.Arena.GiveUp;
import cutpurse.v1.Arena.Hello;
import cutpurse.v1.Arena.LadderElsewhere;
import cutpurse.v1.Arena.MatchEnded;
import cutpurse.v1.Arena.MatchStarted;
import cutpurse.v1.Arena.PlayRequest;
import cutpurse.v1.Arena.PlayResponse;
import cutpurse.v1.Arena.Problem;
import cutpurse.v1.Arena.Refusal;
import cutpurse.v1.Arena.Resume;
import cutpurse.v1.Arena.Welcome;
import cutpurse.v1.ArenaServiceGrpc;
import cutpurse.v1.Game.Catalogue;
import cutpurse.v1.Game.GetGameRequest;
import cutpurse.v1.GameServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import sun.misc.Signal;

/**
 * The part that every bot needs: it dials the server, says who it is, answers each envelope with one of its own,
 * comes back when the stream is lost, and leaves politely. What is said is told in arena.proto and, with examples, in
 * docs/reference/protocol.md.
 *
 * <pre>
 * CUTPURSE_SERVER             where to dial: host:port, https://host:port (TLS) or unix:/path; else 127.0.0.1:7777
 * CUTPURSE_TOKEN              what lets the bot in, where a server asks for it
 * CUTPURSE_CA                 a file of certificates to trust the server by; else those that Java trusts
 * CUTPURSE_BOT                its name in the rankings; else the language's
 * CUTPURSE_VERSION            another version is another entry there; else 1
 * CUTPURSE_LADDER             where it plays, GAME/LADDER, comma-separated; else every ladder of every game
 * CUTPURSE_RECONNECT_TIMEOUT  seconds without a server until it exits; no limit if not set
 * CUTPURSE_TRUST              hosts besides the server's that it may be sent to, comma-separated; .example.org: all below it
 * </pre>
 *
 * What of these makes no sense is told in a line: exit code 2, and 6 for a token. A server whose certificate is not
 * trusted: 6. One that lets the bot in no more: 1.
 *
 * <p>SIGTERM, Ctrl-C, or a terminal that is closed: it plays its open matches to the end and leaves. A second SIGTERM
 * or Ctrl-C ends it at once. Under nohup a terminal may be closed.
 */
final class Arena {
  private static final int MAX_TABLES = 16;
  private static final long FIRST_WAIT_MS = 500; // before the second attempt; doubled for each that follows
  private static final long LONGEST_WAIT_MS = 10_000;
  private static final int MAX_ADDRESS = 4_096; // characters
  private static final String ADDRESSES = "it is host:port, with TLS https://host:port, or unix:/path";
  private static final String LADDERS = "it is GAME/LADDER, such as greed/duel, several with commas between";
  private static final long HOME_MS = 10_000; // without a server until its ladders are looked for at others
  private static final Pattern A_SOCKET = Pattern.compile("unix:(?!//)([^\\x00-\\x1f\\x7f?#%,]+)");
  private static final Pattern AN_ADDRESS =
      Pattern.compile(
          "(https://)?((?:[\\w-]{1,63}\\.)*[\\w-]{1,63}|\\[([\\da-fA-F:.]+)]):([1-9]\\d{0,4})");
  private static final Pattern A_NUMBER = // 127.1 and 0x7f000001, too, are read as an address of IPv4
      Pattern.compile("(?:.*\\.)?(?:\\d+|0x[\\da-f]*)");
  private static final int UNKNOWN_HEARTBEAT_MS = 15_000; // until Welcome has said what it is

  /** What thinks. */
  interface Chooser {
    /** Returns the position in the decision's options of what the bot does; seat is its own. */
    int choose(Decision decision, Catalogue catalogue, int seat) throws Exception;
  }

  /** A seat at one match. */
  private static final class Table {
    final MatchStarted start;
    final Catalogue catalogue;
    int safe; // the safe option of the decision that was put last

    Table(MatchStarted start, Catalogue catalogue) {
      this.start = start;
      this.catalogue = catalogue;
    }
  }

  private static final Logger GRPC = Logger.getLogger("io.grpc"); // kept here, or its level would be forgotten

  /** What the bot is at all servers, which are several where they share the ladders of a league. */
  private static final class Shared {
    final Chooser chooser;
    final String name;
    final String home = environment("CUTPURSE_SERVER", "127.0.0.1:7777");
    final String token = environment("CUTPURSE_TOKEN", "").strip();
    final NioEventLoopGroup network = new NioEventLoopGroup(1); // a thread
    final Map<String, GameWanted.Builder> games = new LinkedHashMap<>(); // by name, with their ladders; none: all
    Tls trust; // null: without TLS
    double patience; // seconds without a server

    // For who holds the lock of this.
    final Set<Arena> arenas = new LinkedHashSet<>();
    final Set<String> refused = new HashSet<>(); // addresses that it does not dial
    boolean leaving;
    int exitCode; // of the last one that has ended

    Shared(String language, Chooser chooser) {
      this.chooser = chooser;
      this.name = environment("CUTPURSE_BOT", language);
    }

    void say(String format, Object... arguments) {
      System.err.println(name + ": " + String.format(format, arguments));
    }

    /** Notes that this ladder is to be played on: false, if it is none. */
    boolean wants(String ladder) {
      if (!ladder.matches("[^/\\s]+/[^/\\s]+")) {
        return false;
      }
      String[] names = ladder.split("/");
      games.computeIfAbsent(names[0], game -> GameWanted.newBuilder().setGame(game)).addLadders(names[1]);
      return true;
    }

    /** Says why it does not dial what a server names; nothing, if it does: what listens there gets the token. */
    String distrust(String server) {
      Address there = Address.parse(server);
      Address here = Address.parse(home);
      String names = environment("CUTPURSE_TRUST", "").toLowerCase(Locale.ROOT);
      Stream<String> trusted = Stream.of(names.split(",")).map(String::strip).filter(name -> !name.isEmpty());
      if (server.equals(home)) {
        return "";
      }
      if (there == null || there.path() != null) {
        return "what it names is no address of a server";
      }
      String host = there.host();
      boolean isOurs =
          host.equals(here.host())
              || trusted.anyMatch(name -> host.equals(name) || (name.startsWith(".") && host.endsWith(name)));
      if (!isOurs) {
        return server + " would get the token; if that host is of the same league: CUTPURSE_TRUST=" + host;
      }
      boolean isAsSecure = there.isSecure() == here.isSecure();
      return isAsSecure && (token.isEmpty() || there.isSafe()) ? "" : server + " would get the token without TLS";
    }

    /** Plays at a server, beside the others, in a thread. */
    synchronized void playAt(String server) {
      Arena arena = new Arena(this, server);
      arenas.add(arena);
      new Thread(arena::run, server).start();
    }

    /** Plays on the ladders of another server, too, unless that is done already. */
    synchronized void dialToo(LadderElsewhere there) {
      String server = there.getAddress();
      boolean isThere = arenas.stream().anyMatch(arena -> arena.server.equals(server));
      if (leaving || isThere || arenas.size() >= MAX_TABLES || refused.contains(server)) {
        return;
      }
      String why = distrust(server);
      if (why.isEmpty()) {
        playAt(server);
      } else {
        refused.add(server);
        say("does not play on ladder %s: %s", there.getLadder(), why);
      }
    }

    /** Leaves a server. Where that one is lost, the Welcome of another tells where its ladders are. */
    synchronized void ended(Arena arena, int code, boolean isLost) {
      arenas.remove(arena);
      exitCode = code;
      notifyAll();
      if (isLost) {
        arenas.stream().filter(other -> other.stream != null).findFirst().ifPresent(Arena::askAnew);
      } else if (code != 0) {
        refused.add(arena.server);
      }
    }

    /** Waits until it has left all servers; returns the exit code. */
    synchronized int join() throws InterruptedException {
      while (!arenas.isEmpty()) {
        wait();
      }
      return exitCode;
    }

    /** Returns how many tables it asks for at each server. */
    synchronized int tablesEach() {
      return MAX_TABLES / Math.max(1, arenas.size());
    }

    /** Tells the servers that the bot wants no new matches. The second time the process ends at once. */
    synchronized void leave(String signal) {
      if (leaving && signal.equals("HUP")) {
        return; // a shell and the system may both send it
      }
      if (leaving) {
        Runtime.getRuntime().halt(130);
      }
      if (arenas.stream().noneMatch(arena -> arena.wasIn)) {
        Runtime.getRuntime().halt(0); // it sits nowhere
      }
      leaving = true;
      arenas.forEach(Arena::leave);
    }

    synchronized boolean isLeaving() {
      return leaving;
    }
  }

  private final Shared bot;
  private volatile String server;
  private Welcome session; // what is needed to resume; null: nothing
  private final Map<Integer, Table> tables = new HashMap<>();
  private final Map<String, Catalogue> catalogues = new HashMap<>(); // by digest: fetched once
  private Instant lastHeard = Instant.now(); // of the server
  private long comeBackMs; // if the server has said how long to stay away
  private volatile BlockingQueue<Object> inbox; // of this stream: envelopes, and in the end a status

  // What a signal, which comes at any time, looks at too: for who holds the lock of bot.
  private StreamObserver<PlayRequest> stream; // null: there is none
  private int received; // the last envelope that was dealt with
  private int share; // tables that it has asked for
  private boolean wasIn; // the server has let it in
  private final Semaphore hurry = new Semaphore(0); // there is one if a wait is to end early

  private Arena(Shared bot, String server) {
    this.bot = bot;
    this.server = server;
  }

  /** Plays on the server that the environment names until the bot is told to leave; returns the exit code. */
  static int run(String language, Chooser chooser) throws InterruptedException {
    Shared bot = new Shared(language, chooser);
    Address home = Address.parse(bot.home);
    if (home == null) {
      bot.say("CUTPURSE_SERVER '%s' is no address: %s", bot.home, ADDRESSES);
      return 2;
    }
    if (!bot.token.matches("[!-~]*")) { // what a header may hold
      bot.say("CUTPURSE_TOKEN holds no token");
      return 6;
    }
    if (!bot.token.isEmpty() && !home.isSafe()) {
      bot.say("a token could be read on the way to %s; with TLS, its address is https://%1$s", bot.home);
      return 6;
    }
    bot.patience = number(environment("CUTPURSE_RECONNECT_TIMEOUT", "Infinity"));
    if (Double.isNaN(bot.patience)) {
      bot.say(
          "CUTPURSE_RECONNECT_TIMEOUT '%s' is not a number of seconds", System.getenv("CUTPURSE_RECONNECT_TIMEOUT"));
      return 2;
    }
    for (String one : environment("CUTPURSE_LADDER", "").split(",")) {
      if (!one.isEmpty() && !bot.wants(one.strip())) {
        bot.say("CUTPURSE_LADDER '%s' is no ladder: %s", one, LADDERS);
        return 2;
      }
    }
    if (home.isSecure()) {
      try {
        bot.trust = new Tls(environment("CUTPURSE_CA", ""));
      } catch (IOException | GeneralSecurityException problem) {
        bot.say("CUTPURSE_CA: %s", problem.getMessage());
        return 2;
      }
    }
    GRPC.setLevel(Level.OFF); // what it has to say comes as a status too
    for (String signal : new String[] {"TERM", "INT", "HUP"}) {
      try {
        Signal.handle(new Signal(signal), caught -> bot.leave(signal)); // does nothing if it is ignored, as under nohup
      } catch (IllegalArgumentException unknown) {
        // Windows has no HUP
      }
    }
    bot.playAt(bot.home);
    return bot.join();
  }

  private static String environment(String name, String otherwise) {
    String value = System.getenv(name);
    return value == null || value.isEmpty() ? otherwise : value;
  }

  private static double number(String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException none) {
      return Double.NaN;
    }
  }

  /** The parts of a server's address: its host in lower case, and what gRPC dials; or the path of a socket. */
  private record Address(String host, String target, boolean isSecure, String path) {
    /**
     * Takes host:port, https://host:port or unix:/path; anything else is null. gRPC would read it as a URI, and so might
     * dial another host than the one that is looked at here.
     */
    static Address parse(String server) {
      if (server.length() > MAX_ADDRESS) { // Java's patterns go deep
        return null;
      }
      Matcher socket = A_SOCKET.matcher(server);
      if (socket.matches()) {
        return new Address("", "", false, socket.group(1));
      }
      Matcher parts = AN_ADDRESS.matcher(server);
      if (!parts.matches() || parts.group(2).length() > 253 || Integer.parseInt(parts.group(4)) > 65_535) {
        return null;
      }
      String six = parts.group(3);
      String host = (six == null ? parts.group(2) : six).toLowerCase(Locale.ROOT);
      boolean isNumber = A_NUMBER.matcher(host).matches();
      if (six != null ? !NetUtil.isValidIpV6Address(host) : isNumber && !isIpV4(host)) {
        return null;
      }
      return new Address(host, "dns:///" + parts.group(2) + ":" + parts.group(4), parts.group(1) != null, null);
    }

    private static boolean isIpV4(String host) {
      return NetUtil.isValidIpV4Address(host) && !host.matches("(?:.*\\.)?0\\d.*"); // 010 may be read as 8
    }

    /** Whether nobody can read what is sent on its way. */
    boolean isSafe() {
      boolean isLoopback = host.startsWith("127.") && isIpV4(host);
      return isSecure || path != null || isLoopback || host.equals("localhost") || host.equals("::1");
    }
  }

  private void say(String format, Object... arguments) {
    bot.say(format, arguments);
  }

  /** Plays until it has left this server, or is not let in. */
  private void run() {
    int code = 1;
    try {
      code = playOn();
    } catch (InterruptedException never) {
      Thread.currentThread().interrupt();
    } finally {
      bot.ended(this, Math.abs(code), code < 0);
    }
  }

  /**
   * Plays; a stream that is lost is resumed, and a server that is away is waited for. Returns the exit code, or -1 if the
   * server is lost while others are there.
   */
  private int playOn() throws InterruptedException {
    String trouble = "";
    for (long wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      Instant began = Instant.now();
      StatusRuntimeException end = play();
      String text = textOf(end.getStatus());
      boolean isForgotten = end.getStatus().getCode() == Status.Code.NOT_FOUND && session != null;
      if (isForgotten) { // too late to resume: begin anew
        session = null;
        tables.clear();
      }
      if (bot.isLeaving() && (end.getStatus().isOk() || tables.isEmpty())) {
        return 0;
      }
      CertificateException distrust = distrustIn(end.getStatus());
      if (distrust != null) {
        say(
            "the server at %s has a certificate that is not trusted here, or of another name (%s); "
                + "if its operator gave you the certificate of who signed it, name the file in CUTPURSE_CA",
            server, distrust.getMessage());
        return 6;
      }
      if (lastHeard.isAfter(began)) { // it had let the bot in
        wait = FIRST_WAIT_MS;
      }
      String there = elsewhere(end);
      if (there != null) { // another server of the league has all of its ladders
        String why = bot.distrust(there);
        if (!why.isEmpty()) {
          say("the server at %s sends the bot elsewhere: %s", server, why);
          return 6;
        }
        if (isOtherAt(there)) {
          return 0;
        }
        say("the server at %s sends the bot to %s", server, there);
        dial(there);
      } else if (!isForgotten && !canGetBetter(end.getStatus().getCode())) {
        say("the server does not let this bot play: %s", text);
        return 1;
      }
      if (there == null && !trouble.equals(text)) {
        say("away from %s: %s", server, text);
      }
      trouble = text;
      if (isForgotten) { // by a server that is there: it waits for Hello
        wait = FIRST_WAIT_MS / 2; // doubled below
        continue;
      }
      double backoff = wait * (0.5 + ThreadLocalRandom.current().nextDouble() / 2); // so that not all come at once
      long pause = Math.max((long) backoff, Math.max(retryDelayMs(end), comeBackMs));
      comeBackMs = 0;
      if (Duration.between(lastHeard, Instant.now()).toMillis() + pause > 1000 * bot.patience) {
        say("no server at %s for %s s", server, bot.patience);
        return 1;
      }
      if (Duration.between(lastHeard, Instant.now()).toMillis() > HOME_MS) { // its ladders may be at another one by now
        if (bot.tablesEach() < MAX_TABLES) { // there are others
          say("no server at %s", server);
          return -1;
        }
        if (!server.equals(bot.home)) {
          dial(bot.home);
        }
      }
      hurry.tryAcquire(pause, TimeUnit.MILLISECONDS);
    }
  }

  /** Returns what is wrong with the certificate that the server has shown, or null. */
  private static CertificateException distrustIn(Status status) {
    for (Throwable cause = status.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof CertificateException distrust) {
        return distrust;
      }
    }
    return null;
  }

  private static String textOf(Status status) {
    String text = String.valueOf(status.getDescription());
    String whole = status.getCause() == null ? text : text + ": " + status.getCause().getMessage();
    return whole.replace('\n', ' ');
  }

  /** Whether waiting helps: not if it is another version, no good token, or a newer stream of this name. */
  private static boolean canGetBetter(Status.Code code) {
    return switch (code) {
      case OK, UNAVAILABLE, CANCELLED, INTERNAL, UNKNOWN, RESOURCE_EXHAUSTED -> true;
      default -> false;
    };
  }

  /** Returns how long the server wants the bot to wait, 0 if it has not said. */
  private static long retryDelayMs(StatusRuntimeException end) {
    try {
      for (Any detail : StatusProto.fromThrowable(end).getDetailsList()) {
        if (detail.is(RetryInfo.class)) {
          var delay = detail.unpack(RetryInfo.class).getRetryDelay();
          return 1000 * delay.getSeconds() + delay.getNanos() / 1_000_000;
        }
      }
    } catch (InvalidProtocolBufferException unknown) {
      // as if nothing was said
    }
    return 0;
  }

  /** Returns where the server sends this bot, if another one of the league plays all of its ladders, or null. */
  private static String elsewhere(StatusRuntimeException end) {
    try {
      for (Any detail : StatusProto.fromThrowable(end).getDetailsList()) {
        if (!detail.getTypeUrl().endsWith("/google.rpc.ErrorInfo")) { // which Debian's protobufs of Google lack
          continue;
        }
        var info = UnknownFieldSet.parseFrom(detail.getValue()); // 1: reason; 3: an entry of the metadata
        if (!"ELSEWHERE".equals(text(info, 1))) {
          continue;
        }
        for (ByteString entry : info.getField(3).getLengthDelimitedList()) {
          var keyAndValue = UnknownFieldSet.parseFrom(entry);
          if ("address".equals(text(keyAndValue, 1))) {
            return text(keyAndValue, 2);
          }
        }
      }
    } catch (InvalidProtocolBufferException unknown) {
      // as if nothing was said
    }
    return null;
  }

  private static String text(UnknownFieldSet fields, int number) {
    var values = fields.getField(number).getLengthDelimitedList();
    return values.isEmpty() ? null : values.get(0).toStringUtf8();
  }

  private boolean isOtherAt(String address) {
    synchronized (bot) {
      return bot.arenas.stream().anyMatch(other -> other != this && other.server.equals(address));
    }
  }

  /** Plays at another server from now on. */
  private void dial(String address) {
    server = address;
    session = null;
    tables.clear();
    lastHeard = Instant.now();
  }

  /** Has the server say Welcome once more, on another stream. */
  private void askAnew() {
    inbox.add(Status.UNAVAILABLE.withDescription("asks for its ladders anew").asRuntimeException());
  }

  private ManagedChannel channel() {
    Address there = Address.parse(server);
    if (there.path() != null) {
      return NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(there.path()))
          .channelFactory(UnixChannel::new)
          .eventLoopGroup(bot.network)
          .overrideAuthority("localhost")
          .usePlaintext()
          .build();
    }
    NettyChannelBuilder builder =
        NettyChannelBuilder.forTarget(there.target())
            .channelFactory(NioSocketChannel::new)
            .eventLoopGroup(bot.network)
            .proxyDetector(address -> null);
    return (bot.trust == null ? builder.usePlaintext() : builder.sslContext(bot.trust)).build();
  }

  /** Holds one stream, from Hello to its end; returns how it ended. */
  private StatusRuntimeException play() throws InterruptedException {
    ManagedChannel channel = channel();
    Metadata headers = new Metadata();
    if (!bot.token.isEmpty()) {
      headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + bot.token);
    }
    var withToken = MetadataUtils.newAttachHeadersInterceptor(headers);
    BlockingQueue<Object> inbox = new LinkedBlockingQueue<>();
    this.inbox = inbox;
    try {
      open(
          ArenaServiceGrpc.newStub(channel)
              .withInterceptors(withToken)
              .play(
                  new StreamObserver<PlayResponse>() {
                    @Override
                    public void onNext(PlayResponse envelope) {
                      letIn();
                      inbox.add(envelope);
                    }

                    @Override
                    public void onError(Throwable problem) {
                      inbox.add(problem);
                    }

                    @Override
                    public void onCompleted() {
                      inbox.add(Status.OK.withDescription("the stream has ended").asRuntimeException());
                    }
                  }));
      while (true) {
        int heartbeat = session == null ? UNKNOWN_HEARTBEAT_MS : session.getHeartbeatMs();
        Object next = inbox.poll(2L * heartbeat, TimeUnit.MILLISECONDS);
        if (next instanceof PlayResponse envelope) {
          lastHeard = Instant.now();
          send(react(envelope, GameServiceGrpc.newBlockingStub(channel)));
        } else if (next == null) {
          return Status.UNAVAILABLE.withDescription("two heartbeats without a word").asRuntimeException();
        } else {
          return (StatusRuntimeException) next;
        }
      }
    } catch (StatusRuntimeException problem) { // while something else was asked
      return Status.UNAVAILABLE.withDescription(problem.getMessage()).asRuntimeException();
    } finally {
      closed();
      channel.shutdownNow();
    }
  }

  private void open(StreamObserver<PlayRequest> opened) {
    synchronized (bot) {
      stream = opened;
      share = bot.tablesEach();
      Hello.Builder hello =
          Hello.newBuilder()
              .setProtocolMajor(1)
              .setSdk("cutpurse-java-sample")
              .setBot(bot.name)
              .setVersion(environment("CUTPURSE_VERSION", "1"))
              .setMaxTables(share);
      bot.games.values().forEach(hello::addGames);
      if (session != null) {
        hello.setResume(
            Resume.newBuilder().setSession(session.getSession()).setSecret(session.getResumeSecret()));
      }
      send(PlayRequest.newBuilder().setHello(hello));
    }
  }

  private void closed() {
    synchronized (bot) {
      stream = null;
    }
  }

  private void send(PlayRequest.Builder envelope) {
    synchronized (bot) {
      received = envelope.getReceived();
      if (share != bot.tablesEach()) {
        share = bot.tablesEach();
        envelope.setMaxTables(share);
      }
      stream.onNext(envelope.setLeaving(bot.leaving).build());
    }
  }

  /** The server has spoken: from now on the bot may sit at tables. */
  private void letIn() {
    synchronized (bot) {
      wasIn = true;
    }
  }

  /** Tells the server that the bot wants no new matches; for who holds the lock of bot. */
  private void leave() {
    hurry.release();
    if (stream != null) {
      send(PlayRequest.newBuilder().setReceived(received));
    }
  }

  /** Makes of one envelope the one that is sent back. Its lists are read in the order of their fields. */
  private PlayRequest.Builder react(PlayResponse envelope, GameServiceGrpc.GameServiceBlockingStub games) {
    PlayRequest.Builder back = PlayRequest.newBuilder().setReceived(envelope.getEnvelope());
    if (envelope.hasWelcome()) {
      session = envelope.getWelcome();
      if (!session.getResumed()) {
        tables.clear();
      }
      say("plays at %s (%s), %d tables", server, session.getServer(), session.getMaxTables());
      session.getElsewhereList().forEach(bot::dialToo);
    }
    for (Refusal refusal : envelope.getRefusalsList()) {
      answerAgain(refusal, back);
    }
    for (MatchStarted start : envelope.getStartsList()) {
      tables.put(start.getTable(), new Table(start, catalogueOf(start, games)));
    }
    for (Decision decision : envelope.getDecisionsList()) {
      think(decision, back);
    }
    for (MatchEnded end : envelope.getEndsList()) {
      Table table = tables.remove(end.getTable());
      if (table != null) { // else it is told once more, after a resume
        tell(table.start, end);
      }
    }
    if (envelope.hasDrain()) {
      comeBackMs = envelope.getDrain().getReconnectAfterMs();
    }
    for (Problem problem : envelope.getProblemsList()) {
      say("%s", problem.getText());
    }
    return back;
  }

  private void answerAgain(Refusal refusal, PlayRequest.Builder back) {
    switch (refusal.getReason()) {
      case REFUSAL_REASON_STALE, REFUSAL_REASON_ALREADY_DECIDED -> {} // harmless
      case REFUSAL_REASON_ILLEGAL -> {
        say("%s", refusal.getText());
        Table table = tables.get(refusal.getTable());
        if (refusal.getCorrectionsLeft() > 0 && table != null) {
          back.addAnswers(
              Answer.newBuilder()
                  .setTable(refusal.getTable())
                  .setDecision(refusal.getDecision())
                  .setOption(table.safe));
        }
      }
      default -> say("%s", refusal.getText());
    }
  }

  /** Asks the bot; if it fails the safe option is taken at once, which is better than to let time run out. */
  private void think(Decision decision, PlayRequest.Builder back) {
    int number = decision.getDecision();
    Table table = tables.get(decision.getTable());
    table.safe = decision.getSafeOption();
    try {
      int option;
      synchronized (bot.chooser) { // one decision at a time
        option = bot.chooser.choose(decision, table.catalogue, table.start.getSeat());
      }
      back.addAnswers(Answer.newBuilder().setTable(decision.getTable()).setDecision(number).setOption(option));
    } catch (Throwable problem) { // an AssertionError too, say: nobody else would take it
      problem.printStackTrace();
      back.addGiveUps(
          GiveUp.newBuilder().setTable(decision.getTable()).setDecision(number).setReason(problem.toString()));
    }
  }

  /** Returns what the numbers of a match mean. */
  private Catalogue catalogueOf(MatchStarted start, GameServiceGrpc.GameServiceBlockingStub games) {
    return catalogues.computeIfAbsent(
        start.getCatalogueDigest(),
        digest ->
            games
                .withDeadlineAfter(2 * UNKNOWN_HEARTBEAT_MS, TimeUnit.MILLISECONDS)
                .getGame(
                    GetGameRequest.newBuilder()
                        .setGame(start.getGame())
                        .setSeats(start.getSeatsCount())
                        .addAllSettings(start.getSettingsList())
                        .build())
                .getCatalogue());
  }

  private static void tell(MatchStarted start, MatchEnded end) {
    String match = start.getMatch() + " " + start.getGame();
    if (end.getVoided()) {
      System.out.println(match + " is void");
      return;
    }
    var own = end.getSeats(start.getSeat());
    System.out.printf("%s place %d of %d, score %d%n", match, own.getPlace(), end.getSeatsCount(), own.getScore());
  }
}
