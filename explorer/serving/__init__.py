"""What keeps a server from its visitors, whoever draws its pages: limits, log-in, checks of messages. Nothing here
imports Panel or Bokeh."""
