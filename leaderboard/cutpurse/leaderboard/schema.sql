-- What the migrations make of an empty database. A test compares the two, and writes this file:
-- pytest --update-schema tests/leaderboard/test_schema.py
CREATE TABLE accounts (
	issuer VARCHAR NOT NULL,
	subject VARCHAR NOT NULL,
	owner_id INTEGER NOT NULL,
	linked DATETIME NOT NULL,
	CONSTRAINT fk_accounts_owner_id FOREIGN KEY(owner_id) REFERENCES owners (id),
	CONSTRAINT pk_accounts PRIMARY KEY (issuer, subject)
);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL,
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE archives (
	digest BLOB NOT NULL,
	content BLOB NOT NULL,
	CONSTRAINT pk_archives PRIMARY KEY (digest)
);
CREATE TABLE arenas (
	holder VARCHAR NOT NULL,
	address VARCHAR NOT NULL,
	until DATETIME NOT NULL,
	CONSTRAINT pk_arenas PRIMARY KEY (holder)
);
CREATE TABLE boards (
	id VARCHAR NOT NULL,
	ladder_id INTEGER NOT NULL,
	sequence INTEGER,
	epoch INTEGER,
	commitment BLOB NOT NULL,
	seed BLOB NOT NULL,
	params BLOB NOT NULL, matches INTEGER DEFAULT '1' NOT NULL, is_sealed BOOLEAN DEFAULT '0' NOT NULL, nonces VARCHAR,
	CONSTRAINT fk_boards_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT fk_boards_ladder_id_epoch FOREIGN KEY(ladder_id, epoch) REFERENCES epochs (ladder_id, number),
	CONSTRAINT pk_boards PRIMARY KEY (id),
	CONSTRAINT uq_boards_ladder_id_sequence UNIQUE (ladder_id, sequence)
);
CREATE TABLE bots (
	id INTEGER NOT NULL,
	owner_id INTEGER NOT NULL,
	name VARCHAR NOT NULL,
	CONSTRAINT fk_bots_owner_id FOREIGN KEY(owner_id) REFERENCES owners (id),
	CONSTRAINT pk_bots PRIMARY KEY (id),
	CONSTRAINT uq_bots_owner_id_name UNIQUE (owner_id, name)
);
CREATE TABLE courses (
	match_number INTEGER NOT NULL,
	courses BLOB NOT NULL,
	CONSTRAINT fk_courses_match_number FOREIGN KEY(match_number) REFERENCES matches (number),
	CONSTRAINT pk_courses PRIMARY KEY (match_number)
);
CREATE TABLE epochs (
	ladder_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	settings VARCHAR NOT NULL,
	CONSTRAINT fk_epochs_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT pk_epochs PRIMARY KEY (ladder_id, number)
);
CREATE TABLE estimates (
	ladder_id INTEGER NOT NULL,
	version_id INTEGER NOT NULL,
	mu FLOAT NOT NULL,
	low FLOAT NOT NULL,
	high FLOAT NOT NULL,
	best INTEGER NOT NULL,
	worst INTEGER NOT NULL,
	sequence INTEGER NOT NULL,
	made DATETIME NOT NULL,
	CONSTRAINT fk_estimates_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT fk_estimates_version_id FOREIGN KEY(version_id) REFERENCES versions (id),
	CONSTRAINT pk_estimates PRIMARY KEY (ladder_id, version_id)
)
 WITHOUT ROWID;
