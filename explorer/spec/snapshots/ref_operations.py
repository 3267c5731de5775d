"""The operations on branches, tags and the current snapshot."""

OPERATIONS = {
    "tag": "create a tag at a snapshot",
    "branch": "create a branch at a snapshot",
    "drop": "drop a branch or tag",
    "fast-forward": "move a branch on to what descends from it",
    "rollback": "rollback_to_snapshot: back to an ancestor",
    "rollback-to-time": "rollback_to_timestamp: back to the newest ancestor before a time",
    "set-current": "set_current_snapshot: to any snapshot",
    "cherry-pick": "cherrypick_snapshot: commit a staged or abandoned snapshot's changes",
    "publish": "publish_changes: commit the staged write (WAP) of an id",
}
"""Each operation, and what it does."""
