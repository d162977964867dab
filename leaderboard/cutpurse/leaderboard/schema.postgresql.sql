-- What the models are in PostgreSQL. A test compares the two, and writes this file:
-- pytest --update-schema tests/leaderboard/test_postgresql_schema.py
CREATE TABLE archives (
	digest BYTEA NOT NULL,
	content BYTEA NOT NULL,
	CONSTRAINT pk_archives PRIMARY KEY (digest)
);
CREATE TABLE arenas (
	holder VARCHAR COLLATE "C" NOT NULL,
	address VARCHAR COLLATE "C" NOT NULL,
	until TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	CONSTRAINT pk_arenas PRIMARY KEY (holder)
);
CREATE TABLE ladders (
	id BIGSERIAL NOT NULL,
	name VARCHAR COLLATE "C" NOT NULL,
	game VARCHAR COLLATE "C" NOT NULL,
	settings VARCHAR COLLATE "C" NOT NULL,
	seats BIGINT NOT NULL,
	clock VARCHAR COLLATE "C" NOT NULL,
	owners VARCHAR COLLATE "C" NOT NULL,
	most_bots BIGINT NOT NULL,
	is_private BOOLEAN NOT NULL,
	frozen TIMESTAMP WITHOUT TIME ZONE,
	house VARCHAR COLLATE "C" NOT NULL,
	created TIMESTAMP WITHOUT TIME ZONE,
	boards VARCHAR COLLATE "C" NOT NULL,
	most_per_owner BIGINT NOT NULL,
	pause_failed BIGINT NOT NULL,
	pause_window BIGINT NOT NULL,
	voids_outages BOOLEAN NOT NULL,
	is_hosted BOOLEAN NOT NULL,
	results_hidden_until TIMESTAMP WITHOUT TIME ZONE,
	title VARCHAR COLLATE "C" NOT NULL,
	admits_people BOOLEAN NOT NULL,
	names_hidden_until TIMESTAMP WITHOUT TIME ZONE,
	CONSTRAINT pk_ladders PRIMARY KEY (id),
	CONSTRAINT uq_ladders_name UNIQUE (name)
);
CREATE TABLE owners (
	id BIGSERIAL NOT NULL,
	name VARCHAR COLLATE "C" NOT NULL,
	CONSTRAINT pk_owners PRIMARY KEY (id),
	CONSTRAINT uq_owners_name UNIQUE (name)
);
CREATE TABLE season_series (
	id VARCHAR COLLATE "C" NOT NULL,
	name VARCHAR COLLATE "C" NOT NULL,
	started_by VARCHAR COLLATE "C" NOT NULL,
	plan VARCHAR COLLATE "C" NOT NULL,
	created TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	ended TIMESTAMP WITHOUT TIME ZONE,
	outcome VARCHAR COLLATE "C" NOT NULL,
	CONSTRAINT pk_season_series PRIMARY KEY (id)
);
CREATE TABLE work (
	match_id VARCHAR COLLATE "C" NOT NULL,
	code VARCHAR COLLATE "C" NOT NULL,
	task VARCHAR COLLATE "C" NOT NULL,
	seed BYTEA NOT NULL,
	state VARCHAR COLLATE "C" NOT NULL,
	worker VARCHAR COLLATE "C" NOT NULL,
	since TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	CONSTRAINT pk_work PRIMARY KEY (match_id)
);
CREATE TABLE accounts (
	issuer VARCHAR COLLATE "C" NOT NULL,
	subject VARCHAR COLLATE "C" NOT NULL,
	owner_id BIGINT NOT NULL,
	linked TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	CONSTRAINT pk_accounts PRIMARY KEY (issuer, subject),
	CONSTRAINT fk_accounts_owner_id FOREIGN KEY(owner_id) REFERENCES owners (id)
);
CREATE TABLE bots (
	id BIGSERIAL NOT NULL,
	owner_id BIGINT NOT NULL,
	name VARCHAR COLLATE "C" NOT NULL,
	CONSTRAINT pk_bots PRIMARY KEY (id),
	CONSTRAINT uq_bots_owner_id_name UNIQUE (owner_id, name),
	CONSTRAINT fk_bots_owner_id FOREIGN KEY(owner_id) REFERENCES owners (id)
);
CREATE TABLE epochs (
	ladder_id BIGINT NOT NULL,
	number BIGINT NOT NULL,
	settings VARCHAR COLLATE "C" NOT NULL,
	CONSTRAINT pk_epochs PRIMARY KEY (ladder_id, number),
	CONSTRAINT fk_epochs_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id)
);
CREATE TABLE leases (
	ladder_id BIGINT NOT NULL,
	holder VARCHAR COLLATE "C" NOT NULL,
	address VARCHAR COLLATE "C" NOT NULL,
	epoch BIGINT NOT NULL,
	until TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	CONSTRAINT pk_leases PRIMARY KEY (ladder_id),
	CONSTRAINT fk_leases_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id)
);
CREATE TABLE receivers (
	id BIGSERIAL NOT NULL,
	owner_id BIGINT NOT NULL,
	kind VARCHAR COLLATE "C" NOT NULL,
	address VARCHAR COLLATE "C" NOT NULL,
	secret BYTEA NOT NULL,
	events VARCHAR COLLATE "C" NOT NULL,
	ladders VARCHAR COLLATE "C" NOT NULL,
	is_host BOOLEAN NOT NULL,
	created TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	waiting BIGINT NOT NULL,
	delivered BIGINT NOT NULL,
	missed BIGINT NOT NULL,
	failures BIGINT NOT NULL,
	problem VARCHAR COLLATE "C" NOT NULL,
	failing_since TIMESTAMP WITHOUT TIME ZONE,
	retry_at TIMESTAMP WITHOUT TIME ZONE,
	claimed_until TIMESTAMP WITHOUT TIME ZONE,
	paused TIMESTAMP WITHOUT TIME ZONE,
	CONSTRAINT pk_receivers PRIMARY KEY (id),
	CONSTRAINT fk_receivers_owner_id FOREIGN KEY(owner_id) REFERENCES owners (id)
);
CREATE INDEX ix_receivers_owner_id ON receivers (owner_id);
CREATE TABLE reports (
	match_id VARCHAR COLLATE "C" NOT NULL,
	report BYTEA NOT NULL,
	CONSTRAINT pk_reports PRIMARY KEY (match_id),
	CONSTRAINT fk_reports_match_id FOREIGN KEY(match_id) REFERENCES work (match_id)
);
CREATE TABLE seasons (
	series_id VARCHAR COLLATE "C" NOT NULL,
	number BIGINT NOT NULL,
	phase VARCHAR COLLATE "C" NOT NULL,
	began TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	ended TIMESTAMP WITHOUT TIME ZONE,
	next_at TIMESTAMP WITHOUT TIME ZONE,
	tournament_id VARCHAR COLLATE "C" NOT NULL,
	CONSTRAINT pk_seasons PRIMARY KEY (series_id, number),
	CONSTRAINT fk_seasons_series_id FOREIGN KEY(series_id) REFERENCES season_series (id)
);
CREATE TABLE submissions (
	id BIGSERIAL NOT NULL,
	owner_id BIGINT NOT NULL,
	bot VARCHAR COLLATE "C" NOT NULL,
	version VARCHAR COLLATE "C" NOT NULL,
	digest BYTEA NOT NULL,
	size BIGINT NOT NULL,
	ladders VARCHAR COLLATE "C" NOT NULL,
	state VARCHAR COLLATE "C" NOT NULL,
	why VARCHAR COLLATE "C" NOT NULL,
	is_active BOOLEAN NOT NULL,
	is_kept BOOLEAN NOT NULL,
	received TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	changed TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	log BYTEA,
	CONSTRAINT pk_submissions PRIMARY KEY (id),
	CONSTRAINT uq_submissions_owner_id_bot_version UNIQUE (owner_id, bot, version),
	CONSTRAINT fk_submissions_owner_id FOREIGN KEY(owner_id) REFERENCES owners (id)
);
CREATE UNIQUE INDEX ix_submissions_active ON submissions (owner_id, bot) WHERE is_active;
CREATE TABLE tokens (
	id VARCHAR COLLATE "C" NOT NULL,
	digest BYTEA NOT NULL,
	owner_id BIGINT NOT NULL,
	scopes VARCHAR COLLATE "C" NOT NULL,
	label VARCHAR COLLATE "C" NOT NULL,
	created TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	expires TIMESTAMP WITHOUT TIME ZONE,
	revoked TIMESTAMP WITHOUT TIME ZONE,
	last_used TIMESTAMP WITHOUT TIME ZONE,
	CONSTRAINT pk_tokens PRIMARY KEY (id),
	CONSTRAINT fk_tokens_owner_id FOREIGN KEY(owner_id) REFERENCES owners (id)
);
CREATE TABLE tournaments (
	id VARCHAR COLLATE "C" NOT NULL,
	ladder_id BIGINT NOT NULL,
	started_by VARCHAR COLLATE "C" NOT NULL,
	plan VARCHAR COLLATE "C" NOT NULL,
	created TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	ended TIMESTAMP WITHOUT TIME ZONE,
	outcome VARCHAR COLLATE "C" NOT NULL,
	CONSTRAINT pk_tournaments PRIMARY KEY (id),
	CONSTRAINT fk_tournaments_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id)
);
CREATE TABLE boards (
	id VARCHAR COLLATE "C" NOT NULL,
	ladder_id BIGINT NOT NULL,
	sequence BIGINT,
	epoch BIGINT,
	commitment BYTEA NOT NULL,
	seed BYTEA NOT NULL,
	params BYTEA NOT NULL,
	matches BIGINT NOT NULL,
	is_sealed BOOLEAN NOT NULL,
	nonces VARCHAR COLLATE "C",
	CONSTRAINT pk_boards PRIMARY KEY (id),
	CONSTRAINT uq_boards_ladder_id_sequence UNIQUE (ladder_id, sequence),
	CONSTRAINT fk_boards_ladder_id_epoch FOREIGN KEY(ladder_id, epoch) REFERENCES epochs (ladder_id, number),
	CONSTRAINT fk_boards_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id)
);
CREATE INDEX ix_boards_sealed ON boards (id) WHERE is_sealed;
CREATE TABLE opponents (
	bot_id BIGINT NOT NULL,
	ladder_id BIGINT NOT NULL,
	other_id BIGINT NOT NULL,
	matches BIGINT NOT NULL,
	ahead BIGINT NOT NULL,
	level BIGINT NOT NULL,
	CONSTRAINT pk_opponents PRIMARY KEY (bot_id, ladder_id, other_id),
	CONSTRAINT fk_opponents_bot_id FOREIGN KEY(bot_id) REFERENCES bots (id),
	CONSTRAINT fk_opponents_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT fk_opponents_other_id FOREIGN KEY(other_id) REFERENCES bots (id)
);
CREATE INDEX ix_opponents_other_id_ladder_id ON opponents (other_id, ladder_id);
CREATE TABLE outbox (
	number BIGSERIAL NOT NULL,
	receiver_id BIGINT NOT NULL,
	event_id VARCHAR COLLATE "C" NOT NULL,
	body VARCHAR COLLATE "C" NOT NULL,
	CONSTRAINT pk_outbox PRIMARY KEY (number),
	CONSTRAINT fk_outbox_receiver_id FOREIGN KEY(receiver_id) REFERENCES receivers (id)
);
CREATE INDEX ix_outbox_receiver_id_number ON outbox (receiver_id, number);
CREATE TABLE overtakings (
	ladder_id BIGINT NOT NULL,
	bot_id BIGINT NOT NULL,
	other_id BIGINT NOT NULL,
	at TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	CONSTRAINT pk_overtakings PRIMARY KEY (ladder_id, bot_id, other_id),
	CONSTRAINT fk_overtakings_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT fk_overtakings_bot_id FOREIGN KEY(bot_id) REFERENCES bots (id),
	CONSTRAINT fk_overtakings_other_id FOREIGN KEY(other_id) REFERENCES bots (id)
);
CREATE TABLE season_divisions (
	series_id VARCHAR COLLATE "C" NOT NULL,
	number BIGINT NOT NULL,
	division BIGINT NOT NULL,
	ladder_id BIGINT NOT NULL,
	CONSTRAINT pk_season_divisions PRIMARY KEY (series_id, number, division),
	CONSTRAINT fk_season_divisions_series_id_number FOREIGN KEY(series_id, number) REFERENCES seasons (series_id, number),
	CONSTRAINT uq_season_divisions_ladder_id UNIQUE (ladder_id),
	CONSTRAINT fk_season_divisions_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id)
);
CREATE TABLE tournament_boards (
	tournament_id VARCHAR COLLATE "C" NOT NULL,
	duel BIGINT NOT NULL,
	board BIGINT NOT NULL,
	match_id VARCHAR COLLATE "C" NOT NULL,
	result VARCHAR COLLATE "C" NOT NULL,
	CONSTRAINT pk_tournament_boards PRIMARY KEY (tournament_id, duel, board),
	CONSTRAINT fk_tournament_boards_tournament_id FOREIGN KEY(tournament_id) REFERENCES tournaments (id)
);
CREATE TABLE versions (
	id BIGSERIAL NOT NULL,
	bot_id BIGINT NOT NULL,
	label VARCHAR COLLATE "C" NOT NULL,
	parent_id BIGINT,
	created TIMESTAMP WITHOUT TIME ZONE,
	CONSTRAINT pk_versions PRIMARY KEY (id),
	CONSTRAINT uq_versions_bot_id_label UNIQUE (bot_id, label),
	CONSTRAINT fk_versions_bot_id FOREIGN KEY(bot_id) REFERENCES bots (id),
	CONSTRAINT fk_versions_parent_id FOREIGN KEY(parent_id) REFERENCES versions (id)
);
CREATE TABLE estimates (
	ladder_id BIGINT NOT NULL,
	version_id BIGINT NOT NULL,
	mu FLOAT NOT NULL,
	low FLOAT NOT NULL,
	high FLOAT NOT NULL,
	best BIGINT NOT NULL,
	worst BIGINT NOT NULL,
	sequence BIGINT NOT NULL,
	made TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	CONSTRAINT pk_estimates PRIMARY KEY (ladder_id, version_id),
	CONSTRAINT fk_estimates_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT fk_estimates_version_id FOREIGN KEY(version_id) REFERENCES versions (id)
);
CREATE TABLE matches (
	number BIGINT NOT NULL,
	id VARCHAR COLLATE "C" NOT NULL,
	board_id VARCHAR COLLATE "C" NOT NULL,
	ladder_id BIGINT NOT NULL,
	rules VARCHAR COLLATE "C" NOT NULL,
	started TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	finished TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	decisions BIGINT NOT NULL,
	void_cause VARCHAR COLLATE "C",
	is_rated BOOLEAN NOT NULL,
	requested_by VARCHAR COLLATE "C" NOT NULL,
	reason VARCHAR COLLATE "C" NOT NULL,
	is_faulted BOOLEAN NOT NULL,
	record BYTEA,
	CONSTRAINT pk_matches PRIMARY KEY (number),
	CONSTRAINT uq_matches_id UNIQUE (id),
	CONSTRAINT fk_matches_board_id FOREIGN KEY(board_id) REFERENCES boards (id),
	CONSTRAINT fk_matches_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id)
);
CREATE INDEX ix_matches_board_id ON matches (board_id);
CREATE INDEX ix_matches_faulted ON matches (ladder_id, number, finished, is_faulted) WHERE is_faulted;
CREATE INDEX ix_matches_ladder_id_finished ON matches (ladder_id, finished);
CREATE INDEX ix_matches_ladder_id_number ON matches (ladder_id, number);
CREATE TABLE open_matches (
	match_id VARCHAR COLLATE "C" NOT NULL,
	board_id VARCHAR COLLATE "C" NOT NULL,
	rules VARCHAR COLLATE "C" NOT NULL,
	started TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	versions VARCHAR COLLATE "C" NOT NULL,
	requested_by VARCHAR COLLATE "C" NOT NULL,
	reason VARCHAR COLLATE "C" NOT NULL,
	CONSTRAINT pk_open_matches PRIMARY KEY (match_id),
	CONSTRAINT fk_open_matches_board_id FOREIGN KEY(board_id) REFERENCES boards (id)
);
CREATE INDEX ix_open_matches_board_id ON open_matches (board_id);
CREATE TABLE rating_changes (
	ladder_id BIGINT NOT NULL,
	sequence BIGINT NOT NULL,
	version_id BIGINT NOT NULL,
	mu_before FLOAT NOT NULL,
	sigma_before FLOAT NOT NULL,
	mu_after FLOAT NOT NULL,
	sigma_after FLOAT NOT NULL,
	CONSTRAINT pk_rating_changes PRIMARY KEY (ladder_id, sequence, version_id),
	CONSTRAINT fk_rating_changes_ladder_id_sequence FOREIGN KEY(ladder_id, sequence) REFERENCES boards (ladder_id, sequence),
	CONSTRAINT fk_rating_changes_version_id FOREIGN KEY(version_id) REFERENCES versions (id)
);
CREATE INDEX ix_rating_changes_ladder_id_version_id_sequence ON rating_changes (ladder_id, version_id, sequence);
CREATE TABLE rating_points (
	ladder_id BIGINT NOT NULL,
	version_id BIGINT NOT NULL,
	sequence BIGINT NOT NULL,
	mu FLOAT NOT NULL,
	low FLOAT NOT NULL,
	high FLOAT NOT NULL,
	CONSTRAINT pk_rating_points PRIMARY KEY (ladder_id, version_id, sequence),
	CONSTRAINT fk_rating_points_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT fk_rating_points_version_id FOREIGN KEY(version_id) REFERENCES versions (id)
);
CREATE TABLE ratings (
	ladder_id BIGINT NOT NULL,
	version_id BIGINT NOT NULL,
	mu FLOAT NOT NULL,
	sigma FLOAT NOT NULL,
	matches BIGINT NOT NULL,
	wins BIGINT NOT NULL,
	faulted BIGINT NOT NULL,
	sequence BIGINT NOT NULL,
	form BYTEA NOT NULL,
	CONSTRAINT pk_ratings PRIMARY KEY (ladder_id, version_id),
	CONSTRAINT fk_ratings_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT fk_ratings_version_id FOREIGN KEY(version_id) REFERENCES versions (id)
);
CREATE TABLE season_bots (
	series_id VARCHAR COLLATE "C" NOT NULL,
	number BIGINT NOT NULL,
	bot_id BIGINT NOT NULL,
	division BIGINT NOT NULL,
	seed BIGINT NOT NULL,
	is_late BOOLEAN NOT NULL,
	has_left BOOLEAN NOT NULL,
	place BIGINT,
	version_id BIGINT,
	rating FLOAT,
	matches BIGINT,
	next_division BIGINT,
	CONSTRAINT pk_season_bots PRIMARY KEY (series_id, number, bot_id),
	CONSTRAINT fk_season_bots_series_id_number FOREIGN KEY(series_id, number) REFERENCES seasons (series_id, number),
	CONSTRAINT fk_season_bots_bot_id FOREIGN KEY(bot_id) REFERENCES bots (id),
	CONSTRAINT fk_season_bots_version_id FOREIGN KEY(version_id) REFERENCES versions (id)
);
CREATE INDEX ix_season_bots_bot_id ON season_bots (bot_id);
CREATE TABLE version_tests (
	id VARCHAR COLLATE "C" NOT NULL,
	ladder_id BIGINT NOT NULL,
	owner_id BIGINT NOT NULL,
	new_id BIGINT NOT NULL,
	old_id BIGINT NOT NULL,
	design VARCHAR COLLATE "C" NOT NULL,
	created TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	ended TIMESTAMP WITHOUT TIME ZONE,
	outcome VARCHAR COLLATE "C" NOT NULL,
	CONSTRAINT pk_version_tests PRIMARY KEY (id),
	CONSTRAINT fk_version_tests_ladder_id FOREIGN KEY(ladder_id) REFERENCES ladders (id),
	CONSTRAINT fk_version_tests_owner_id FOREIGN KEY(owner_id) REFERENCES owners (id),
	CONSTRAINT fk_version_tests_new_id FOREIGN KEY(new_id) REFERENCES versions (id),
	CONSTRAINT fk_version_tests_old_id FOREIGN KEY(old_id) REFERENCES versions (id)
);
CREATE INDEX ix_version_tests_owner_id ON version_tests (owner_id);
CREATE TABLE courses (
	match_number BIGINT NOT NULL,
	courses BYTEA NOT NULL,
	CONSTRAINT pk_courses PRIMARY KEY (match_number),
	CONSTRAINT fk_courses_match_number FOREIGN KEY(match_number) REFERENCES matches (number)
);
CREATE TABLE pauses (
	id BIGSERIAL NOT NULL,
	version_id BIGINT NOT NULL,
	match_number BIGINT NOT NULL,
	since TIMESTAMP WITHOUT TIME ZONE NOT NULL,
	cause VARCHAR COLLATE "C" NOT NULL,
	lifted TIMESTAMP WITHOUT TIME ZONE,
	lifted_number BIGINT,
	CONSTRAINT pk_pauses PRIMARY KEY (id),
	CONSTRAINT fk_pauses_version_id FOREIGN KEY(version_id) REFERENCES versions (id),
	CONSTRAINT fk_pauses_match_number FOREIGN KEY(match_number) REFERENCES matches (number)
);
CREATE INDEX ix_pauses_match_number ON pauses (match_number);
CREATE UNIQUE INDEX ix_pauses_one_at_a_time ON pauses (version_id) WHERE lifted IS NULL;
CREATE INDEX ix_pauses_version_id ON pauses (version_id);
CREATE TABLE seats (
	match_number BIGINT NOT NULL,
	seat BIGINT NOT NULL,
	ladder_id BIGINT NOT NULL,
	version_id BIGINT NOT NULL,
	place BIGINT,
	score BIGINT,
	end_cause VARCHAR COLLATE "C" NOT NULL,
	faults BIGINT NOT NULL,
	thinking_ms BIGINT NOT NULL,
	cpu_ms BIGINT,
	peak_bytes BIGINT,
	CONSTRAINT pk_seats PRIMARY KEY (match_number, seat),
	CONSTRAINT fk_seats_match_number FOREIGN KEY(match_number) REFERENCES matches (number),
	CONSTRAINT fk_seats_version_id FOREIGN KEY(version_id) REFERENCES versions (id)
);
CREATE INDEX ix_seats_faulted ON seats (version_id, match_number, ladder_id, faults) WHERE faults > 0;
CREATE INDEX ix_seats_version_id_ladder_id_match_number ON seats (version_id, ladder_id, match_number);
CREATE INDEX ix_seats_version_id_match_number ON seats (version_id, match_number);
CREATE TABLE test_boards (
	board_id VARCHAR COLLATE "C" NOT NULL,
	test_id VARCHAR COLLATE "C" NOT NULL,
	CONSTRAINT pk_test_boards PRIMARY KEY (board_id),
	CONSTRAINT fk_test_boards_board_id FOREIGN KEY(board_id) REFERENCES boards (id),
	CONSTRAINT fk_test_boards_test_id FOREIGN KEY(test_id) REFERENCES version_tests (id)
);
CREATE INDEX ix_test_boards_test_id ON test_boards (test_id);
CREATE TABLE notes (
	match_number BIGINT NOT NULL,
	seat BIGINT NOT NULL,
	dropped_bytes BIGINT NOT NULL,
	notes BYTEA NOT NULL,
	CONSTRAINT pk_notes PRIMARY KEY (match_number, seat),
	CONSTRAINT fk_notes_match_number_seat FOREIGN KEY(match_number, seat) REFERENCES seats (match_number, seat)
);
CREATE TABLE usages (
	match_number BIGINT NOT NULL,
	seat BIGINT NOT NULL,
	ladder_id BIGINT NOT NULL,
	version_id BIGINT NOT NULL,
	input_tokens BIGINT NOT NULL,
	output_tokens BIGINT NOT NULL,
	cost_micros BIGINT NOT NULL,
	fallbacks BIGINT NOT NULL,
	model VARCHAR COLLATE "C" NOT NULL,
	CONSTRAINT pk_usages PRIMARY KEY (match_number, seat),
	CONSTRAINT fk_usages_match_number_seat FOREIGN KEY(match_number, seat) REFERENCES seats (match_number, seat)
);
CREATE INDEX ix_usages_ladder_id_version_id ON usages (ladder_id, version_id);
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL CONSTRAINT alembic_version_pkc PRIMARY KEY);
INSERT INTO alembic_version VALUES ('22');