CREATE TABLE ladders (
	id INTEGER NOT NULL,
	name VARCHAR NOT NULL,
	game VARCHAR NOT NULL,
	settings VARCHAR NOT NULL,
	seats INTEGER NOT NULL,
	clock VARCHAR NOT NULL, owners VARCHAR DEFAULT '[]' NOT NULL, most_bots INTEGER DEFAULT '0' NOT NULL, is_private BOOLEAN DEFAULT '0' NOT NULL, frozen DATETIME, house VARCHAR DEFAULT '[]' NOT NULL, created DATETIME, boards VARCHAR DEFAULT 'plain' NOT NULL, most_per_owner INTEGER DEFAULT '0' NOT NULL, pause_failed INTEGER DEFAULT '3' NOT NULL, pause_window INTEGER DEFAULT '8' NOT NULL, voids_outages BOOLEAN DEFAULT 0 NOT NULL, is_hosted BOOLEAN DEFAULT 0 NOT NULL, results_hidden_until DATETIME, title VARCHAR DEFAULT '' NOT NULL, admits_people BOOLEAN DEFAULT 0 NOT NULL, names_hidden_until DATETIME,
	CONSTRAINT pk_ladders PRIMARY KEY (id),
	CONSTRAINT uq_ladders_name UNIQUE (name)
);
CREATE TABLE leases (
	ladder_id INTEGER NOT NULL,
	holder VARCHAR NOT NULL,
	address VARCHAR NOT NULL,
	epoch INTEGER NOT NULL,
	until DATETIME NOT NULL,
	CONSTRAINT fk_leases_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT pk_leases PRIMARY KEY (ladder_id)
);
CREATE TABLE "matches" (
	number INTEGER NOT NULL,
	id VARCHAR NOT NULL,
	board_id VARCHAR NOT NULL,
	ladder_id INTEGER NOT NULL,
	rules VARCHAR NOT NULL,
	started DATETIME NOT NULL,
	finished DATETIME NOT NULL,
	decisions INTEGER NOT NULL,
	void_cause VARCHAR,
	is_rated BOOLEAN DEFAULT '1' NOT NULL,
	requested_by VARCHAR DEFAULT ('') NOT NULL,
	reason VARCHAR DEFAULT ('') NOT NULL,
	is_faulted BOOLEAN DEFAULT '0' NOT NULL,
	record BLOB,
	CONSTRAINT fk_matches_board_id FOREIGN KEY(board_id) REFERENCES boards (id),
	CONSTRAINT fk_matches_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT pk_matches PRIMARY KEY (number),
	CONSTRAINT uq_matches_id UNIQUE (id)
);
CREATE TABLE notes (
	match_number INTEGER NOT NULL,
	seat INTEGER NOT NULL,
	dropped_bytes INTEGER NOT NULL,
	notes BLOB NOT NULL,
	CONSTRAINT fk_notes_match_number_seat FOREIGN KEY(match_number, seat) REFERENCES seats (match_number, seat),
	CONSTRAINT pk_notes PRIMARY KEY (match_number, seat)
);
CREATE TABLE "open_matches" (
	match_id VARCHAR NOT NULL,
	board_id VARCHAR NOT NULL,
	rules VARCHAR NOT NULL,
	started DATETIME NOT NULL,
	versions VARCHAR NOT NULL,
	requested_by VARCHAR NOT NULL,
	reason VARCHAR NOT NULL,
	CONSTRAINT fk_open_matches_board_id FOREIGN KEY(board_id) REFERENCES boards (id),
	CONSTRAINT pk_open_matches PRIMARY KEY (match_id)
);
CREATE TABLE opponents (
	bot_id INTEGER NOT NULL,
	ladder_id INTEGER NOT NULL,
	other_id INTEGER NOT NULL,
	matches INTEGER NOT NULL,
	ahead INTEGER NOT NULL,
	level INTEGER NOT NULL,
	CONSTRAINT fk_opponents_bot_id FOREIGN KEY(bot_id) REFERENCES bots (id),
	CONSTRAINT fk_opponents_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT fk_opponents_other_id FOREIGN KEY(other_id) REFERENCES bots (id),
	CONSTRAINT pk_opponents PRIMARY KEY (bot_id, ladder_id, other_id)
)
 WITHOUT ROWID;
