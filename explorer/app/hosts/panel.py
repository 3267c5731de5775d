"""The app as a page of Panel's server, which runs this file for each visitor: `panel serve` and its path."""

import os

import panel as pn

from explorer.app.hosts.component import ExplorerComponent
from explorer.app.hosts.page import TITLE
from explorer.app.hosts.panel_door import came_through_the_door
from explorer.serving.server_address import PASSWORD_VARIABLE

OUTSIDE = "This server is guarded from now on: open the URL, with its token, that it printed."

if __name__.startswith("bokeh_app"):
    alone = not os.environ.get(PASSWORD_VARIABLE)
    place = {name: values[-1].decode(errors="replace") for name, values in pn.state.session_args.items() if values}
    if came_through_the_door():
        ExplorerComponent(None, alone, alone, "calc(100vh - 20px)", place, margin=5).servable(title=TITLE)
    else:
        pn.pane.Str(OUTSIDE).servable(title=TITLE)
