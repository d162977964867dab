package main

// The part that every bot needs: it dials the server, says who it is, answers each envelope with one of its own, comes
// back when the stream is lost, and leaves politely. What is said is told in arena.proto and, with examples, in
// docs/reference/protocol.md.
//
//	CUTPURSE_SERVER             where to dial: host:port, https://host:port (TLS) or unix:/path; else 127.0.0.1:7777
//	CUTPURSE_TOKEN              what lets the bot in, where a server asks for it
//	CUTPURSE_CA                 a file of certificates to trust the server by; else the system's
//	CUTPURSE_BOT                its name in the rankings; else the language's
//	CUTPURSE_VERSION            another version is another entry there; else 1
//	CUTPURSE_LADDER             where it plays, GAME/LADDER, comma-separated; else every ladder of every game
//	CUTPURSE_RECONNECT_TIMEOUT  seconds without a server until it exits; no limit if not set
//	CUTPURSE_TRUST              hosts besides the server's that it may be sent to, comma-separated; .example.org: all below it
//
// What of these makes no sense is told in a line: exit code 2, and 6 for a token. A server whose certificate is not
// trusted: 6. One that lets the bot in no more: 1.
//
// SIGTERM, Ctrl-C, or a terminal that is closed: it plays its open matches to the end and leaves. A second SIGTERM or
// Ctrl-C ends it at once. Under nohup a terminal may be closed.

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand"
	"net"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "cutpurse/v1"
)

const (
	maxTables        = 16
	firstWait        = 500 * time.Millisecond // before the second attempt; doubled for each that follows
	longestWait      = 10 * time.Second
	unknownHeartbeat = 15 * time.Second // until Welcome has said what it is
	homeAfter        = 10 * time.Second // without a server until its ladders are looked for at others
)

// Chooser returns the position in decision.Options of what the bot does; seat is its own.
type Chooser func(decision *pb.Decision, catalogue *pb.Catalogue, seat int) int

// table is a seat at one match.
type table struct {
	start     *pb.MatchStarted
	catalogue *pb.Catalogue
	safe      uint32 // the safe option of the decision that was put last
}

// shared is what one process knows: who it is, and the servers that it plays at, which are several where they share the
// ladders of a league.
type shared struct {
	choose   Chooser
	name     string
	home     string // the server that the environment names
	token    string
	trusted  []string         // other hosts that it may be sent to
	games    []*pb.GameWanted // with their ladders; none: all
	options  []grpc.DialOption
	patience float64    // seconds without a server
	thinking sync.Mutex // choose has one decision at a time
	exit     chan int   // the exit code, when it has left all servers

	mu      sync.Mutex // a signal comes at any time; it guards the last part of each bot, too
	bots    map[*bot]bool
	refused map[string]bool // addresses that it does not dial
	leaving bool
}

// bot is the bot at one server. All of it belongs to one goroutine, but what comes after catalogues.
type bot struct {
	*shared
	session    *pb.Welcome // what is needed to resume; nil: nothing
	tables     map[uint32]*table
	lastHeard  time.Time                // of the server
	comeBack   time.Duration            // if the server has said how long to stay away
	catalogues map[string]*pb.Catalogue // by digest: fetched once

	server   string
	stream   pb.ArenaService_PlayClient
	cancel   context.CancelFunc // of the stream
	received uint32             // the last envelope that was dealt with
	share    uint32             // tables that it has asked for
	wasIn    bool               // a server has let it in
	hurry    chan struct{}      // holds something if a wait is to end early
}

