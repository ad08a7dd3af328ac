"""The pages for logging in with OpenID Connect: redirect to the issuer, and callback."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sayso.console.entry.idtoken import EntryError
from sayso.console.entry.login_pages import set_session_cookie
from sayso.console.entry.oidc import FLOW_SECONDS, Provider, callback_parameters
from sayso.console.home import HOME, is_own
from sayso.console.pages import Pages

PATH = "/login/oidc"


def oidc_routes(pages: Pages) -> list[Route]:
    """Return the routes of the redirect and the callback; empty without an issuer."""
    if pages.provider is None:
        return []
    views = _Views(pages, pages.provider)
    return [Route(PATH, views.begin), Route(f"{PATH}/callback", views.back)]


class _Views:
    def __init__(self, pages: Pages, provider: Provider) -> None:
        self._pages = pages
        self._provider = provider
        self._cookie = f"{pages.cookie}_oidc"

    async def begin(self, request: Request) -> Response:
        to = request.query_params.get("to", "")
        try:
            begun = await self._provider.begin(to if is_own(to) else f"{HOME}/")
        except EntryError as error:
            return self._pages.problem(error.status, error.what, error.fix)
        response = RedirectResponse(begun.url, 303)
        # Lax: the browser must send this cookie after the issuer's redirect. It grants no access.
        response.set_cookie(
            self._cookie,
            begun.cookie,
            max_age=FLOW_SECONDS,
            path=f"{HOME}{PATH}",
            httponly=True,
            samesite="lax",
            secure=self._pages.is_secure,
        )
        return response

    async def back(self, request: Request) -> Response:
        """Open a session for a person who comes back from the issuer.

        The response is a page that redirects. After an HTTP redirect from another site, the browser
        would not send the `SameSite=Strict` cookie.
        """
        try:
            parameters = callback_parameters(request.query_params.multi_items())
            entered = await self._provider.finish(parameters, request.cookies.get(self._cookie, ""))
        except EntryError as error:
            return self._pages.problem(error.status, error.what, error.fix)
        person = entered.person
        seconds = self._provider.settings.seconds
        response = self._pages.render("entry/entered.html", person=person, onward=entered.onward)
        session_id = self._pages.login.open_for(
            person.name, person.role, person.roles, seconds=seconds
        )
        set_session_cookie(response, self._pages, session_id, round(seconds))
        response.delete_cookie(self._cookie, path=f"{HOME}{PATH}", httponly=True, samesite="lax")
        return response
