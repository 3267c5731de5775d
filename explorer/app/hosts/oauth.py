"""Sign in by OAuth: Panel's login, which knows the providers, in front of our own handlers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tornado.web import RequestHandler

from explorer.errors import AccessRefused
from explorer.extras import needs_extra

VARIABLES = ("PANEL_OAUTH_PROVIDER", "PANEL_OAUTH_KEY", "PANEL_OAUTH_SECRET", "PANEL_COOKIE_SECRET")
"""What must be set (docs/serving.md). Panel reads these and the others itself."""
ENCRYPTION_VARIABLE = "PANEL_OAUTH_ENCRYPTION"


class OAuthSignIn:
    """Asks a provider who somebody is, and knows them by a signed cookie afterwards.

    Raises:
        AccessRefused: A variable is not set.
    """

    def __init__(self) -> None:
        if missing := [name for name in VARIABLES if not os.environ.get(name)]:
            raise AccessRefused(f"{VARIABLES[0]} is set, and so must be {', '.join(missing)}")
        with needs_extra():
            import panel as pn
            from panel.auth import OAuthProvider

        if key := os.environ.get(ENCRYPTION_VARIABLE):
            with needs_extra():
                from cryptography.fernet import Fernet

            pn.state.param.update(encryption=Fernet(key))
        self._provider = OAuthProvider()
        self.settings: Mapping[str, Any] = {"cookie_secret": os.environ["PANEL_COOKIE_SECRET"]}
        """Settings of the Tornado application that the pages belong to."""

    @property
    def routes(self) -> list[tuple[str, type[RequestHandler]]]:
        """The pages on which people sign in and out."""
        return list(self._provider.endpoints)

    async def user(self, handler: RequestHandler) -> str:
        """Return who asks; empty for somebody who has not signed in."""
        return str(await self._provider.get_user_async(handler) or "")


def oauth_from_environment() -> OAuthSignIn | None:
    """Return the sign-in that the environment names; None without one. Raises AccessRefused."""
    return OAuthSignIn() if os.environ.get(VARIABLES[0]) else None
