"""The pages by which a host plans, starts, follows and stops tournaments and seasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response

from cutpurse.page.account.calls import find_ladder
from cutpurse.page.account.host import back, check_admin, keep_form
from cutpurse.page.account.host_forms import EVENT_FIELDS, event_request
from cutpurse.page.account.signed_in import FormPage, Signed, act, look
from cutpurse.page.pages.event import event_facts
from cutpurse.v1 import event_pb2

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.api_route("/host/events", methods=["GET", "HEAD"])
@router.api_route("/host/events/plan", methods=["GET", "HEAD"])
@router.api_route("/host/events/{event}/stop", methods=["GET", "HEAD"])
async def back_from_form(request: Request) -> Response:
    """Lead a browser that loads the address of a form to the host's page."""
    return await back(request)


@router.api_route("/host/events/{event}", methods=["GET", "HEAD"])
async def event(request: Request, event: str) -> Response:
    """Show an event, also one of private ladders or with hidden results, to be stopped."""

    def load(signed: Signed) -> Mapping[str, Any]:
        check_admin(signed)
        league = signed.account.league
        shown = league.GetEvent(event_pb2.GetEventRequest(event=event)).event
        names = [division.ladder for division in shown.season.divisions] or [shown.ladder]
        ladders = [find_ladder(league, name) for name in names]
        is_public = not any(ladder.defined.terms.private or ladder.has_hidden_results for ladder in ladders)
        return {**event_facts(shown), "is_public": is_public, "is_of_host": True}

    return await look(request, "event.html", load)


@router.post("/host/events/plan")
async def plan(request: Request) -> Response:
    """Show the plan of an event, which is not started yet."""

    def do(signed: Signed, fields: Mapping[str, str]) -> FormPage:
        league = signed.account.league
        shown = league.PlanEvent(event_pb2.PlanEventRequest(event=event_request(fields, league))).event
        plan_fields = {name: fields[name] for name in EVENT_FIELDS if name in fields}
        facts = {**event_facts(shown), "is_public": False, "is_of_host": True, "fields": plan_fields}
        return FormPage("event.html", facts)

    return await act(request, keep_form(do))


@router.post("/host/events")
async def start(request: Request) -> Response:
    """Start an event as its plan was shown."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        league = signed.account.league
        described = event_request(fields, league)
        start = event_pb2.StartEventRequest(event=described, plan=fields.get("plan", ""), force="force" in fields)
        return _address(league.StartEvent(start).event.event)

    return await act(request, keep_form(do))


@router.post("/host/events/{event}/stop")
async def stop(request: Request, event: str) -> Response:
    """End an event."""

    def do(signed: Signed, fields: Mapping[str, str]) -> str:
        check_admin(signed)
        signed.account.league.StopEvent(event_pb2.StopEventRequest(event=event))
        return _address(event)

    return await act(request, do)


def _address(event: str) -> str:
    return f"/host/events/{quote(event, safe='')}"