// Run plays on the server that the environment names until the bot is told to leave, and returns the exit code.
func Run(language string, choose Chooser) int {
	b := &shared{
		choose:  choose,
		name:    environment("CUTPURSE_BOT", language),
		home:    environment("CUTPURSE_SERVER", "127.0.0.1:7777"),
		token:   strings.TrimSpace(os.Getenv("CUTPURSE_TOKEN")),
		exit:    make(chan int, 1),
		bots:    map[*bot]bool{},
		refused: map[string]bool{},
	}
	log.SetFlags(0)
	log.SetPrefix(b.name + ": ")
	here := parse(b.home)
	if here == nil {
		log.Printf("CUTPURSE_SERVER %q is no address: it is host:port, with TLS https://host:port, or unix:/path", b.home)
		return 2
	}
	if !printable.MatchString(b.token) {
		log.Print("CUTPURSE_TOKEN holds no token")
		return 6
	}
	if b.token != "" && !here.isSecure && !here.isLocal() {
		log.Printf("a token could be read on the way to %s; with TLS, its address is https://%[1]s", b.home)
		return 6
	}
	var err error
	b.patience, err = strconv.ParseFloat(environment("CUTPURSE_RECONNECT_TIMEOUT", "inf"), 64)
	if err != nil || math.IsNaN(b.patience) {
		log.Printf("CUTPURSE_RECONNECT_TIMEOUT %q is not a number of seconds", os.Getenv("CUTPURSE_RECONNECT_TIMEOUT"))
		return 2
	}
	if b.games, err = gamesWanted(os.Getenv("CUTPURSE_LADDER")); err != nil {
		log.Print(err)
		return 2
	}
	if b.options, err = dialOptions(here); err != nil {
		log.Print(err)
		return 2
	}
	for _, host := range strings.Split(strings.ToLower(os.Getenv("CUTPURSE_TRUST")), ",") {
		if host = strings.TrimSpace(host); host != "" {
			b.trusted = append(b.trusted, host)
		}
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	if !signal.Ignored(syscall.SIGHUP) { // as it is under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	signal.Ignore(syscall.SIGPIPE) // what nobody can read any more is lost, and nothing else
	go func() {
		for told := range signals {
			if told != syscall.SIGHUP || !b.isLeaving() { // a shell and the system may both send it
				b.leave()
			}
		}
	}()
	b.mu.Lock()
	b.playAt(b.home)
	b.mu.Unlock()
	return <-b.exit
}

func environment(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

var (
	aLadder   = regexp.MustCompile(`^([^/\s]+)/([^/\s]+)$`)
	aSocket   = regexp.MustCompile(`^unix:([^\x00-\x1f\x7f?#%,]+)$`)
	anAddress = regexp.MustCompile(
		`^(https://)?((?:[\w-]{1,63}\.)*[\w-]{1,63}|\[[\da-fA-F:.]+\]):([1-9]\d{0,4})$`)
	ipv4Like  = regexp.MustCompile(`(^|\.)(\d+|0x[\da-f]*)$`) // 127.1 and 0x7f000001, too, are read as one of IPv4
	printable = regexp.MustCompile(`^[!-~]*$`)                // what a header may hold
)

// gamesWanted makes of GAME/LADDER,GAME/LADDER what Hello says: each game once, with its ladders.
func gamesWanted(ladders string) ([]*pb.GameWanted, error) {
	var games []*pb.GameWanted
	byName := map[string]*pb.GameWanted{}
	for _, one := range strings.FieldsFunc(ladders, func(sign rune) bool { return sign == ',' }) {
		parts := aLadder.FindStringSubmatch(strings.TrimSpace(one))
		if parts == nil {
			return nil, fmt.Errorf(
				"CUTPURSE_LADDER %q is no ladder: it is GAME/LADDER, such as greed/duel, several with commas between", one)
		}
		if byName[parts[1]] == nil {
			byName[parts[1]] = &pb.GameWanted{Game: parts[1]}
			games = append(games, byName[parts[1]])
		}
		byName[parts[1]].Ladders = append(byName[parts[1]].Ladders, parts[2])
	}
	return games, nil
}

// address is the parts of a server's address.
type address struct {
	host     string // in lower case and without brackets; none for a socket
	target   string // what gRPC dials
	isSecure bool
}

// parse takes host:port, https://host:port or unix:/path; anything else is nil. gRPC would read it as a URI, and so might
// dial another host than the one that is looked at here.
func parse(server string) *address {
	if aSocket.MatchString(server) && !strings.HasPrefix(server, "unix://") {
		return &address{target: server}
	}
	parts := anAddress.FindStringSubmatch(server)
	if parts == nil || len(parts[2]) > 253 {
		return nil
	}
	host := strings.ToLower(strings.Trim(parts[2], "[]"))
	if port, err := strconv.Atoi(parts[3]); err != nil || port > 65535 {
		return nil
	}
	if (parts[2][0] == '[' || ipv4Like.MatchString(host)) && net.ParseIP(host) == nil {
		return nil
	}
	if (parts[2][0] == '[') != strings.Contains(host, ":") {
		return nil
	}
	return &address{host, "passthrough:///" + parts[2] + ":" + parts[3], parts[1] != ""}
}

// isLocal tells whether what is sent there stays on this machine.
func (a *address) isLocal() bool {
	return a.host == "" || a.host == "localhost" || net.ParseIP(a.host).IsLoopback()
}

func dialOptions(server *address) ([]grpc.DialOption, error) {
	if !server.isSecure {
		// Debian's grpc-go is older than what is recommended instead: WithTransportCredentials(insecure.NewCredentials()).
		return []grpc.DialOption{grpc.WithInsecure(), grpc.WithNoProxy()}, nil
	}
	trust := credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	if file := os.Getenv("CUTPURSE_CA"); file != "" {
		var err error
		if trust, err = credentials.NewClientTLSFromFile(file, ""); err != nil {
			return nil, fmt.Errorf("CUTPURSE_CA %s: %w", file, err)
		}
	}
	return []grpc.DialOption{grpc.WithTransportCredentials(trust), grpc.WithNoProxy()}, nil
}

// distrust says why it does not dial an address that a server names; nothing, if it does. What listens there gets the
// token.
func (s *shared) distrust(server string) string {
	here, there := parse(s.home), parse(server)
	if server == s.home {
		return ""
	}
	if there == nil || there.host == "" {
		return "what it names is no address of a server"
	}
	isOurs := there.host == here.host
	for _, name := range s.trusted {
		isOurs = isOurs || there.host == name || strings.HasPrefix(name, ".") && strings.HasSuffix(there.host, name)
	}
	switch {
	case !isOurs:
		return fmt.Sprintf(
			"%s would get the token; if that host is of the same league: CUTPURSE_TRUST=%s", server, there.host)
	case there.isSecure != here.isSecure, s.token != "" && !there.isSecure && !there.isLocal():
		return server + " would get the token without TLS"
	}
	return ""
}

// playAt begins to play at a server, beside the others. For who holds mu.
func (s *shared) playAt(server string) {
	b := &bot{
		shared:     s,
		server:     server,
		tables:     map[uint32]*table{},
		catalogues: map[string]*pb.Catalogue{},
		lastHeard:  time.Now(),
		hurry:      make(chan struct{}, 1),
	}
	s.bots[b] = true
	go func() {
		code, isLost := b.playOn()
		s.ended(b, code, isLost)
	}()
}

// ended leaves a server; the last one ends the program. Where that one is lost, the Welcome of another tells where its
// ladders are.
func (s *shared) ended(b *bot, code int, isLost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.bots, b)
	if len(s.bots) == 0 {
		s.exit <- code
		return
	}
	if code != 0 && !isLost {
		s.refused[b.server] = true
	}
	for other := range s.bots {
		if isLost && other.stream != nil {
			other.cancel()
			return
		}
	}
}

// isAt tells whether it plays at this server. For who holds mu.
func (s *shared) isAt(server string) bool {
	for b := range s.bots {
		if b.server == server {
			return true
		}
	}
	return false
}

// dialToo plays on the ladders of another server of the league, too, unless that is done already.
func (s *shared) dialToo(there *pb.LadderElsewhere) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving || len(s.bots) >= maxTables || s.refused[there.Address] || s.isAt(there.Address) {
		return
	}
	if why := s.distrust(there.Address); why != "" {
		s.refused[there.Address] = true
		log.Printf("does not play on ladder %s: %s", there.Ladder, why)
		return
	}
	s.playAt(there.Address)
}

// dial has the bot play at another server from now on. If it plays there already, it tells so.
func (b *bot) dial(server string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for other := range b.bots {
		if other != b && other.server == server {
			return false
		}
	}
	b.server, b.session, b.tables, b.lastHeard = server, nil, map[uint32]*table{}, time.Now()
	return true
}

// playOn plays; a stream that is lost is resumed, and a server that is away is waited for. It returns the exit code, and
// whether the server is lost while others are not.
func (b *bot) playOn() (code int, isLost bool) {
	chance := rand.New(rand.NewSource(time.Now().UnixNano())) // else all bots would come back at the same moment
	wait, trouble := firstWait, ""
	for {
		began := time.Now()
		end := b.play()
		isForgotten := end.Code() == codes.NotFound && b.session != nil // too late to resume: begin anew
		if isForgotten {
			b.session, b.tables = nil, map[uint32]*table{}
		}
		if b.isLeaving() && (end.Code() == codes.OK || len(b.tables) == 0) {
			return 0, false
		}
		if isUntrusted(end) {
			log.Printf("the server at %s has a certificate that is not trusted here, or of another name (%s); "+
				"if its operator gave you the certificate of who signed it, name the file in CUTPURSE_CA", b.server, end.Message())
			return 6, false
		}
		if b.lastHeard.After(began) { // it had let the bot in
			wait = firstWait
		}
		there := elsewhere(end)
		if there != "" { // another server of the league has all of its ladders
			if why := b.distrust(there); why != "" {
				log.Printf("the server at %s sends the bot elsewhere: %s", b.server, why)
				return 6, false
			}
			log.Printf("the server at %s sends the bot to %s", b.server, there)
			if !b.dial(there) {
				return 0, false
			}
		} else if !isForgotten && !canGetBetter(end.Code()) { // another version, no good token, or a newer stream of this name
			log.Printf("the server does not let this bot play: %s", end.Message())
			return 1, false
		}
		if there == "" && end.Message() != trouble {
			trouble = end.Message()
			log.Printf("away from %s: %s", b.server, trouble)
		}
		if isForgotten { // by a server that is there: it waits for Hello
			wait = firstWait
			continue
		}
		pause := time.Duration(float64(wait) * (0.5 + chance.Float64()/2))
		if said := retryDelay(end); pause < said {
			pause = said
		}
		if pause < b.comeBack {
			pause = b.comeBack
		}
		b.comeBack = 0
		if time.Since(b.lastHeard).Seconds()+pause.Seconds() > b.patience {
			log.Printf("no server at %s for %g s", b.server, b.patience)
			return 1, false
		}
		if time.Since(b.lastHeard) > homeAfter { // its ladders may be at another one by now
			b.mu.Lock()
			others := len(b.bots) - 1
			b.mu.Unlock()
			if others > 0 {
				log.Printf("no server at %s", b.server)
				return 1, true
			}
			b.dial(b.home)
		}
		select {
		case <-time.After(pause):
		case <-b.hurry:
		}
		if wait *= 2; wait > longestWait {
			wait = longestWait
		}
	}
}

// isUntrusted tells whether who listens there has shown a certificate that is not trusted: waiting does not help.
func isUntrusted(end *status.Status) bool {
	return end.Code() == codes.Unavailable && strings.Contains(end.Message(), "x509: ") // grpc-go keeps the text alone
}

func canGetBetter(code codes.Code) bool {
	switch code {
	case codes.OK, codes.Unavailable, codes.Canceled, codes.Internal, codes.Unknown, codes.ResourceExhausted:
		return true
	}
	return false
}

// retryDelay is how long the server wants the bot to wait, 0 if it has not said.
func retryDelay(end *status.Status) time.Duration {
	for _, detail := range end.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return 0
}

// elsewhere is where the server sends this bot, if another one of the league plays all of its ladders.
func elsewhere(end *status.Status) string {
	for _, detail := range end.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.Reason == "ELSEWHERE" {
			return info.Metadata["address"]
		}
	}
	return ""
}