CREATE TABLE outbox (
	number INTEGER NOT NULL,
	receiver_id INTEGER NOT NULL,
	event_id VARCHAR NOT NULL,
	body VARCHAR NOT NULL,
	CONSTRAINT fk_outbox_receiver_id FOREIGN KEY(receiver_id) REFERENCES receivers (id),
	CONSTRAINT pk_outbox PRIMARY KEY (number)
);
CREATE TABLE overtakings (
	ladder_id INTEGER NOT NULL,
	bot_id INTEGER NOT NULL,
	other_id INTEGER NOT NULL,
	at DATETIME NOT NULL,
	CONSTRAINT fk_overtakings_bot_id FOREIGN KEY(bot_id) REFERENCES bots (id),
	CONSTRAINT fk_overtakings_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT fk_overtakings_other_id FOREIGN KEY(other_id) REFERENCES bots (id),
	CONSTRAINT pk_overtakings PRIMARY KEY (ladder_id, bot_id, other_id)
)
 WITHOUT ROWID;
CREATE TABLE owners (
	id INTEGER NOT NULL,
	name VARCHAR NOT NULL,
	CONSTRAINT pk_owners PRIMARY KEY (id),
	CONSTRAINT uq_owners_name UNIQUE (name)
);
CREATE TABLE pauses (
	id INTEGER NOT NULL,
	version_id INTEGER NOT NULL,
	match_number INTEGER NOT NULL,
	since DATETIME NOT NULL,
	cause VARCHAR NOT NULL,
	lifted DATETIME,
	lifted_number INTEGER,
	CONSTRAINT fk_pauses_match_number FOREIGN KEY(match_number) REFERENCES matches (number),
	CONSTRAINT fk_pauses_version_id FOREIGN KEY(version_id) REFERENCES versions (id),
	CONSTRAINT pk_pauses PRIMARY KEY (id)
);
CREATE TABLE rating_changes (
	ladder_id INTEGER NOT NULL,
	sequence INTEGER NOT NULL,
	version_id INTEGER NOT NULL,
	mu_before FLOAT NOT NULL,
	sigma_before FLOAT NOT NULL,
	mu_after FLOAT NOT NULL,
	sigma_after FLOAT NOT NULL,
	CONSTRAINT fk_rating_changes_ladder_id_sequence FOREIGN KEY(ladder_id, sequence) REFERENCES boards (ladder_id, sequence),
	CONSTRAINT fk_rating_changes_version_id FOREIGN KEY(version_id) REFERENCES versions (id),
	CONSTRAINT pk_rating_changes PRIMARY KEY (ladder_id, sequence, version_id)
);
CREATE TABLE rating_points (
	ladder_id INTEGER NOT NULL,
	version_id INTEGER NOT NULL,
	sequence INTEGER NOT NULL,
	mu FLOAT NOT NULL,
	low FLOAT NOT NULL,
	high FLOAT NOT NULL,
	CONSTRAINT fk_rating_points_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT fk_rating_points_version_id FOREIGN KEY(version_id) REFERENCES versions (id),
	CONSTRAINT pk_rating_points PRIMARY KEY (ladder_id, version_id, sequence)
)
 WITHOUT ROWID;
