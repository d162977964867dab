"""The stages of a result on its way to the store, by the store's answers, as a table."""

from __future__ import annotations

from enum import Enum
from typing import Final

from cutpurse.server.state_table import StateTable

__all__ = ["RESULT_STAGES", "RETRIED", "ResultStage", "StoreAnswer"]


class ResultStage(Enum):
    """What is known of a result."""

    SUBMITTED = "submitted"  # nothing yet
    UNSURE = "unsure"  # the store may have it: it is submitted again, and its match is not reported before
    VOIDED = "voided"  # it is not stored: its match was reported as void, and is submitted as void
    STORED = "stored"  # it is stored, and its match was reported
    GIVEN_UP = "given_up"  # its match was reported as void, which the store refuses, too


class StoreAnswer(Enum):
    """What the store can answer to a result."""

    STORE = "store"  # it has the result
    REFUSE = "refuse"  # the result is invalid, so it is never stored
    FAIL = "fail"  # it has not stored the result, and may do so later
    DOUBT = "doubt"  # it failed, and may have stored the result


RESULT_STAGES: Final[StateTable[ResultStage, StoreAnswer]] = {
    ResultStage.SUBMITTED: {
        StoreAnswer.STORE: ResultStage.STORED,
        StoreAnswer.REFUSE: ResultStage.VOIDED,
        StoreAnswer.FAIL: ResultStage.VOIDED,
        StoreAnswer.DOUBT: ResultStage.UNSURE,
    },
    ResultStage.UNSURE: {
        StoreAnswer.STORE: ResultStage.STORED,
        StoreAnswer.REFUSE: ResultStage.VOIDED,
        StoreAnswer.FAIL: ResultStage.UNSURE,
        StoreAnswer.DOUBT: ResultStage.UNSURE,
    },
    ResultStage.VOIDED: {
        StoreAnswer.STORE: ResultStage.STORED,
        StoreAnswer.REFUSE: ResultStage.GIVEN_UP,
        StoreAnswer.FAIL: ResultStage.VOIDED,
        StoreAnswer.DOUBT: ResultStage.VOIDED,
    },
    ResultStage.STORED: {},
    ResultStage.GIVEN_UP: {},
}
RETRIED: Final = frozenset({ResultStage.UNSURE, ResultStage.VOIDED})