// play holds one stream, from Hello to its end, and returns how it ended.
func (b *bot) play() *status.Status {
	conn, err := grpc.Dial(parse(b.server).target, b.options...)
	if err != nil {
		return status.Convert(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if b.token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+b.token)
	}
	silence := time.AfterFunc(b.mostSilence(), cancel) // a server that says nothing for two heartbeats is lost
	defer silence.Stop()
	stream, err := pb.NewArenaServiceClient(conn).Play(ctx)
	if err != nil {
		return status.Convert(err)
	}
	b.open(stream, cancel)
	defer b.open(nil, nil)
	for {
		envelope, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return status.New(codes.OK, "the stream has ended")
		} else if ctx.Err() != nil {
			return status.New(codes.Unavailable, "the server has said nothing for two heartbeats, or is asked anew")
		} else if err != nil {
			return status.Convert(err)
		}
		silence.Stop() // while it is the bot that is waited for
		b.lastHeard = time.Now()
		b.letIn()
		answer, err := b.react(ctx, pb.NewGameServiceClient(conn), envelope)
		if err != nil {
			return status.Convert(err)
		}
		b.send(answer)
		silence.Reset(b.mostSilence())
	}
}

func (b *bot) mostSilence() time.Duration {
	if b.session == nil {
		return 2 * unknownHeartbeat
	}
	return 2 * time.Duration(b.session.HeartbeatMs) * time.Millisecond
}

