"""Terms of ladders, announced and requested matches, decision logs, notes, and pauses.

The migration computes form, opponents and faulted matches from the ledger. Decision logs and notes were not stored
before, so old matches have none.
"""

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"

FORM = 10  # number of recent places stored


def upgrade() -> None:
    """Add the new tables and columns; recreate `matches` and `seats`, whose order of columns matters."""
    _ladders()
    _matches()
    _seats()
    _ratings()
    _opponents()
    _logs()
    _pauses()


def _ladders() -> None:
    for column in (
        sa.Column("owners", sa.String(), nullable=False, server_default="[]"),
        sa.Column("most_bots", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("is_private", sa.Boolean(), nullable=False, server_default="0"),
        sa.Column("frozen", sa.DateTime(), nullable=True),
        sa.Column("house", sa.String(), nullable=False, server_default="[]"),
        sa.Column("created", sa.DateTime(), nullable=True),
    ):
        op.add_column("ladders", column)


def _matches() -> None:
    with op.batch_alter_table("matches", recreate="always") as matches:
        for column in (
            sa.Column("is_rated", sa.Boolean(), nullable=False, server_default="1"),
            sa.Column("requested_by", sa.String(), nullable=False, server_default=""),
            sa.Column("reason", sa.String(), nullable=False, server_default=""),
            sa.Column("is_faulted", sa.Boolean(), nullable=False, server_default="0"),
        ):
            matches.add_column(column, insert_before="record")
    op.execute("UPDATE matches SET is_faulted = 1 WHERE number IN (SELECT match_number FROM seats WHERE faults > 0)")
    op.create_index(op.f("ix_matches_ladder_id_finished"), "matches", ["ladder_id", "finished"])
    op.create_index("ix_matches_faulted", "matches", ["ladder_id", "number"], sqlite_where=sa.text("is_faulted = 1"))
    op.create_table(
        "open_matches",
        sa.Column("match_id", sa.String(), nullable=False),
        sa.Column("board_id", sa.String(), nullable=False),
        sa.Column("rules", sa.String(), nullable=False),
        sa.Column("started", sa.DateTime(), nullable=False),
        sa.Column("versions", sa.String(), nullable=False),
        sa.Column("requested_by", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_open_matches_board_id")),
        sa.PrimaryKeyConstraint("match_id", name=op.f("pk_open_matches")),
        sa.UniqueConstraint("board_id", name=op.f("uq_open_matches_board_id")),
    )


def _seats() -> None:
    op.create_table(
        "new_seats",
        sa.Column("match_number", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("ladder_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=True),
        sa.Column("score", sa.Integer(), nullable=True),
        sa.Column("end_cause", sa.String(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("thinking_ms", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["match_number"], ["matches.number"], name=op.f("fk_seats_match_number")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_seats_version_id")),
        sa.PrimaryKeyConstraint("match_number", "seat", name=op.f("pk_seats")),
    )
    op.execute(
        "INSERT INTO new_seats SELECT match_number, seat, ladder_id, version_id, place, score, end_cause, faults, "
        "thinking_ms FROM seats JOIN matches ON number = match_number ORDER BY match_number, seat"
    )
    op.drop_table("seats")
    op.rename_table("new_seats", "seats")
    op.create_index(op.f("ix_seats_version_id_match_number"), "seats", ["version_id", "match_number"])
    op.create_index(
        op.f("ix_seats_version_id_ladder_id_match_number"), "seats", ["version_id", "ladder_id", "match_number"]
    )
    op.create_index("ix_seats_faulted", "seats", ["version_id", "match_number"], sqlite_where=sa.text("faults > 0"))


def _ratings() -> None:
    op.add_column("ratings", sa.Column("form", sa.LargeBinary(), nullable=False, server_default=sa.text("x''")))
    connection = op.get_bind()
    last = sa.text(
        "SELECT place FROM seats JOIN matches ON number = match_number JOIN boards ON boards.id = board_id "
        "WHERE version_id = :version AND seats.ladder_id = :ladder AND sequence IS NOT NULL "
        f"ORDER BY match_number DESC LIMIT {FORM}"
    )
    keep = sa.text("UPDATE ratings SET form = :form WHERE ladder_id = :ladder AND version_id = :version")
    for ladder, version in connection.execute(sa.text("SELECT ladder_id, version_id FROM ratings")).all():
        whose = {"ladder": ladder, "version": version}
        connection.execute(keep, {**whose, "form": bytes(connection.scalars(last, whose))})
    op.create_index(
        op.f("ix_rating_changes_ladder_id_version_id_sequence"),
        "rating_changes",
        ["ladder_id", "version_id", "sequence"],
    )


def _opponents() -> None:
    op.create_table(
        "opponents",
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("ladder_id", sa.Integer(), nullable=False),
        sa.Column("other_id", sa.Integer(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("ahead", sa.Integer(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_opponents_ladder_id")),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_opponents_bot_id")),
        sa.ForeignKeyConstraint(["other_id"], ["bots.id"], name=op.f("fk_opponents_other_id")),
        sa.PrimaryKeyConstraint("bot_id", "ladder_id", "other_id", name=op.f("pk_opponents")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_opponents_other_id_ladder_id"), "opponents", ["other_id", "ladder_id"])
    op.execute(
        "INSERT INTO opponents SELECT mine.bot_id, one.ladder_id, theirs.bot_id, count(*), "
        "sum(one.place < other.place), sum(one.place = other.place) "
        "FROM seats AS one JOIN seats AS other ON other.match_number = one.match_number "
        "JOIN versions AS mine ON mine.id = one.version_id "
        "JOIN versions AS theirs ON theirs.id = other.version_id AND mine.bot_id < theirs.bot_id "
        "JOIN matches ON number = one.match_number JOIN boards ON boards.id = board_id "
        "WHERE sequence IS NOT NULL GROUP BY mine.bot_id, one.ladder_id, theirs.bot_id"
    )


def _logs() -> None:
    op.create_table(
        "courses",
        sa.Column("match_number", sa.Integer(), nullable=False),
        sa.Column("courses", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["match_number"], ["matches.number"], name=op.f("fk_courses_match_number")),
        sa.PrimaryKeyConstraint("match_number", name=op.f("pk_courses")),
    )
    op.create_table(
        "notes",
        sa.Column("match_number", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("dropped_bytes", sa.Integer(), nullable=False),
        sa.Column("notes", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["match_number", "seat"], ["seats.match_number", "seats.seat"], name=op.f("fk_notes_match_number_seat")
        ),
        sa.PrimaryKeyConstraint("match_number", "seat", name=op.f("pk_notes")),
    )


def _pauses() -> None:
    op.create_table(
        "pauses",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("match_number", sa.Integer(), nullable=False),
        sa.Column("since", sa.DateTime(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("lifted", sa.DateTime(), nullable=True),
        sa.Column("lifted_number", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_pauses_version_id")),
        sa.ForeignKeyConstraint(["match_number"], ["matches.number"], name=op.f("fk_pauses_match_number")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pauses")),
    )
    op.create_index(op.f("ix_pauses_version_id"), "pauses", ["version_id"])
    op.create_index(op.f("ix_pauses_match_number"), "pauses", ["match_number"])
    op.create_index(
        "ix_pauses_one_at_a_time", "pauses", ["version_id"], unique=True, sqlite_where=sa.text("lifted IS NULL")
    )
