"""The site: the page as plain files, whose games are played and whose match files are checked in the reader's tab.

`build` renders pages by the page's own templates: home, rules, guided matches, documents, an empty table and a
workshop; `league_pages` takes those of a league from the page's own application. What has to be computed is computed by
the same Python in a web worker (Pyodide): `tab` answers the messages of `scripts/`.

Messages to the worker, by `kind`: `load` (addresses), `begin` (game, opponents), `look` (the table as it is now),
`answer` (decision, option), `end` (the story of the match, once it is over), `open` (the bytes of a match file), and
of the workshop `run`, `compare` and `pack` (game, the text of a bot).
Messages from it: `loading` (bytes), `news` (`status`, `whole`, `step` and `over`, as the page of a server streams
them), `answered`, `story`, `record`, `opened`, and `failed` with one line; of the workshop `speed`, `asks` (whose code
runs), `counted`, `results`, `verdict`, `fault`, `packed` and `done`.
"""