// open makes this the stream that the bot speaks on, and says Hello before anything else; nil: there is none.
func (b *bot) open(stream pb.ArenaService_PlayClient, cancel context.CancelFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stream, b.cancel = stream, cancel
	if stream == nil {
		return
	}
	b.share = b.tablesEach()
	hello := &pb.Hello{
		ProtocolMajor: 1,
		Sdk:           "cutpurse-go-sample",
		Bot:           b.name,
		Version:       environment("CUTPURSE_VERSION", "1"),
		MaxTables:     b.share,
		Games:         b.games,
	}
	if b.session != nil {
		hello.Resume = &pb.Resume{Session: b.session.Session, Secret: b.session.ResumeSecret}
	}
	b.sendLocked(&pb.PlayRequest{Hello: hello})
}

// tablesEach is how many tables it asks for at each server. For who holds mu.
func (s *shared) tablesEach() uint32 {
	return uint32(maxTables / len(s.bots))
}

// letIn notes that the server has spoken: from then on the bot may sit at tables.
func (b *bot) letIn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wasIn = true
}

// send sends one envelope. If that fails the stream is broken, and the next Recv tells why.
func (b *bot) send(request *pb.PlayRequest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sendLocked(request)
}

// sendLocked is for who holds mu.
func (b *bot) sendLocked(request *pb.PlayRequest) {
	b.received = request.Received
	request.Leaving = b.leaving
	if each := b.tablesEach(); request.Hello == nil && each != b.share {
		b.share = each
		request.MaxTables = &each
	}
	_ = b.stream.Send(request)
}