CREATE TABLE ratings (
	ladder_id INTEGER NOT NULL,
	version_id INTEGER NOT NULL,
	mu FLOAT NOT NULL,
	sigma FLOAT NOT NULL,
	matches INTEGER NOT NULL,
	wins INTEGER NOT NULL,
	faulted INTEGER NOT NULL,
	sequence INTEGER NOT NULL, form BLOB DEFAULT (x'') NOT NULL,
	CONSTRAINT fk_ratings_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT fk_ratings_version_id FOREIGN KEY(version_id) REFERENCES versions (id),
	CONSTRAINT pk_ratings PRIMARY KEY (ladder_id, version_id)
);
CREATE TABLE receivers (
	id INTEGER NOT NULL,
	owner_id INTEGER NOT NULL,
	kind VARCHAR NOT NULL,
	address VARCHAR NOT NULL,
	secret BLOB NOT NULL,
	events VARCHAR NOT NULL,
	ladders VARCHAR NOT NULL,
	is_host BOOLEAN NOT NULL,
	created DATETIME NOT NULL,
	waiting INTEGER NOT NULL,
	delivered INTEGER NOT NULL,
	missed INTEGER NOT NULL,
	failures INTEGER NOT NULL,
	problem VARCHAR NOT NULL,
	failing_since DATETIME,
	retry_at DATETIME,
	claimed_until DATETIME,
	paused DATETIME,
	CONSTRAINT fk_receivers_owner_id FOREIGN KEY(owner_id) REFERENCES owners (id),
	CONSTRAINT pk_receivers PRIMARY KEY (id)
);
CREATE TABLE reports (
	match_id VARCHAR NOT NULL,
	report BLOB NOT NULL,
	CONSTRAINT fk_reports_match_id FOREIGN KEY(match_id) REFERENCES work (match_id),
	CONSTRAINT pk_reports PRIMARY KEY (match_id)
);
CREATE TABLE season_bots (
	series_id VARCHAR NOT NULL,
	number INTEGER NOT NULL,
	bot_id INTEGER NOT NULL,
	division INTEGER NOT NULL,
	seed INTEGER NOT NULL,
	is_late BOOLEAN NOT NULL,
	has_left BOOLEAN NOT NULL,
	place INTEGER,
	version_id INTEGER,
	rating FLOAT,
	matches INTEGER,
	next_division INTEGER,
	CONSTRAINT fk_season_bots_bot_id FOREIGN KEY(bot_id) REFERENCES bots (id),
	CONSTRAINT fk_season_bots_series_id_number FOREIGN KEY(series_id, number) REFERENCES seasons (series_id, number),
	CONSTRAINT fk_season_bots_version_id FOREIGN KEY(version_id) REFERENCES versions (id),
	CONSTRAINT pk_season_bots PRIMARY KEY (series_id, number, bot_id)
);
CREATE TABLE season_divisions (
	series_id VARCHAR NOT NULL,
	number INTEGER NOT NULL,
	division INTEGER NOT NULL,
	ladder_id INTEGER NOT NULL,
	CONSTRAINT fk_season_divisions_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT fk_season_divisions_series_id_number FOREIGN KEY(series_id, number) REFERENCES seasons (series_id, number),
	CONSTRAINT pk_season_divisions PRIMARY KEY (series_id, number, division),
	CONSTRAINT uq_season_divisions_ladder_id UNIQUE (ladder_id)
);
CREATE TABLE season_series (
	id VARCHAR NOT NULL,
	name VARCHAR NOT NULL,
	started_by VARCHAR NOT NULL,
	"plan" VARCHAR NOT NULL,
	created DATETIME NOT NULL,
	ended DATETIME,
	outcome VARCHAR NOT NULL,
	CONSTRAINT pk_season_series PRIMARY KEY (id)
);
CREATE TABLE seasons (
	series_id VARCHAR NOT NULL,
	number INTEGER NOT NULL,
	phase VARCHAR NOT NULL,
	began DATETIME NOT NULL,
	ended DATETIME,
	next_at DATETIME,
	tournament_id VARCHAR NOT NULL,
	CONSTRAINT fk_seasons_series_id FOREIGN KEY(series_id) REFERENCES season_series (id),
	CONSTRAINT pk_seasons PRIMARY KEY (series_id, number)
);
CREATE TABLE "seats" (
	match_number INTEGER NOT NULL,
	seat INTEGER NOT NULL,
	ladder_id INTEGER NOT NULL,
	version_id INTEGER NOT NULL,
	place INTEGER,
	score INTEGER,
	end_cause VARCHAR NOT NULL,
	faults INTEGER NOT NULL,
	thinking_ms INTEGER NOT NULL, cpu_ms INTEGER, peak_bytes INTEGER,
	CONSTRAINT fk_seats_match_number FOREIGN KEY(match_number) REFERENCES matches (number),
	CONSTRAINT fk_seats_version_id FOREIGN KEY(version_id) REFERENCES versions (id),
	CONSTRAINT pk_seats PRIMARY KEY (match_number, seat)
);
CREATE TABLE submissions (
	id INTEGER NOT NULL,
	owner_id INTEGER NOT NULL,
	bot VARCHAR NOT NULL,
	version VARCHAR NOT NULL,
	digest BLOB NOT NULL,
	size INTEGER NOT NULL,
	ladders VARCHAR NOT NULL,
	state VARCHAR NOT NULL,
	why VARCHAR NOT NULL,
	is_active BOOLEAN NOT NULL,
	is_kept BOOLEAN NOT NULL,
	received DATETIME NOT NULL,
	changed DATETIME NOT NULL,
	log BLOB,
	CONSTRAINT fk_submissions_owner_id FOREIGN KEY(owner_id) REFERENCES owners (id),
	CONSTRAINT pk_submissions PRIMARY KEY (id),
	CONSTRAINT uq_submissions_owner_id_bot_version UNIQUE (owner_id, bot, version)
);
CREATE TABLE test_boards (
	board_id VARCHAR NOT NULL,
	test_id VARCHAR NOT NULL,
	CONSTRAINT fk_test_boards_board_id FOREIGN KEY(board_id) REFERENCES boards (id),
	CONSTRAINT fk_test_boards_test_id FOREIGN KEY(test_id) REFERENCES version_tests (id),
	CONSTRAINT pk_test_boards PRIMARY KEY (board_id)
);
CREATE TABLE tokens (
	id VARCHAR NOT NULL,
	digest BLOB NOT NULL,
	owner_id INTEGER NOT NULL,
	scopes VARCHAR NOT NULL,
	label VARCHAR NOT NULL,
	created DATETIME NOT NULL,
	expires DATETIME,
	revoked DATETIME,
	last_used DATETIME,
	CONSTRAINT fk_tokens_owner_id FOREIGN KEY(owner_id) REFERENCES owners (id),
	CONSTRAINT pk_tokens PRIMARY KEY (id)
);
CREATE TABLE tournament_boards (
	tournament_id VARCHAR NOT NULL,
	duel INTEGER NOT NULL,
	board INTEGER NOT NULL,
	match_id VARCHAR NOT NULL,
	result VARCHAR NOT NULL,
	CONSTRAINT fk_tournament_boards_tournament_id FOREIGN KEY(tournament_id) REFERENCES tournaments (id),
	CONSTRAINT pk_tournament_boards PRIMARY KEY (tournament_id, duel, board)
);
CREATE TABLE tournaments (
	id VARCHAR NOT NULL,
	ladder_id INTEGER NOT NULL,
	started_by VARCHAR NOT NULL,
	"plan" VARCHAR NOT NULL,
	created DATETIME NOT NULL,
	ended DATETIME,
	outcome VARCHAR NOT NULL,
	CONSTRAINT fk_tournaments_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT pk_tournaments PRIMARY KEY (id)
);
CREATE TABLE usages (
	match_number INTEGER NOT NULL,
	seat INTEGER NOT NULL,
	ladder_id INTEGER NOT NULL,
	version_id INTEGER NOT NULL,
	input_tokens INTEGER NOT NULL,
	output_tokens INTEGER NOT NULL,
	cost_micros INTEGER NOT NULL,
	fallbacks INTEGER NOT NULL,
	model VARCHAR NOT NULL,
	CONSTRAINT fk_usages_match_number_seat FOREIGN KEY(match_number, seat) REFERENCES seats (match_number, seat),
	CONSTRAINT pk_usages PRIMARY KEY (match_number, seat)
);
CREATE TABLE version_tests (
	id VARCHAR NOT NULL,
	ladder_id INTEGER NOT NULL,
	owner_id INTEGER NOT NULL,
	new_id INTEGER NOT NULL,
	old_id INTEGER NOT NULL,
	design VARCHAR NOT NULL,
	created DATETIME NOT NULL,
	ended DATETIME,
	outcome VARCHAR NOT NULL,
	CONSTRAINT fk_version_tests_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT fk_version_tests_new_id FOREIGN KEY(new_id) REFERENCES versions (id),
	CONSTRAINT fk_version_tests_old_id FOREIGN KEY(old_id) REFERENCES versions (id),
	CONSTRAINT fk_version_tests_owner_id FOREIGN KEY(owner_id) REFERENCES owners (id),
	CONSTRAINT pk_version_tests PRIMARY KEY (id)
);
CREATE TABLE "versions" (
	id INTEGER NOT NULL,
	bot_id INTEGER NOT NULL,
	label VARCHAR NOT NULL,
	parent_id INTEGER,
	created DATETIME,
	CONSTRAINT fk_versions_bot_id FOREIGN KEY(bot_id) REFERENCES bots (id),
	CONSTRAINT fk_versions_parent_id FOREIGN KEY(parent_id) REFERENCES versions (id),
	CONSTRAINT pk_versions PRIMARY KEY (id),
	CONSTRAINT uq_versions_bot_id_label UNIQUE (bot_id, label)
);
CREATE TABLE work (
	match_id VARCHAR NOT NULL,
	code VARCHAR NOT NULL,
	task VARCHAR NOT NULL,
	seed BLOB NOT NULL,
	state VARCHAR NOT NULL,
	worker VARCHAR NOT NULL,
	since DATETIME NOT NULL,
	CONSTRAINT pk_work PRIMARY KEY (match_id)
);
CREATE INDEX ix_boards_sealed ON boards (id) WHERE is_sealed = 1;
CREATE INDEX ix_matches_board_id ON matches (board_id);
CREATE INDEX ix_matches_faulted ON matches (ladder_id, number, finished, is_faulted) WHERE is_faulted = 1;
CREATE INDEX ix_matches_ladder_id_finished ON matches (ladder_id, finished);
CREATE INDEX ix_matches_ladder_id_number ON matches (ladder_id, number);
CREATE INDEX ix_open_matches_board_id ON open_matches (board_id);
CREATE INDEX ix_opponents_other_id_ladder_id ON opponents (other_id, ladder_id);
CREATE INDEX ix_outbox_receiver_id_number ON outbox (receiver_id, number);
CREATE INDEX ix_pauses_match_number ON pauses (match_number);
CREATE UNIQUE INDEX ix_pauses_one_at_a_time ON pauses (version_id) WHERE lifted IS NULL;
CREATE INDEX ix_pauses_version_id ON pauses (version_id);
CREATE INDEX ix_rating_changes_ladder_id_version_id_sequence ON rating_changes (ladder_id, version_id, sequence);
CREATE INDEX ix_receivers_owner_id ON receivers (owner_id);
CREATE INDEX ix_season_bots_bot_id ON season_bots (bot_id);
CREATE INDEX ix_seats_faulted ON seats (version_id, match_number, ladder_id, faults) WHERE faults > 0;
CREATE INDEX ix_seats_version_id_ladder_id_match_number ON seats (version_id, ladder_id, match_number);
CREATE INDEX ix_seats_version_id_match_number ON seats (version_id, match_number);
CREATE UNIQUE INDEX ix_submissions_active ON submissions (owner_id, bot) WHERE is_active = 1;
CREATE INDEX ix_test_boards_test_id ON test_boards (test_id);
CREATE INDEX ix_usages_ladder_id_version_id ON usages (ladder_id, version_id);
CREATE INDEX ix_version_tests_owner_id ON version_tests (owner_id);
INSERT INTO alembic_version VALUES ('22');