func (s *shared) isLeaving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaving
}

// leave tells the servers that the bot wants no new matches. The second time the process ends at once.
func (s *shared) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving {
		os.Exit(130)
	}
	wasIn := false
	for b := range s.bots {
		wasIn = wasIn || b.wasIn
	}
	if !wasIn {
		os.Exit(0) // it sits nowhere
	}
	s.leaving = true
	for b := range s.bots {
		b.hurry <- struct{}{}
		if b.stream != nil {
			_ = b.stream.Send(&pb.PlayRequest{Received: b.received, Leaving: true})
		}
	}
}

// react makes of one envelope the one that is sent back. Its lists are read in the order of their fields.
func (b *bot) react(ctx context.Context, games pb.GameServiceClient, from *pb.PlayResponse) (*pb.PlayRequest, error) {
	back := &pb.PlayRequest{Received: from.Envelope}
	if welcome := from.Welcome; welcome != nil {
		if !welcome.Resumed {
			b.tables = map[uint32]*table{}
		}
		b.session = welcome
		log.Printf("plays at %s (%s), %d tables", b.server, welcome.Server, welcome.MaxTables)
		for _, there := range welcome.Elsewhere {
			b.dialToo(there)
		}
	}
	for _, refusal := range from.Refusals {
		at := b.tables[refusal.Table]
		switch refusal.Reason {
		case pb.RefusalReason_REFUSAL_REASON_STALE, pb.RefusalReason_REFUSAL_REASON_ALREADY_DECIDED:
			continue // harmless
		case pb.RefusalReason_REFUSAL_REASON_ILLEGAL:
			if refusal.CorrectionsLeft > 0 && at != nil {
				back.Answers = append(back.Answers, answer(refusal.Table, refusal.Decision, at.safe))
			}
		}
		log.Print(refusal.Text)
	}
	for _, start := range from.Starts {
		catalogue, err := b.catalogueOf(ctx, games, start)
		if err != nil {
			return nil, err // asked again when the match is told again
		}
		b.tables[start.Table] = &table{start: start, catalogue: catalogue}
	}
	for _, decision := range from.Decisions {
		at := b.tables[decision.Table]
		if at == nil {
			return nil, status.Errorf(codes.Internal, "table %d is asked before it has started", decision.Table)
		}
		at.safe = decision.SafeOption
		option, err := b.think(decision, at)
		if err != nil { // the safe option is taken at once, which is better than to let time run out
			giveUp := &pb.GiveUp{Table: decision.Table, Decision: decision.Decision, Reason: err.Error()}
			back.GiveUps = append(back.GiveUps, giveUp)
		} else {
			back.Answers = append(back.Answers, answer(decision.Table, decision.Decision, option))
		}
	}
	for _, end := range from.Ends {
		if at := b.tables[end.Table]; at != nil { // else it is told once more, after a resume
			tell(at.start, end)
			delete(b.tables, end.Table)
		}
	}
	if from.Drain != nil {
		b.comeBack = time.Duration(from.Drain.ReconnectAfterMs) * time.Millisecond
	}
	for _, problem := range from.Problems {
		log.Print(problem.Text)
	}
	return back, nil
}

func answer(table, decision, option uint32) *pb.Answer {
	return &pb.Answer{Table: table, Decision: decision, Option: &option}
}

// think asks the bot; whatever goes wrong in there is an error.
func (b *bot) think(decision *pb.Decision, at *table) (option uint32, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			log.Printf("%v\n%s", fault, debug.Stack())
			err = fmt.Errorf("%v", fault)
		}
	}()
	b.thinking.Lock()
	defer b.thinking.Unlock()
	return uint32(b.choose(decision, at.catalogue, int(at.start.Seat))), nil
}

// catalogueOf says what the numbers of a match mean.
func (b *bot) catalogueOf(
	ctx context.Context, games pb.GameServiceClient, start *pb.MatchStarted,
) (*pb.Catalogue, error) {
	if known, ok := b.catalogues[start.CatalogueDigest]; ok {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*unknownHeartbeat)
	defer cancel()
	wanted := &pb.GetGameRequest{Game: start.Game, Seats: uint32(len(start.Seats)), Settings: start.Settings}
	got, err := games.GetGame(ctx, wanted)
	if err != nil {
		return nil, status.Errorf(codes.Unavailable, "no catalogue of %s: %v", start.Game, err)
	}
	b.catalogues[start.CatalogueDigest] = got.Catalogue
	return got.Catalogue, nil
}

func tell(start *pb.MatchStarted, end *pb.MatchEnded) {
	if end.Voided {
		fmt.Printf("%s %s is void\n", start.Match, start.Game)
		return
	}
	own := end.Seats[start.Seat]
	fmt.Printf("%s %s place %d of %d, score %d\n", start.Match, start.Game, own.Place, len(end.Seats), own.Score)
}
